#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

/// Words on the command line that name something, with a suggestion for a misspelt one.
namespace syncline::cli {

/// Accepts only these words.
CLI::Validator one_of(std::vector<std::string> words);

/// Returns a check that a text is a whole number from `least` to `most`.
std::function<std::string(const std::string&)> whole_number(std::uint64_t least,
                                                            std::optional<std::uint64_t> most = {});

/// Returns the error of a text that must not be empty; nothing if it is not.
std::string not_empty(const std::string& text);

/// Returns what to print about the arguments that `program` did not expect.
std::string unexpected(const CLI::App& program);

}  // namespace syncline::cli
