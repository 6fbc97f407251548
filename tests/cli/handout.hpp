#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/cli/program.hpp"

/// What a lesson's handout states, in the form that scenarios/lessons/README.md describes.
namespace syncline::test {

struct Handout {
    fs::path file;
    std::string number;  ///< "7"
    std::string name;    ///< "stragglers"
    std::string title;
    std::string text;

    /// The name of its scenario, relative to the repository.
    std::string scenario() const;
    /// What is under a heading, without the heading.
    std::string section(const std::string& heading) const;
};

/// All that are shipped, by number.
std::vector<Handout> handouts();

/// A number in a table: so much must be found in this field of this variant's (or topology's) result.
struct Statement {
    std::string name;
    std::string field;
    std::optional<std::uint64_t> bytes;
    double value;
    double tolerance;
};

/// Of all tables in `text`. A column that means nothing fails the test.
std::vector<Statement> statements(const std::string& text);

/// What `result`, the JSON of a run or of a topology, has in the place of `statement`.
double found(const nlohmann::json& result, const Statement& statement);

/// The numbered items of a section.
std::vector<std::string> items(const std::string& section);

/// The arguments of the one command in `item`, without the program.
std::vector<std::string> command(const std::string& item);

}  // namespace syncline::test
