#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

/// Work in a process of its own: SimGrid allows one engine in a process, and ends it where it finds fault.
///
/// The process dies with ours, however ours does. What it made comes back through a pipe.
namespace syncline {

/// Closed at the end; below 0: none.
class Descriptor {
public:
    explicit Descriptor(int number = -1) : number_(number) {}
    ~Descriptor();
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    void set(int number) { number_ = number; }
    int get() const { return number_; }

private:
    int number_;
};

class Isolated {
public:
    enum class Role {
        part,   ///< of what the program does at the moment: speaks on our standard error, gets the terminal's Ctrl-C
        worker  ///< one of many: in a process group of its own, deaf to SIGINT and SIGTERM, silent, and the first to go
                ///< where memory runs out
    };

    /// Starts. Throws ReplayError if there can be no more processes.
    Isolated(const std::function<std::string()>& work, Role role);
    /// Kills what still works.
    ~Isolated();
    Isolated(const Isolated&) = delete;
    Isolated& operator=(const Isolated&) = delete;

    pid_t process() const { return process_; }
    /// Can be read from when there is something to take().
    int descriptor() const { return in_.get(); }
    /// Takes what has come so far, without waiting; false once that is all.
    bool take();
    /// With all that it has started; nothing once it has ended and its outcome() is known.
    void kill() const;
    /// What the work returned, once it has ended. Throws ReplayError if the work failed, or its process died: then
    /// with what a worker last said on standard error; std::logic_error where the work threw one.
    std::string outcome();

private:
    /// Its status, as waitpid() has it.
    int reap();
    std::string last_words() const;

    Role role_;
    pid_t process_ = 0;  ///< 0: reaped
    Descriptor in_;
    Descriptor said_;  ///< a file in memory: a worker's standard error
    std::string answer_;
};

/// What `work` returns, done in a process of its own while we wait. Throws as Isolated::outcome(). `last`: false where
/// other work may have to follow, whatever isolated_already() says.
std::string isolate(const std::function<std::string()>& work, bool last = true);

/// Says that the next work to be isolated is the last one, and that this process is there for it alone: it is then done
/// here, and throws what it throws.
void isolated_already();

}  // namespace syncline
