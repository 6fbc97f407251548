#pragma once

#include <signal.h>
#include <sys/types.h>

/// Ctrl-C (SIGINT) and SIGTERM end the program at once and cleanly: "interrupted" on standard error, exit code 130, no
/// process left running, no half-written file left lying. Who has something to bring to safety first holds them.
namespace syncline {

/// From now on, until release_interrupts().
void catch_interrupts();

/// Gives the signals their default meaning back, unless they are ignored: for a child process.
void release_interrupts();

/// For a child process that its parent ends: what signals mean is the parent's to say.
void ignore_interrupts();

/// While one lives, signals wait: for fork(), after which a child would else act as its parent until it knows better.
class DelayedInterrupts {
public:
    DelayedInterrupts();
    ~DelayedInterrupts();
    DelayedInterrupts(const DelayedInterrupts&) = delete;
    DelayedInterrupts& operator=(const DelayedInterrupts&) = delete;

private:
    sigset_t before_;
};

/// The child that is ended with the program; 0 for none.
void end_when_interrupted(pid_t child);

/// The file that is removed when the program ends early; nullptr for none. The text must outlive the file's making.
void remove_when_interrupted(const char* path);

/// While one lives, the first signal is only noted; the second ends the program as ever. One at a time.
class HeldInterrupts {
public:
    HeldInterrupts();
    ~HeldInterrupts();
    HeldInterrupts(const HeldInterrupts&) = delete;
    HeldInterrupts& operator=(const HeldInterrupts&) = delete;

    bool interrupted() const;
    /// Can be read from once there was a signal: to be polled beside what else one waits for.
    int descriptor() const { return descriptor_; }

private:
    int descriptor_;
};

}  // namespace syncline
