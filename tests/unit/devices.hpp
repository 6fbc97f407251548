#pragma once

#include <string>
#include <vector>

#include "sim/config/file_kinds.hpp"
#include "sim/document/document.hpp"
#include "sim/document/reader.hpp"
#include "sim/platform/kernel_rates.hpp"

namespace syncline::test {

/// Reads a device. Throws ConfigError.
inline Device read_device(const config::Node& node) {
    Device device;
    std::vector<Diagnostic> errors;
    config::read(
        node, "device", [&](config::Fields& fields) { describe(fields, device); }, errors);
    if (!errors.empty()) throw ConfigError(errors);
    return device;
}

/// Returns a shipped device.
inline Device shipped_device(const std::string& name) {
    config::Library library;
    return read_device(library.load_argument(SYNCLINE_SOURCE_DIR "/platforms/devices/" + name + ".yaml"));
}

/// Returns rates of a device with ten multiprocessors of 1e12 FLOP/s.
inline KernelRates ten_multiprocessors() {
    KernelRates rates;
    rates.product_flops_per_s = 1e13;
    rates.attention_flops_per_s = 5e12;
    rates.memory_Bps = 1e12;
    rates.multiprocessors = 10;
    return rates;
}

}  // namespace syncline::test
