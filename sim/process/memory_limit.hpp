#pragma once

/// The memory that the program may use.
namespace syncline {

/// Returns the bytes of the machine's memory, or the limit on this process (RLIMIT_AS, cgroup v2), whichever is less.
double usable_memory_bytes();

}  // namespace syncline
