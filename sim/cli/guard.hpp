#pragma once

#include <functional>
#include <stdexcept>

/// How the program ends.
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

/// The program did what it was asked, and the answer is no; what() says why.
class Failed : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Ctrl-C came, and what was to be brought to safety is; what() says how far it came.
class Interrupted : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// What `work` returns or, if it throws, the exit code of what it throws, which is then said on standard error.
int guarded(const std::function<int()>& work);

}  // namespace syncline::cli
