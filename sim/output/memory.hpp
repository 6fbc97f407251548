#pragma once

#include <optional>
#include <string>

#include "sim/output/json_text.hpp"
#include "sim/training/memory.hpp"

/// What a device has to hold, as the writers of results and the program's messages show it.
namespace syncline {

/// {"weights_bytes", …, "total_bytes", "device_bytes", "fraction"}
Json to_json(const Memory& memory);

namespace text {

/// Of CSV, the same fields with `memory_` before them: their names and their values, commas between them.
extern const char* const memory_columns;
std::string memory_fields(const std::optional<Memory>& memory);

/// "12.3 of 16 GB", or "12.3 GB" where it is not known what the device has.
std::string memory(const Memory& memory);
/// "weights 1 GB, gradients 1 GB, optimizer 2 GB, activations 8.3 GB"
std::string kinds_of(const Memory& memory);
/// Of what does not fit: "needs 20 GB of memory, and 'p100' has 16 GB: weights 1 GB, …".
std::string shortage(const Memory& memory, const std::string& device);

}  // namespace text

}  // namespace syncline
