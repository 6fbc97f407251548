#pragma once

#include <exception>

/// Ctrl-C (SIGINT) and SIGTERM end the program cleanly: whatever waits notices, unwinds, and nothing stays
/// half-written.
namespace syncline {

/// Thrown where the program notices that it should stop.
class Interrupted : public std::exception {
public:
    const char* what() const noexcept override { return "interrupted"; }
};

/// From now on the signals only set a flag; system calls that wait return EINTR.
void catch_interrupts();

/// Gives the signals their default meaning back, for a child process.
void release_interrupts();

bool interrupted();

}  // namespace syncline
