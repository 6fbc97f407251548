#pragma once

#include <sys/types.h>

/// Ctrl-C (SIGINT) and SIGTERM end the program at once and cleanly: "interrupted" on standard error, exit code 130, no
/// process left running, no half-written file left lying.
namespace syncline {

/// From now on, until release_interrupts().
void catch_interrupts();

/// Gives the signals their default meaning back: for a child process.
void release_interrupts();

/// The child that is ended with the program; 0 for none.
void end_when_interrupted(pid_t child);

/// The file that is removed when the program ends early; nullptr for none. The text must outlive the file's making.
void remove_when_interrupted(const char* path);

}  // namespace syncline
