#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <map>

#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_readers.hpp"

namespace syncline {

namespace {

[[noreturn]] void cannot_say(const ExecutionTrace& trace, const TraceNode& node, std::string_view what) {
    throw TraceError(fmt::format("GOAL has no {}: {} of rank {}", what, trace.names[node.name], node.rank));
}

}  // namespace

std::vector<std::string> write_goal(const ExecutionTrace& trace, const std::string& path, const WriteFile& write) {
    std::vector<std::vector<std::uint32_t>> of_rank(trace.ranks);
    for (std::uint32_t i = 0; i < trace.size(); ++i) of_rank[trace.nodes()[i].rank].push_back(i);
    std::string text = fmt::format("num_ranks {}\n", trace.ranks);
    auto out = std::back_inserter(text);
    std::vector<std::size_t> label(trace.size());
    for (std::uint32_t rank = 0; rank < trace.ranks; ++rank) {
        fmt::format_to(out, "rank {} {{\n", rank);
        // Streams are processors, and what has none is on the next one.
        std::map<std::uint32_t, std::size_t> cpus;
        for (const std::uint32_t i : of_rank[rank]) {
            const TraceNode& node = trace.nodes()[i];
            const bool computes =
                node.kind == NodeKind::compute || node.kind == NodeKind::host || node.kind == NodeKind::copy;
            if (computes && node.stream != TraceNode::own_stream) cpus.try_emplace(node.stream, cpus.size());
        }
        std::size_t next = 0;
        for (const std::uint32_t i : of_rank[rank]) {
            const TraceNode& node = trace.nodes()[i];
            fmt::format_to(out, "l{}: ", label[i] = ++next);
            const auto cpu = cpus.find(node.stream);
            switch (node.kind) {
                case NodeKind::collective:
                    cannot_say(trace, node, "collectives; write their messages");
                case NodeKind::nothing:
                case NodeKind::compute:
                case NodeKind::host:
                case NodeKind::copy:
                    if (node.seconds == 0 && node.flop > 0) cannot_say(trace, node, "computation without a time");
                    fmt::format_to(out, "calc {} cpu {}\n", std::llround(node.seconds * 1e9),
                                   cpu == cpus.end() ? cpus.size() : cpu->second);
                    break;
                case NodeKind::send:
                    fmt::format_to(out, "send {}b to {} tag {}\n", node.bytes, node.peer, node.tag);
                    break;
                case NodeKind::receive:
                    fmt::format_to(out, "recv {}b from {} tag {}\n", node.bytes, node.peer, node.tag);
                    break;
            }
            for (const std::uint32_t on : trace.dependencies_of(i))
                fmt::format_to(out, "l{} requires l{}\n", label[i], label[on]);
        }
        text += "}\n";
    }
    write(path, text);
    return {path};
}

}  // namespace syncline
