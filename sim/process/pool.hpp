#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "sim/process/isolated.hpp"

/// A pool of concurrent processes with one piece of work each, which may crash, hang or exhaust the memory. When memory
/// runs out, the kernel ends such a process before ours. A terminal's Ctrl-C reaches only our process.
namespace syncline {

struct Ended {
    std::string id;
    bool done = false;
    std::string text;  ///< the result of the work, or the reason why there is none
    double wall_s = 0;
};

class Pool {
public:
    /// `timeout_s`: work that takes longer is killed; empty: no limit.
    Pool(std::size_t jobs, std::optional<double> timeout_s) : jobs_(jobs), timeout_s_(timeout_s) {}

    // The destructor kills all active work.

    bool full() const { return working_.size() >= jobs_; }
    bool idle() const { return working_.empty(); }
    std::size_t size() const { return working_.size(); }
    /// Starts a process. Throws ReplayError if that is not possible.
    void start(const std::string& id, const std::function<std::string()>& work);
    /// Returns the work that has ended. Waits for some for up to `wait_s`, or until there is something to read from
    /// `waker`.
    std::vector<Ended> ended(double wait_s, int waker = -1);
    /// Kills work, which then never ends; false if none of this id is active.
    bool cancel(const std::string& id);

private:
    using Clock = std::chrono::steady_clock;
    struct Working {
        Working(std::string name, const std::function<std::string()>& work)
            : id(std::move(name)), process(work, Isolated::Role::worker) {}
        double seconds() const { return std::chrono::duration<double>(Clock::now() - start).count(); }

        std::string id;
        Clock::time_point start = Clock::now();
        Isolated process;
    };

    /// Returns the time until the next timeout, or `wait_s` if that is shorter.
    double patience_s(double wait_s) const;
    /// Returns the result of a process, or nothing if it is still working.
    std::optional<Ended> look_at(Working& one) const;

    std::size_t jobs_;
    std::optional<double> timeout_s_;
    std::list<Working> working_;
};

/// Returns the number of cores that this process may use, or that Slurm assigned to its task.
std::size_t default_jobs();

}  // namespace syncline
