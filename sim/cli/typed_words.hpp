#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

/// Words on the command line that name something, with a suggestion for a misspelt one.
namespace syncline::cli {

/// Accepts only these words.
CLI::Validator one_of(std::vector<std::string> words);

/// Returns what to print about the arguments that `program` did not expect.
std::string unexpected(const CLI::App& program);

}  // namespace syncline::cli
