#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/execution/execution_trace.hpp"

/// Execution traces in the formats of other programs. README.md beside this says what is read of each, and how.
namespace syncline {

struct TraceOptions {
    std::string format = {};  ///< as in trace_formats(); empty: recognised by the file's name and first bytes
    /// Number of ranks, for formats that do not say it; 0: as many as there are files. If one file has one rank, all do
    /// what that one does, and each collective is among all.
    std::uint32_t ranks = 0;
    /// Seconds of a unit of compute, where the format leaves it open (ASTRA-sim's text); 0: the format's own.
    double compute_unit_s = 0;
    std::optional<std::uint64_t> step = {};  ///< of a profile with several; none: the middle one
    std::string groups_file = {};            ///< ASTRA-sim's communicator groups, JSON: {"0": [0, 1], "1": [2, 3]}
};

/// Returns the names of the formats that can be read, or written: "chakra", ….
std::vector<std::string> trace_formats();
std::vector<std::string> written_trace_formats();

/// Returns the name of the format of a file, or nothing if it is no trace that can be read.
std::optional<std::string> trace_format_of(const std::string& file);

/// Returns the trace of these files: one per rank in this order, or one of all. It is checked. Throws ConfigError with
/// the line of a text's fault; TraceError with the byte of another file's fault, or with what is wrong among the nodes.
ExecutionTrace read_trace(const std::vector<std::string>& files, const TraceOptions& options);

/// Writes the bytes of a file, or throws.
using WriteFile = std::function<void(const std::string& name, const std::string& bytes)>;

/// Writes a trace. Formats with one file per rank write `path`.RANK.et, or the like. Throws TraceError if the format
/// cannot say what the trace does. Returns the files' names.
std::vector<std::string> write_trace(const ExecutionTrace& trace, const std::string& format, const std::string& path,
                                     const WriteFile& write);

}  // namespace syncline
