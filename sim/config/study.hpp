#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/config/files.hpp"
#include "sim/config/resolved.hpp"

/// A study: one base scenario and the axes along which it is varied, as one YAML file.
///
///     base: zhang-2021.yaml                       # a scenario's file, or its mapping
///     axes:                                       # the points are the product of all axes, the last one fastest
///       platform.fabric.topology: [star, ring]    # over any key of a scenario: a list,
///       training.ranks: 2^1..2^6                  # powers, or `2..64 step 2` (the end is a value if a step hits it)
///       variant: [ring, parameter-server]         # of the base's variants (default: all of them)
///     zip:                                        # axes that go together, value by value: equally many
///       - {training.batch_per_rank: [32, 64], training.iterations: [4, 2]}
///     exclude: ["algorithm = 'ring' and ranks > 32"]    # conditions, in SQL, on the axes' names
///     include: ["ranks < 64"]                     # if there are some: one of them must hold, too
///     repeat: 5                                   # each point so often, each with a seed of its own
///     seed: 1                                     # of the first repetition; the next has the next one
///     draw:                                       # keys that are drawn from a distribution, once for each repetition
///       platform.fabric.latency: {distribution: uniform, least: 1 us, most: 5 us}
///     question: {objective: throughput, constraints: ["memory_fraction < 1"], budget: 200, top: 5}
///
/// A scenario is a study without axes. A `sweep` in a point's `collective` makes a point of each of its sizes (setting
/// `collective.bytes`), and `grid: auto` one of each choice that fits (setting `training.parallelism.grid`).
namespace syncline::config {

/// One key and the value that a point has of it, as people read it: a file's name without directory and extension
/// (`p100-25g`), everything else as it is written.
struct Setting {
    std::string key;
    std::string value;
};

struct Axis {
    std::vector<std::string> keys;                 ///< several: they go together
    std::vector<std::vector<std::string>> values;  ///< [value][key], as in Setting
};

/// An SQL expression over settings, and where it is written.
struct Condition {
    std::string text;
    Location at;
};

/// What the study asks; what is not said is empty or 0.
struct Question {
    std::string objective;
    std::vector<Condition> constraints;
    std::int64_t budget = 0;  ///< simulations
    std::int64_t top = 0;
    /// Settings with which a simulation costs less, cheapest first: for a search that cannot afford all points.
    std::vector<std::vector<std::string>> cheaper;  ///< each a list of assignments, as `--set` takes
};

/// One simulation to be done: a scenario with one variant, at one size.
struct StudyPoint {
    std::int64_t number = 0;  ///< from 1 in the study's order, what does not fit counted too, what is excluded not
    /// From 1: which combination of the axes' values, sizes and grids; points of one are its repetitions.
    std::int64_t combination = 0;
    std::vector<Setting>
        settings;             ///< in the axes' order: "variant", where the base has any, axes, sizes or grids, draws
    std::int64_t repeat = 1;  ///< from 1
    std::uint64_t seed = 1;
    Resolved resolved;   ///< also of what does not fit, as far as it could be put together
    std::string misfit;  ///< empty; or why this is no scenario: the rendered errors
};

class Study {
public:
    /// Reads a study's or scenario's file. Assignments to a study's own keys (`axes.…`, `zip`, `include`, `exclude`,
    /// `repeat`, `seed`, `draw`, `question.…`, `base`) change the study; others every point, last. One to an axis's key
    /// replaces that axis, one to a key that is drawn the draw. Throws ConfigError with all that is wrong with the file
    /// itself.
    Study(const std::string& path, const std::vector<std::string>& assignments, const Inspect& inspect);
    ~Study();
    Study(Study&&) noexcept;

    const std::string& name() const;  ///< its key `name`; by default the file's, without directory and extension
    const std::vector<Axis>& axes() const;
    const std::vector<Condition>& include() const;
    const std::vector<Condition>& exclude() const;
    std::int64_t repeats() const;
    const Question& question() const;
    /// All keys that settings of points can have, in their order.
    const std::vector<std::string>& keys() const;

    /// Is a point with these settings wanted? The settings may lack sizes and grids if it does not fit.
    using Wanted = std::function<bool(const std::vector<Setting>&)>;
    /// `variant`: the point read; nothing if it does not fit.
    using Visit = std::function<void(const StudyPoint& point, const Variant* variant)>;

    /// Throws ConfigError, with what is wrong with the first point, if no point fits.
    void check() const;

    /// Visits every wanted point in order. `changes`: assignments applied after all others, for a cheaper setting.
    void each(const Wanted& wanted, const Visit& visit, const std::vector<std::string>& changes = {}) const;

    struct Parts;

private:
    std::unique_ptr<Parts> parts_;
};

/// Whether the file looks like a study or a scenario, right or wrong. Throws ConfigError if it is no YAML.
bool is_study_or_scenario(const std::string& path);

}  // namespace syncline::config
