#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "sim/replay/isolated.hpp"

/// Processes that work side by side, one piece of work each: SimGrid allows one engine in a process, and what crashes,
/// hangs or eats the memory is to take nothing else with it.
///
/// The kernel, when it runs out of memory, ends such a process before ours. A terminal's Ctrl-C reaches us alone.
namespace syncline::batch {

struct Ended {
    std::string id;
    bool done = false;
    std::string text;  ///< what the work returned; or why there is nothing
    double wall_s = 0;
};

class Pool {
public:
    /// `timeout_s`: a piece of work that takes longer is killed; nothing: none.
    Pool(std::size_t jobs, std::optional<double> timeout_s) : jobs_(jobs), timeout_s_(timeout_s) {}

    // What still works when the pool goes is killed.

    bool full() const { return working_.size() >= jobs_; }
    bool idle() const { return working_.empty(); }
    std::size_t size() const { return working_.size(); }
    /// Throws ReplayError if there can be no more processes.
    void start(const std::string& id, const std::function<std::string()>& work);
    /// What has ended, waiting for one at most `wait_s` long, less when there is something to read from `waker`.
    std::vector<Ended> ended(double wait_s, int waker = -1);

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

    /// Until the next timeout, or `wait_s` if that is sooner.
    double patience_s(double wait_s) const;
    /// Nothing if it goes on.
    std::optional<Ended> look_at(Working& one) const;

    std::size_t jobs_;
    std::optional<double> timeout_s_;
    std::list<Working> working_;
};

/// The cores that this process may use, or as many as Slurm gave its task.
std::size_t default_jobs();

}  // namespace syncline::batch
