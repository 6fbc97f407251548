#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "sim/base/diagnostics.hpp"
#include "sim/output/written_files.hpp"
#include "tests/unit/stores.hpp"

namespace syncline::fuzz {

/// Runs `read`, whose input may be wrong.
template <class Read>
void reading(const Read& read) {
    try {
        read();
    } catch (const ConfigError&) {
    } catch (const OutputError&) {  // a store that cannot be read
    }
}

/// Returns the path of a file with this name and content. It lasts until the next call.
inline std::string file_with(const std::string& name, std::string_view content) {
    static const test::Scratch directory;
    const std::filesystem::path file = directory.path / name;
    test::write_bytes(file, std::string(content));
    return file.string();
}

}  // namespace syncline::fuzz
