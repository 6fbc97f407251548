#pragma once

#include <sys/types.h>

#include <sys/resource.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sanitized.hpp"

/// Runs the program as a user does: arguments in, two streams and an exit status out.
namespace syncline::test {

namespace fs = std::filesystem;

/// A temporary directory for a test case, removed at the end.
class TempDir {
public:
    TempDir();
    ~TempDir();
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;

    const fs::path& path() const { return path_; }
    fs::path operator/(const fs::path& name) const { return path_ / name; }
    /// Writes a file, with the directories above it, and returns its path.
    fs::path write(const fs::path& name, std::string_view text) const;
    /// Returns the paths of all files and directories in it, relative to it, sorted.
    std::vector<std::string> list() const;

private:
    fs::path path_;
};

std::string read_file(const fs::path& path);

/// Returns the path of a file of this repository.
std::string shipped(const std::string& path);

/// Whom a signal reaches: the program that was started, the processes that it has started, or all of them, like a
/// terminal's Ctrl-C.
enum class To { program, workers, group };

struct Signal {
    int number;
    double after_s;  ///< counted from the time at which the program catches it
    To to = To::program;
};

enum class Stdout { captured, closed, full };
enum class Stderr { captured, closed, full, terminal };

struct Invocation {
    std::vector<std::string> arguments;
    fs::path program = SYNCLINE_PROGRAM;
    fs::path directory = {};  ///< the program's working directory; by default the test's
    std::optional<Signal> signal = {};
    Stdout out = Stdout::captured;
    Stderr err = Stderr::captured;
    double limit_s = 20;  ///< times `patience`; a program that takes longer hangs, and the test fails
};

struct Outcome {
    int status = 0;  ///< the exit code, or 128 + the signal that ended it
    std::string out;
    std::string err;
    double seconds = 0;
    double after_signal_s = 0;  ///< from the signal to the end
    long peak_kib = 0;          ///< of the largest of its processes
    bool left_behind = false;   ///< true if a process that it started outlived it
};

/// Returns the processes that `parent` has started. LeakSanitizer's helper at the end of a sanitized program is none of
/// them: it shares the program's memory and ends without SIGCHLD, and if it is killed, the program waits for its answer
/// for ever (https://github.com/google/sanitizers/issues/777).
std::vector<pid_t> children_of(pid_t parent);

/// Lowers a limit of this process, and of the programs that it runs, during its lifetime: RLIMIT_AS, RLIMIT_FSIZE.
class Limit {
public:
    Limit(int resource, rlim_t value);
    ~Limit();
    Limit(const Limit&) = delete;
    Limit& operator=(const Limit&) = delete;

private:
    int resource_;
    rlimit before_{};
};

/// Runs the program in a process group of its own, standard input empty.
Outcome run_program(const Invocation& invocation);

/// Runs the program with defaults in `directory`.
Outcome run_in(const TempDir& directory, std::vector<std::string> arguments);

/// Factor for limits of time and memory: sanitizers are slow and keep freed memory.
#if defined(SYNCLINE_SANITIZED)
inline constexpr double patience = 5;
#else
inline constexpr double patience = 1;
#endif

/// A program that still runs this long after a signal has missed it. This is no claim about speed: a busy machine takes
/// several times as long as an idle one, and the programs that tests interrupt run for a minute or more.
inline constexpr double too_late_s = 5 * patience;

}  // namespace syncline::test
