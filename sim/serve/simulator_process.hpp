#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "sim/base/descriptor.hpp"

/// Simulations for a server with threads. A process that has threads must not fork and go on, because locks may be held
/// in the copy; so a process of its own, started before the first thread, runs each piece of work in a Pool, and
/// answers over a socket. It ends, and kills what it runs, when our end of the socket closes, or when we die.
namespace syncline::serve {

struct SimulationLimits {
    std::size_t jobs = 1;    ///< processes at the same time
    std::size_t queue = 64;  ///< pieces of work that wait
    double timeout_s = 30;   ///< work that takes longer is killed
    double wait_s = 30;      ///< work that has not begun after that time is given up, as if too much waited
};

struct Finished {
    enum class State { done, failed, cancelled, full, stopped };
    State state = State::failed;
    std::string text;  ///< the result of the work, or why there is none
};

class SimulatorProcess {
public:
    /// `work` returns an answer to a question; it runs in a process of its own. Throws ReplayError if there can be no
    /// process. Must be called before the program has threads.
    SimulatorProcess(const std::function<std::string(const std::string&)>& work, const SimulationLimits& limits);
    /// Ends the process and all that it runs.
    ~SimulatorProcess();
    SimulatorProcess(const SimulatorProcess&) = delete;
    SimulatorProcess& operator=(const SimulatorProcess&) = delete;

    /// Returns the answer to a question, once it is there. `name`, if not empty, is what cancel() takes. Threads may
    /// call it at the same time.
    Finished run(const std::string& name, const std::string& question);
    /// Cancels all work of this name that waits or runs; false if there is none.
    bool cancel(const std::string& name);
    /// Ends the process and all work: every run() returns `stopped`, as do later ones.
    void stop();

private:
    struct Waiting {
        std::string name;
        Finished outcome;
        bool finished = false;
    };

    void listen();
    void refuse();
    void finish(std::uint64_t number, Finished outcome);
    /// Writes to the process, without holding the lock that listen() needs to empty the other direction.
    bool tell(char kind, std::uint64_t number, const std::string& text);

    const SimulationLimits limits_;
    pid_t process_ = 0;
    Descriptor socket_;
    std::mutex telling_;  ///< one text at a time
    std::mutex mutex_;    ///< of what follows
    std::condition_variable news_;
    std::map<std::uint64_t, Waiting> waiting_;
    std::uint64_t next_ = 0;
    bool stopped_ = false;
    std::thread listener_;
};

}  // namespace syncline::serve
