#include "sim/output/memory.hpp"

#include <fmt/format.h>

#include "sim/output/text.hpp"

namespace syncline {

namespace {

std::string scaled(double bytes) {
    return format_quantity(bytes, Dimension::bytes);
}

/// Returns a JSON integer if the number fits into 64 bits, else a floating-point number.
Json whole(double bytes) {
    constexpr double countable = 1.8e19;
    return bytes < countable ? Json(static_cast<std::uint64_t>(bytes)) : Json(bytes);
}

}  // namespace

Json to_json(const Memory& memory) {
    return {{"weights_bytes", whole(memory.weights_bytes)},
            {"gradients_bytes", whole(memory.gradients_bytes)},
            {"optimizer_bytes", whole(memory.optimizer_bytes)},
            {"activations_bytes", whole(memory.activations_bytes)},
            {"total_bytes", whole(memory.total_bytes())},
            {"device_bytes", memory.device_bytes ? whole(*memory.device_bytes) : Json(nullptr)},
            {"fraction", number_or_null(memory.fraction())}};
}

const char* const text::memory_columns =
    "memory_weights_bytes,memory_gradients_bytes,memory_optimizer_bytes,memory_activations_bytes,memory_total_bytes,"
    "memory_device_bytes,memory_fraction";

std::string text::memory_fields(const std::optional<Memory>& memory) {
    if (!memory) return ",,,,,,";
    return fmt::format("{},{},{},{},{},{},{}", memory->weights_bytes, memory->gradients_bytes, memory->optimizer_bytes,
                       memory->activations_bytes, memory->total_bytes(), field(memory->device_bytes),
                       field(memory->fraction()));
}

std::string text::memory(const Memory& memory) {
    std::string needed = scaled(memory.total_bytes());
    if (!memory.device_bytes) return needed;
    const std::string there = scaled(*memory.device_bytes);
    const auto unit = needed.find(' '), same = there.find(' ');
    if (needed.substr(unit) == there.substr(same)) needed.erase(unit);
    return needed + " of " + there;
}

std::string text::kinds_of(const Memory& memory) {
    return fmt::format("weights {}, gradients {}, optimizer {}, activations {}", scaled(memory.weights_bytes),
                       scaled(memory.gradients_bytes), scaled(memory.optimizer_bytes),
                       scaled(memory.activations_bytes));
}

std::string text::shortage(const Memory& memory, const std::string& device) {
    return fmt::format("needs {} of memory, but '{}' has {}: {}", scaled(memory.total_bytes()), device,
                       scaled(*memory.device_bytes), kinds_of(memory));
}

}  // namespace syncline
