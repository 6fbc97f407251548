#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/config/file_kinds.hpp"

/// The key `knobs` of a scenario: what the live page of `syncline serve` lets its reader turn. Its mapping is that of a
/// study's `axes`: keys of the scenario, nested or as paths, or `variant`, each with a list of values, powers
/// `2^1..2^5`, a range, or one value. A knob is turned alone, or with others: the page sets its key to one of the
/// values. Other commands read the key and ignore it.
namespace syncline::config {

class Assembly;
struct ScenarioFile;

struct Knob {
    std::string key;                  ///< a path, or `variant`
    Location at;                      ///< where the key is written
    std::vector<std::string> values;  ///< texts that `--set KEY=TEXT` reads, or names of variants; all different
};

/// More knobs, and more values of one, are no choice for a reader.
inline constexpr std::size_t most_knobs = 32, most_knob_values = 64;

/// Reads the knobs of a scenario, in the order written, without their effect on its variants: see check_knobs().
/// Reports errors to `assembly`.
std::vector<Knob> read_knobs(Assembly& assembly, const ScenarioFile& file);

/// Reads the variants of the scenario in file `path` with each value of each knob. Throws ConfigError, with the places
/// of the keys and values, unless each value fits a variant: values may suit some variants only.
void check_knobs(const std::string& path, const Inspect& inspect);

}  // namespace syncline::config
