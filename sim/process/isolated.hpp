#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "sim/base/descriptor.hpp"

/// Runs work in a separate process, which dies with its parent: SimGrid allows one engine per process, and ends the
/// process on errors.
namespace syncline {

class Isolated {
public:
    enum class Role {
        part,   ///< part of the program's current work: writes to our standard error, gets the terminal's Ctrl-C
        worker  ///< one of many: in its own process group, ignores SIGINT and SIGTERM, silent, killed first when
                ///< memory runs out
    };

    /// Starts the process. Throws ReplayError if no process can be created.
    Isolated(const std::function<std::string()>& work, Role role);
    /// Kills the process if it is still running.
    ~Isolated();
    Isolated(const Isolated&) = delete;
    Isolated& operator=(const Isolated&) = delete;

    pid_t process() const { return process_; }
    /// Returns a descriptor that is readable when there is something to take().
    int descriptor() const { return in_.get(); }
    /// Takes the output that has arrived so far, without waiting; false once it is complete.
    bool take();
    /// Kills the process and all that it has started; does nothing once it has ended and its outcome() is known.
    void kill() const;
    /// Returns the result of the work, once it has ended. Throws ReplayError if the work failed or its process died,
    /// with the last output of a worker on standard error in the latter case; std::logic_error if the work threw one.
    std::string outcome();

private:
    /// Waits for the process and returns its status, as from waitpid().
    int reap();
    std::string last_words() const;

    Role role_;
    pid_t process_ = 0;  ///< 0: reaped
    Descriptor in_;
    Descriptor said_;  ///< a file in memory: a worker's standard error
    std::string answer_;
};

/// Runs `work` in a separate process, waits for it, and returns its result. Throws like Isolated::outcome(). Pass
/// `last` = false if more work may follow: the work then gets a separate process even after isolated_already().
std::string isolate(const std::function<std::string()>& work, bool last = true);

/// Declares that this process exists for the next isolated work alone: the work then runs in this process, and its
/// exceptions are passed on.
void isolated_already();

}  // namespace syncline
