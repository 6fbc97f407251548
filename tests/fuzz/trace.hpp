#pragma once

#include <string>
#include <string_view>

#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_files.hpp"
#include "tests/fuzz/reading.hpp"

namespace syncline::fuzz {

/// Reads an execution trace in this format, and writes it in all formats that can say it.
inline void trace(const std::string& format, std::string_view input, std::uint32_t ranks) {
    const std::string file = file_with("trace", input);
    const auto expecting_errors = [](const auto& act) {
        try {
            act();
        } catch (const ConfigError&) {
        } catch (const TraceError&) {
        }
    };
    expecting_errors([&] {
        const ExecutionTrace read = read_trace({file}, {.format = format, .ranks = ranks});
        for (const std::string& other : written_trace_formats())
            if (read.ranks <= 8)
                expecting_errors([&] { write_trace(read, other, file, [](const auto&, const auto&) {}); });
    });
}

}  // namespace syncline::fuzz
