#include "sim/execution/trace_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/utf8.hpp"
#include "sim/execution/trace_error.hpp"

namespace syncline {

TraceBuilder::TraceBuilder() : names_(64, Hash{&trace.names}, Equal{&trace.names}) {}

std::uint32_t TraceBuilder::name(std::string_view name) {
    constexpr std::size_t longest = 240;
    std::string shown;
    if (name.size() > longest) {
        while (name.size() > longest || (!name.empty() && (name.back() & 0xc0) == 0x80)) name.remove_suffix(1);
        shown = printable(name) + "…";
    } else {
        shown = printable(name);
    }
    if (const auto found = names_.find(std::string_view(shown)); found != names_.end()) return *found;
    name_bytes_ += shown.size();
    if (name_bytes_ > most_name_bytes)
        throw TraceError(fmt::format("its names take more than {} MiB", most_name_bytes >> 20));
    trace.names.push_back(std::move(shown));
    const auto number = static_cast<std::uint32_t>(trace.names.size() - 1);
    names_.insert(number);
    return number;
}

std::uint8_t TraceBuilder::operation(std::string_view name) {
    auto& all = trace.operations;
    const auto found = std::ranges::find(all, name);
    if (found != all.end()) return static_cast<std::uint8_t>(found - all.begin());
    all.emplace_back(name);
    return static_cast<std::uint8_t>(all.size() - 1);
}

std::uint32_t TraceBuilder::group(const std::vector<std::uint32_t>& ranks) {
    const auto [found, is_new] = groups_.emplace(ranks, static_cast<std::uint32_t>(trace.groups.size()));
    if (!is_new) return found->second;
    count_members(ranks.size());
    std::vector<std::uint32_t> sorted = ranks;
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
        throw TraceError(fmt::format("a group has rank {} twice", *twice));
    trace.groups.push_back(ranks);
    return found->second;
}

std::uint32_t TraceBuilder::add(const TraceNode& node, std::span<const std::uint32_t> dependencies) {
    count(dependencies.size());
    return trace.add(node, dependencies);
}

void TraceBuilder::count(std::size_t dependencies) {
    dependencies_ += dependencies;
    if (++nodes_ > most_trace_nodes) throw TraceError(fmt::format("it has more than {} nodes", most_trace_nodes));
    if (dependencies_ > most_trace_dependencies)
        throw TraceError(fmt::format("it has more than {} dependencies", most_trace_dependencies));
}

void TraceBuilder::count_members(std::size_t ranks) {
    members_ += ranks;
    if (members_ > most_group_members)
        throw TraceError(fmt::format("its groups have more than {} members", most_group_members));
}

ExecutionTrace TraceBuilder::finish() {
    for (const auto& [what, count] : notes_)
        trace.notes.push_back(count == 0 ? what : fmt::format("{} ({})", what, count));
    return std::move(trace);
}

}  // namespace syncline
