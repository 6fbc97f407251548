#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_readers.hpp"

namespace syncline {

namespace {

/// Writes what ranks do one after the other. Messages are requests, waited for before the first node that depends on
/// them.
class TiWriter {
public:
    explicit TiWriter(const ExecutionTrace& trace) : trace_(trace), waiting_(trace.ranks) {}

    std::string write() {
        for (std::uint32_t rank = 0; rank < trace_.ranks; ++rank) line(rank, "init");
        for (std::uint32_t i = 0; i < trace_.size(); ++i) {
            const auto dependencies = trace_.dependencies_of(i);
            // MPI may not end a send before its receive begins. So a receive holds up nothing: who waits for it waits
            // for what it depends on, too.
            if (trace_.nodes()[i].kind == NodeKind::receive)
                before_[i] = {dependencies.begin(), dependencies.end()};
            else
                for (const std::uint32_t on : dependencies) wait_for(on);
            add(i);
        }
        for (std::uint32_t rank = 0; rank < trace_.ranks; ++rank) {
            if (!waiting_[rank].empty()) line(rank, "waitall");
            line(rank, "finalize");
        }
        return std::move(text_);
    }

private:
    using Channel = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // from, to, tag

    void line(std::uint32_t rank, std::string_view action) {
        fmt::format_to(std::back_inserter(text_), "{} {}\n", rank, action);
    }

    static Channel channel_of(const TraceNode& message) {
        if (message.kind == NodeKind::send) return {message.rank, message.peer, message.tag};
        return {message.peer, message.rank, message.tag};
    }

    void wait_for(std::uint32_t number) {
        std::vector<std::uint32_t> left{number};
        while (!left.empty()) {
            const std::uint32_t next = left.back();
            left.pop_back();
            wait_for_request(next);
            if (const auto found = before_.extract(next))
                left.insert(left.end(), found.mapped().begin(), found.mapped().end());
        }
    }

    /// Requests with the same ends and tag are done in their order.
    void wait_for_request(std::uint32_t number) {
        const TraceNode& node = trace_.nodes()[number];
        if (node.kind != NodeKind::send && node.kind != NodeKind::receive) return;
        auto& of_rank = waiting_[node.rank];
        const Channel channel = channel_of(node);
        const auto found = of_rank.find(channel);
        if (found == of_rank.end()) return;
        while (!found->second.empty() && found->second.front() <= number) {
            line(node.rank,
                 fmt::format("wait {} {} {}", std::get<0>(channel), std::get<1>(channel), std::get<2>(channel)));
            found->second.pop_front();
        }
        if (found->second.empty()) of_rank.erase(found);
    }

    void add(std::uint32_t number) {
        const TraceNode& node = trace_.nodes()[number];
        switch (node.kind) {
            case NodeKind::nothing:
                break;
            case NodeKind::compute:
            case NodeKind::host:
            case NodeKind::copy:
                if (node.seconds > 0)
                    line(node.rank, fmt::format("sleep {}", node.seconds));
                else if (node.flop > 0)
                    line(node.rank, fmt::format("compute {}", node.flop));
                break;
            case NodeKind::send:
            case NodeKind::receive:
                line(node.rank, fmt::format("{} {} {} {}", node.kind == NodeKind::send ? "isend" : "irecv", node.peer,
                                            node.tag, node.bytes));
                waiting_[node.rank][channel_of(node)].push_back(number);
                break;
            case NodeKind::collective:
                line(node.rank, collective(node));
        }
    }

    std::string collective(const TraceNode& node) const {
        const std::string& operation = trace_.operations[node.operation];
        const std::vector<std::uint32_t>& ranks = trace_.groups[node.group];
        // The root is the first; the others are in their order.
        const bool rest_sorted = std::ranges::is_sorted(ranks.begin() + 1, ranks.end());
        if (ranks.size() != trace_.ranks || !rest_sorted)
            throw TraceError(
                fmt::format("time-independent traces have collectives of all ranks only, in their order: {}",
                            trace_.names[node.name]));
        const std::uint64_t count = trace_.ranks, bytes = node.bytes, block = bytes / count, root = ranks.front();
        const auto blocks = [&] {
            std::string text;
            for (std::uint64_t i = 0; i < count; ++i) text += fmt::format(" {}", block + (i < bytes % count ? 1 : 0));
            return text;
        };
        const bool equal = bytes % count == 0;
        if (operation == "barrier") return "barrier";
        if (operation == "broadcast") return fmt::format("bcast {} {}", bytes, root);
        if (operation == "reduce") return fmt::format("reduce {} 0 {}", bytes, root);
        if (operation == "allreduce") return fmt::format("allreduce {} 0", bytes);
        if (operation == "reduce-scatter") return fmt::format("reducescatter{} 0", blocks());
        if (operation == "all-to-all") {
            const std::uint64_t each = block + (equal ? 0 : 1);
            return fmt::format("alltoall {} {}", each, each);
        }
        if (operation == "allgather" && equal) return fmt::format("allgather {} {}", block, block);
        if (operation == "gather" && equal) return fmt::format("gather {} {} {}", block, block, root);
        if (operation == "scatter" && equal) return fmt::format("scatter {} {} {}", block, block, root);
        const std::uint64_t own = block + (node.rank < bytes % count ? 1 : 0);
        if (operation == "allgather") return fmt::format("allgatherv {}{}", own, blocks());
        if (operation == "gather") return fmt::format("gatherv {}{} {}", own, blocks(), root);
        if (operation == "scatter") return fmt::format("scatterv{} {} {}", blocks(), own, root);
        throw TraceError(fmt::format("time-independent traces have no '{}'", operation));
    }

    const ExecutionTrace& trace_;
    std::vector<std::map<Channel, std::deque<std::uint32_t>>> waiting_;
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> before_;  ///< what receives depend on
    std::string text_;
};

}  // namespace

std::vector<std::string> write_simgrid_ti(const ExecutionTrace& trace, const std::string& path,
                                          const WriteFile& write) {
    write(path, TiWriter(trace).write());
    return {path};
}

}  // namespace syncline
