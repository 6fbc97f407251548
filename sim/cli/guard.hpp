#pragma once

#include <functional>
#include <stdexcept>

/// Exit codes, and the exceptions that lead to them.
namespace syncline::cli {

enum ExitCode {
    ok = 0,
    failed = 1,
    usage = 2,
    invalid_configuration = 3,
    input_output = 4,
    bug = 70,
    interrupted = 130
};

/// The command completed, but its result is negative (exit code 1); what() says why.
class Failed : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Options do not go together, or name something unknown (exit code 2); what() says why, with a hint.
class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The command was interrupted by Ctrl-C after saving its results so far; what() says how far it got.
class Interrupted : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Returns the result of `work`. If it throws, reports the exception on standard error and returns its exit code.
int guarded(const std::function<int()>& work);

}  // namespace syncline::cli
