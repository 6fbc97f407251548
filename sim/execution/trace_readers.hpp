#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/execution/trace_builder.hpp"
#include "sim/execution/trace_files.hpp"
#include "sim/execution/trace_text.hpp"

/// The readers and writers of all formats, one source file each: README.md says what they do. Readers get the names of
/// the files of all ranks, or of one with all, and throw ConfigError or TraceError. Writers return the files' names.
namespace syncline {

using TraceReader = void(const std::vector<std::string>& files, const TraceOptions& options, TraceBuilder& builder);
using TraceWriter = std::vector<std::string>(const ExecutionTrace& trace, const std::string& path,
                                             const WriteFile& write);

TraceReader read_chakra, read_chakra_json, read_astra_text, read_goal, read_simgrid_ti;
TraceReader read_dag_dot, read_dax, read_wfformat, read_kineto;
TraceWriter write_chakra, write_goal, write_simgrid_ti;

/// Reads a file as it is, or a text, which may be in gzip. Throws TraceError.
TraceFile read_trace_file(const std::string& name);
TraceFile read_trace_text(const std::string& name);

/// Calls `read`, and puts a name, of a file or of the first one of several, before the TraceError that it may throw.
void in_trace_file(const std::string& name, const std::function<void()>& read);
void in_trace_files(const std::vector<std::string>& names, const std::function<void()>& read);

/// Throws TraceError if there are several files, and the format has one for all ranks.
const std::string& only_trace_file(const std::vector<std::string>& files);

}  // namespace syncline
