#pragma once

#include <string>
#include <vector>

#include "sim/config/files.hpp"
#include "sim/document/document.hpp"
#include "sim/document/reader.hpp"

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

}  // namespace syncline::test
