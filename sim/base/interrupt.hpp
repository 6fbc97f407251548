#pragma once

#include <signal.h>
#include <sys/types.h>

/// Ctrl-C (SIGINT) and SIGTERM end the program at once and cleanly: "interrupted" on standard error, exit code 130, no
/// process left running, no half-written file left behind. Code that must save something first holds the signals.
namespace syncline {

/// Installs the handlers, which stay until release_interrupts().
void catch_interrupts();

/// Restores the default action of the signals that are not ignored; meant for a child process.
void release_interrupts();

/// Ignores the signals; meant for a child process that its parent ends, so that the parent alone reacts to signals.
void ignore_interrupts();

/// Blocks the signals during its lifetime. Used around fork(): a child that is interrupted before it has set its own
/// handlers would act as its parent.
class DelayedInterrupts {
public:
    DelayedInterrupts();
    ~DelayedInterrupts();
    DelayedInterrupts(const DelayedInterrupts&) = delete;
    DelayedInterrupts& operator=(const DelayedInterrupts&) = delete;

private:
    sigset_t before_;
};

/// Sets the child process that is killed when the program is interrupted; 0: none.
void end_when_interrupted(pid_t child);

/// Sets the file that is removed when the program is interrupted; nullptr: none. The text must outlive the file's
/// creation.
void remove_when_interrupted(const char* path);

/// During its lifetime the first signal is only recorded; the second ends the program as usual. Only one may exist at a
/// time.
class HeldInterrupts {
public:
    HeldInterrupts();
    ~HeldInterrupts();
    HeldInterrupts(const HeldInterrupts&) = delete;
    HeldInterrupts& operator=(const HeldInterrupts&) = delete;

    bool interrupted() const;
    /// Becomes readable after a signal, so that it can be polled together with other descriptors.
    int descriptor() const { return descriptor_; }

private:
    int descriptor_;
};

}  // namespace syncline
