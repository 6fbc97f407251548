#pragma once

#include <CLI/CLI.hpp>

#include <cstddef>
#include <optional>
#include <string>

/// Descriptions of options, as help and completions show them.
namespace syncline::cli {

/// The key that the description of an option refers to: see describe_keys().
struct Key {
    std::string kind, path;  ///< "scenario", "training.ranks"
    std::size_t begin, end;  ///< where the reference stands in the description
};

std::optional<Key> key_of(const CLI::Option& option);

/// Returns the description, with that of the key in place of the reference.
std::string description_of(const CLI::Option& option);

}  // namespace syncline::cli
