#include "sim/output/memory_text.hpp"

#include <fmt/format.h>

#include "sim/output/cells.hpp"

namespace syncline {

namespace {

std::string scaled(double bytes) {
    return format_quantity(bytes, Dimension::bytes);
}

}  // namespace

std::string text::memory(const Memory& memory) {
    std::string needed = scaled(memory.total_bytes());
    if (!memory.device_bytes) return needed;
    const std::string there = scaled(*memory.device_bytes);
    const auto unit = needed.find(' '), same = there.find(' ');
    if (needed.substr(unit) == there.substr(same)) needed.erase(unit);
    return needed + " of " + there;
}

std::string text::memory_GiB(const Memory& memory) {
    constexpr double GiB = 1024.0 * 1024 * 1024;
    const auto in_GiB = [](double bytes) {
        return bytes < 10 * GiB ? fmt::format("{:.3g}", bytes / GiB) : fmt::format("{:.1f}", bytes / GiB);
    };
    const std::string used = in_GiB(memory.total_bytes());
    return memory.device_bytes ? fmt::format("{} of {} GiB", used, in_GiB(*memory.device_bytes)) : used + " GiB";
}

std::string text::kinds_of(const Memory& memory) {
    std::string text =
        fmt::format("weights {}, gradients {}, optimizer {}, activations {}", scaled(memory.weights_bytes),
                    scaled(memory.gradients_bytes), scaled(memory.optimizer_bytes), scaled(memory.activations_bytes));
    if (memory.host_bytes) text += fmt::format("; {} in the host's memory", scaled(*memory.host_bytes));
    return text;
}

std::string text::shortage(const Memory& memory, const std::string& device) {
    return fmt::format("needs {} of memory, but '{}' has {}: {}", scaled(memory.total_bytes()),
                       memory.device.empty() ? device : memory.device, scaled(*memory.device_bytes), kinds_of(memory));
}

}  // namespace syncline
