#pragma once

#include <string>
#include <vector>

#include "sim/output/json_text.hpp"

/// What the live page asks about a scenario. Each question is answered in a process of its own (simulator_process.hpp).
///
/// A question is {what, file, name, variant, set: {key: text}}; `what` is one of
///
///     subject   the variants, the one to begin with, and the knobs
///     run       one variant with changes: result, explanation, timeline, links, messages, as in a report's page
///     point     the same, only its result's main numbers
///     check     whether it can be simulated, and the estimate
///
/// An answer begins with the status of HTTP, which its JSON follows: 200; 422 if the scenario is not valid that way,
/// does not fit into the devices' memory, or is too large to wait for; 503 if the simulation fails. `set` changes keys
/// that are knobs, to one of their values or, if these are numbers, to any number with its unit. So no name of a file
/// can be a value unless the scenario lists it, and none in a question is opened but `file`, which comes from the
/// command line or is a lesson's.
namespace syncline::serve {

struct Question {
    std::string what;
    std::string file;     ///< of the scenario
    std::string name;     ///< by which commands name it
    std::string variant;  ///< empty: the first
    std::vector<std::pair<std::string, std::string>> set;
};

/// The body of every refusal: {error: {code, message, hint}}.
Json error_body(const std::string& code, const std::string& message, const std::string& hint);

std::string text_of(const Question& question);

/// Answers such a text.
std::string answer(const std::string& question);

/// What a simulation for a page may take; larger ones are for the command line. With more messages none is recorded.
inline constexpr double most_messages = 2e6, most_seconds = 10, most_memory_bytes = 1e9;

}  // namespace syncline::serve
