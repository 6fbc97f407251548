#include "sim/collective/pipelined_tree.hpp"

#include <fmt/format.h>

#include <cmath>

namespace syncline {

namespace {

std::vector<Message> messages(const std::vector<std::uint32_t>& peers, std::uint32_t segment) {
    std::vector<Message> result;
    result.reserve(peers.size());
    for (const std::uint32_t peer : peers) result.push_back({peer, segment});
    return result;
}

/// All segments come from `from` and go on to `to`; each is passed on while the next one comes.
void relay(Program& program, const std::vector<std::uint32_t>& from, const std::vector<std::uint32_t>& to,
           bool reduce) {
    const std::uint32_t segments = program.partition.blocks;
    if (from.empty() || to.empty()) {
        program.steps.push_back({messages(to, 0), messages(from, 0), reduce, segments, 1});
        return;
    }
    program.steps.push_back({{}, messages(from, 0), reduce});
    if (segments > 1) program.steps.push_back({messages(to, 0), messages(from, 1), reduce, segments - 1, 1});
    program.steps.push_back({messages(to, segments - 1), {}});
}

}  // namespace

PipelinedTree::PipelinedTree(SpanningTree tree, double segment_bytes)
    : tree_(std::move(tree)), segment_bytes_(segment_bytes) {}

std::uint32_t PipelinedTree::segments(std::uint64_t bytes) const {
    constexpr double most = 1 << 24;
    if (segment_bytes_ == 0 || bytes == 0) return 1;
    const double count = std::ceil(static_cast<double>(bytes) / segment_bytes_);
    if (count > most)
        throw AlgorithmError("segment",
                             fmt::format("{} B in segments of {} B are more than {} segments", bytes, segment_bytes_,
                                         static_cast<int>(most)),
                             "use larger segments");
    return static_cast<std::uint32_t>(count);
}

Program PipelinedTree::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const {
    Program program{{bytes, segments(bytes)}, {}};
    if (ranks == 1) return program;
    const std::vector<std::uint32_t>& below = tree_.children[rank];
    std::vector<std::uint32_t> above;
    if (rank != 0) above.push_back(tree_.parent[rank]);
    relay(program, below, above, true);
    relay(program, above, below, false);
    return program;
}

std::optional<double> PipelinedTree::cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const {
    if (ranks == 1) return 0;
    const auto shape = tree_.complete();
    const std::uint32_t count = segments(bytes);
    if (!shape || (shape->depth > 1 && bytes % count != 0)) return {};
    const auto size = static_cast<double>(bytes);
    const double hidden = shape->depth - 1;  // stages that fill the pipeline
    const double through_link = shape->arity * (size + hidden * size / count);
    return 2 * (hidden + count) * message.alpha_s + through_link * (2 * message.beta_s_per_B + message.gamma_s_per_B);
}

}  // namespace syncline
