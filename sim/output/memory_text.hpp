#pragma once

#include <string>

#include "sim/lowering/device_memory.hpp"

/// Texts about the memory that a device needs, for result writers and messages.
namespace syncline::text {

/// Returns "12.3 of 16 GB", or "12.3 GB" if the device's memory is unknown.
std::string memory(const Memory& memory);
/// Returns the same as cards are named: "61.3 of 74.5 GiB".
std::string memory_GiB(const Memory& memory);
/// Returns "weights 1 GB, gradients 1 GB, optimizer 2 GB, activations 8.3 GB".
std::string kinds_of(const Memory& memory);
/// Returns the error for a plan that does not fit: "needs 20 GB of memory, but 'p100' has 16 GB: weights 1 GB, …".
std::string shortage(const Memory& memory, const std::string& device);

}  // namespace syncline::text
