#include "sim/execution/trace_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "sim/base/number.hpp"
#include "sim/base/regular_file.hpp"
#include "sim/execution/byte_stream.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_readers.hpp"

namespace syncline {

namespace {

/// `begin`: the first bytes of the file, inflated.
using Recognise = bool(std::string_view name, std::string_view begin);

std::string_view first_word(std::string_view text) {
    constexpr std::string_view space = " \t\r\n";
    text.remove_prefix(std::min(text.find_first_not_of(space), text.size()));
    return text.substr(0, text.find_first_of(space));
}

bool is_chakra(std::string_view name, std::string_view begin) {
    // A length, and metadata of nothing but a version.
    const bool version = begin.size() > 3 && begin[1] == '\x0a' && begin[0] == begin[2] + 2;
    return version || name.ends_with(".et") || name.ends_with(".et.gz");
}

bool is_chakra_json(std::string_view, std::string_view begin) {
    return first_word(begin).starts_with('{') && begin.find("\"workload_graph\"") != std::string_view::npos;
}

bool is_astra_text(std::string_view, std::string_view begin) {
    const std::string_view policy = first_word(begin);
    constexpr std::array others{"MICRO", "DATA", "MODEL", "DISTRIBUTED_INFERENCE"};
    return policy.starts_with("HYBRID_") || std::ranges::find(others, policy) != others.end();
}

bool is_goal(std::string_view name, std::string_view begin) {
    return name.ends_with(".goal") || first_word(begin) == "num_ranks";
}

bool is_simgrid_ti(std::string_view, std::string_view begin) {
    const std::string_view rank = first_word(begin);
    if (rank.empty() || !number_in<std::uint32_t>(rank)) return false;
    const std::string_view rest = begin.substr(static_cast<std::size_t>(rank.end() - begin.begin()));
    const std::string_view action = first_word(rest);
    return !action.empty() && std::ranges::all_of(action, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    });
}

bool is_dag_dot(std::string_view name, std::string_view begin) {
    return (name.ends_with(".dot") || name.ends_with(".gv")) && begin.find("digraph") != std::string_view::npos;
}

bool is_dax(std::string_view, std::string_view begin) {
    return first_word(begin).starts_with('<') && begin.find("<adag") != std::string_view::npos;
}

bool is_wfformat(std::string_view, std::string_view begin) {
    return first_word(begin).starts_with('{') && begin.find("\"workflow\"") != std::string_view::npos;
}

bool is_kineto(std::string_view, std::string_view begin) {
    if (!first_word(begin).starts_with('{')) return false;
    constexpr std::array keys{"\"traceEvents\"", "\"deviceProperties\"", "\"distributedInfo\""};
    return std::ranges::any_of(keys, [&](const char* key) { return begin.find(key) != std::string_view::npos; });
}

struct Format {
    std::string_view name;
    Recognise* recognise;
    TraceReader* read;
    TraceWriter* write;      ///< nullptr: it is only read
    bool open_unit = false;  ///< the file does not say what a unit of compute is
    bool steps = false;      ///< TraceOptions::step
};

constexpr std::array formats{
    Format{"chakra", is_chakra, read_chakra, write_chakra, false},
    Format{"chakra-json", is_chakra_json, read_chakra_json, nullptr, false},
    Format{"astra-text", is_astra_text, read_astra_text, nullptr, true},
    Format{"goal", is_goal, read_goal, write_goal, false},
    Format{"simgrid-ti", is_simgrid_ti, read_simgrid_ti, write_simgrid_ti, false},
    Format{"dot", is_dag_dot, read_dag_dot, nullptr, false},
    Format{"dax", is_dax, read_dax, nullptr, false},
    Format{"wfformat", is_wfformat, read_wfformat, nullptr, false},
    Format{"kineto", is_kineto, read_kineto, nullptr, false, true},
};

std::string list(const std::vector<std::string>& names) {
    return fmt::format("{}", fmt::join(names, ", "));
}

void check_readable(const FileContent& file) {
    switch (file.problem) {
        case FileContent::Problem::none:
        case FileContent::Problem::too_large:
            return;
        case FileContent::Problem::missing:
            throw TraceError("it does not exist");
        case FileContent::Problem::directory:
            throw TraceError("it is a directory");
        case FileContent::Problem::special:
            throw TraceError("it is not a regular file");
        case FileContent::Problem::unreadable:
            throw TraceError("it cannot be read: " + file.reason);
    }
}

/// Returns the first bytes of a file, inflated.
std::string begin_of(const std::string& name) {
    constexpr std::size_t most = 4096;
    const FileContent begin = read_regular(name, most);
    check_readable(begin);
    if (!begin.text.starts_with("\x1f\x8b")) return begin.text;
    const TraceFile file = read_trace_file(name);
    return std::string(ByteStream(file.bytes).peek().substr(0, most));
}

const Format& format_of(const std::string& file, const std::string& wanted) {
    if (!wanted.empty()) {
        const auto* const found = std::ranges::find(formats, wanted, &Format::name);
        if (found == formats.end())
            throw TraceError(fmt::format("there is no format '{}' of traces: {}", wanted, list(trace_formats())));
        return *found;
    }
    std::string begin;
    in_trace_file(file, [&] { begin = begin_of(file); });
    for (const Format& format : formats)
        if (format.recognise(file, begin)) return format;
    throw TraceError(fmt::format("{}: its format is not recognised; it may be one of {}", file, list(trace_formats())));
}

}  // namespace

TraceFile read_trace_file(const std::string& name) {
    const auto too_large = [] { return TraceError(fmt::format("it is larger than {} MiB", largest_trace_file >> 20)); };
    std::error_code error;
    if (const auto size = std::filesystem::file_size(name, error); !error && size > largest_trace_file)
        throw too_large();  // before it is read
    FileContent file = read_regular(name, largest_trace_file);
    if (file.problem == FileContent::Problem::too_large) throw too_large();
    check_readable(file);
    return {name, std::move(file.text)};
}

TraceFile read_trace_text(const std::string& name) {
    TraceFile file = read_trace_file(name);
    if (file.bytes.starts_with("\x1f\x8b")) file.bytes = ByteStream(file.bytes).take_rest(largest_trace_file);
    if (file.bytes.starts_with("\xef\xbb\xbf")) file.bytes.erase(0, 3);
    return file;
}

void in_trace_file(const std::string& name, const std::function<void()>& read) {
    try {
        read();
    } catch (const TraceError& error) {
        throw TraceError(fmt::format("{}: {}", name, error.what()));
    }
}

void in_trace_files(const std::vector<std::string>& names, const std::function<void()>& read) {
    in_trace_file(names.size() == 1 ? names.front() : names.front() + ", …", read);
}

const std::string& only_trace_file(const std::vector<std::string>& files) {
    if (files.size() != 1) throw TraceError("this format has one file for all ranks");
    return files.front();
}

std::vector<std::string> trace_formats() {
    std::vector<std::string> names;
    for (const Format& format : formats) names.emplace_back(format.name);
    return names;
}

std::vector<std::string> written_trace_formats() {
    std::vector<std::string> names;
    for (const Format& format : formats)
        if (format.write != nullptr) names.emplace_back(format.name);
    return names;
}

std::optional<std::string> trace_format_of(const std::string& file) {
    try {
        return std::string(format_of(file, "").name);
    } catch (const TraceError&) {
        return std::nullopt;
    }
}

ExecutionTrace read_trace(const std::vector<std::string>& files, const TraceOptions& options) {
    if (files.empty()) throw TraceError("no file of a trace is given");
    if (options.ranks > most_trace_ranks)
        throw TraceError(fmt::format("there are at most {} ranks, not {}", most_trace_ranks, options.ranks));
    const Format& format = format_of(files.front(), options.format);
    if (options.compute_unit_s != 0 && !format.open_unit)
        throw TraceError(fmt::format("the format '{}' has its own unit of compute", format.name));
    if (options.step && !format.steps) throw TraceError(fmt::format("the format '{}' has no steps", format.name));
    TraceBuilder builder;
    format.read(files, options, builder);
    ExecutionTrace trace = builder.finish();
    in_trace_files(files, [&] {
        if (trace.ranks == 1 && options.ranks > 1) {
            if (trace.size() > most_trace_nodes / options.ranks)
                throw TraceError(fmt::format("{} nodes on each of {} ranks are more than {}", trace.size(),
                                             options.ranks, most_trace_nodes));
            trace = trace.repeated(options.ranks);
        }
        if (options.ranks != 0 && trace.ranks != options.ranks)
            throw TraceError(fmt::format("the trace has {} ranks, not {}", trace.ranks, options.ranks));
        trace.check();
    });
    return trace;
}

std::vector<std::string> write_trace(const ExecutionTrace& trace, const std::string& format, const std::string& path,
                                     const WriteFile& write) {
    const auto* const found = std::ranges::find(formats, format, &Format::name);
    if (found == formats.end() || found->write == nullptr)
        throw TraceError(
            fmt::format("traces cannot be written as '{}', but as {}", format, list(written_trace_formats())));
    return found->write(trace, path, write);
}

}  // namespace syncline
