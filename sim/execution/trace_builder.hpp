#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "sim/execution/execution_trace.hpp"

namespace syncline {

/// Most nodes, dependencies, members of all groups, and bytes of names in a trace, so that a hostile file takes no more
/// than 500 MB.
inline constexpr std::size_t most_trace_nodes = std::size_t{1} << 21;
inline constexpr std::size_t most_trace_dependencies = std::size_t{1} << 24;
inline constexpr std::size_t most_group_members = std::size_t{1} << 24;
inline constexpr std::size_t most_name_bytes = std::size_t{64} << 20;
inline constexpr std::uint32_t most_trace_ranks = 1 << 17;

/// What readers of all formats share: names, groups and operations by number, limits, and notes with counts.
class TraceBuilder {
public:
    TraceBuilder();
    TraceBuilder(const TraceBuilder&) = delete;
    TraceBuilder& operator=(const TraceBuilder&) = delete;

    /// Returns the number of a name, in a form that shows. A long one is cut.
    std::uint32_t name(std::string_view name);

    /// Returns the number of an operation of operation_names().
    std::uint8_t operation(std::string_view name);

    /// Returns the number of the group with these ranks, in this order. Throws TraceError if one is there twice.
    std::uint32_t group(const std::vector<std::uint32_t>& ranks);

    /// Adds a node to the trace. Throws TraceError above the limits.
    std::uint32_t add(const TraceNode& node, std::span<const std::uint32_t> dependencies);

    /// Throws TraceError above the limits. Whoever adds nodes elsewhere calls it for each.
    void count(std::size_t dependencies);

    /// Throws TraceError above the limit. Whoever makes a group elsewhere calls it.
    void count_members(std::size_t ranks);

    /// Notes what was left out: "nodes of type MEM_LOAD take no time (12)".
    void note(const std::string& what, std::uint64_t count = 1) { notes_[what] += count; }

    /// Notes a sentence without a count, once.
    void remark(const std::string& sentence) { notes_.emplace(sentence, 0); }

    /// Returns the trace with its notes, and leaves nothing.
    ExecutionTrace finish();

    ExecutionTrace trace;

private:
    struct Hash {
        using is_transparent = void;
        const std::vector<std::string>* names;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
        std::size_t operator()(std::uint32_t name) const { return (*this)((*names)[name]); }
    };
    struct Equal {
        using is_transparent = void;
        const std::vector<std::string>* names;
        bool operator()(std::uint32_t a, std::uint32_t b) const { return a == b; }
        bool operator()(std::uint32_t a, std::string_view b) const { return (*names)[a] == b; }
        bool operator()(std::string_view a, std::uint32_t b) const { return a == (*names)[b]; }
    };
    std::unordered_set<std::uint32_t, Hash, Equal> names_;
    std::map<std::vector<std::uint32_t>, std::uint32_t> groups_;
    std::map<std::string, std::uint64_t> notes_;
    std::size_t nodes_ = 0, dependencies_ = 0, members_ = 0, name_bytes_ = 0;
};

/// Returns whether the operation's two buffers differ by a factor of the group's size, and the smaller one is what each
/// rank has at first (allgather) or gives (gather).
inline bool gathers(std::string_view operation) {
    return operation == "allgather" || operation == "gather";
}

}  // namespace syncline
