#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/program.hpp"

/// The statements of a lesson's handout, in the form that scenarios/lessons/README.md describes.
namespace syncline::test {

struct Handout {
    fs::path file;
    std::string number;  ///< "7"
    std::string name;    ///< "stragglers"
    std::string title;
    std::string text;

    /// The name of its scenario, relative to the repository.
    std::string scenario() const;
    /// Returns the text under a heading, without the heading.
    std::string section(const std::string& heading) const;
};

/// Returns all shipped handouts, by number.
std::vector<Handout> handouts();

/// A number in a table: the value of this field in this variant's (or topology's) result.
struct Statement {
    std::string name;
    std::string field;
    std::optional<std::uint64_t> bytes;
    double value;
    double tolerance;
};

/// Returns the numbers of all tables in `text`. A column without a meaning fails the test.
std::vector<Statement> statements(const std::string& text);

/// A measurement in the table of a section "At a real machine": a row of `syncline validate`.
struct Measurement {
    std::string row;
    double measured;
    double error_below;  ///< of the prediction, as a fraction
};

/// Returns the rows of the table in `text`, whose columns are `row`, `measured` and `error below`.
std::vector<Measurement> measurements(const std::string& text);

/// Returns the value in `result`, the JSON of a run, an explanation or a topology, to which `statement` refers. The
/// time of a kind on the critical path, and the iteration time with a change of the what-if, are those of explanations.
double found(const nlohmann::json& result, const Statement& statement);

/// Returns the numbered items of a section.
std::vector<std::string> items(const std::string& section);

/// Returns the arguments of the one command in `item`, without the program.
std::vector<std::string> command(const std::string& item);

/// Runs the program in the repository, where it finds the lessons.
inline Outcome run_here(std::vector<std::string> arguments) {
    return run_program({.arguments = std::move(arguments), .directory = SYNCLINE_SOURCE_DIR, .limit_s = 120});
}

}  // namespace syncline::test
