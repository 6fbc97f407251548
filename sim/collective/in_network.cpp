#include "sim/collective/in_network.hpp"

#include <utility>

#include "sim/collective/factories.hpp"
#include "sim/collective/segments.hpp"

namespace syncline {

namespace {

constexpr double sharp_segment_bytes = 128 * 1024;

std::vector<Message> segment_to(const std::vector<std::uint32_t>& peers, std::uint32_t segment) {
    std::vector<Message> messages;
    for (const std::uint32_t peer : peers) messages.push_back({peer, segment, 1, 1});
    return messages;
}

/// Returns the steps of a member that passes each segment on while it receives the next one.
std::vector<Step> passing_on(const std::vector<std::uint32_t>& from, const std::vector<std::uint32_t>& to, bool adds,
                             std::uint32_t segments) {
    std::vector<Step> steps{{{}, segment_to(from, 0), adds}};
    if (segments > 1) steps.push_back({segment_to(to, 0), segment_to(from, 1), adds, segments - 1});
    steps.push_back({segment_to(to, segments - 1), {}});
    return steps;
}

}  // namespace

InNetwork::InNetwork(SwitchTree tree, double segment_bytes)
    : tree_(std::move(tree)),
      segment_bytes_(segment_bytes == 0 ? sharp_segment_bytes : segment_bytes),
      from_below_(tree_.switches()),
      to_below_(tree_.switches()) {
    for (std::uint32_t rank = 0; rank < tree_.ranks(); ++rank) {
        from_below_[tree_.above_rank[rank]].push_back(rank);
        to_below_[tree_.above_rank[rank]].push_back(rank_below(rank));
    }
    for (std::uint32_t number = 1; number < tree_.switches(); ++number) {
        from_below_[tree_.above_switch[number]].push_back(upper(number));
        to_below_[tree_.above_switch[number]].push_back(lower(number));
    }
}

Program InNetwork::program(std::uint32_t member, std::uint32_t, std::uint64_t bytes, std::uint32_t) const {
    const std::uint32_t ranks = tree_.ranks(), segments = segment_count(bytes, segment_bytes_);
    Program program{{bytes, segments}, {}};
    if (ranks == 1) return program;
    if (member < ranks) {
        program.steps.push_back({segment_to({upper(tree_.above_rank[member])}, 0), {}, false, segments});
    } else if (member < 2 * ranks) {
        program.steps.push_back({{}, segment_to({lower(tree_.above_rank[member - ranks])}, 0), false, segments});
    } else if (member == upper(0)) {
        program.steps = passing_on(from_below_[0], to_below_[0], true, segments);
    } else if (member < upper(0) + tree_.switches()) {
        const std::uint32_t number = member - upper(0);
        program.steps = passing_on(from_below_[number], {upper(tree_.above_switch[number])}, true, segments);
    } else {
        const std::uint32_t number = member - upper(0) - tree_.switches() + 1;
        program.steps = passing_on({lower(tree_.above_switch[number])}, to_below_[number], false, segments);
    }
    return program;
}

std::optional<double> InNetwork::cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const {
    if (ranks == 1) return 0;
    const std::uint32_t segments = segment_count(bytes, segment_bytes_);
    if (tree_.switches() > 1 || bytes % segments != 0) return std::nullopt;
    // A message between ranks takes α over two hops.
    const double hop_s = message.alpha_s / 2;
    const double segment_s = static_cast<double>(bytes / segments) * message.beta_s_per_B;
    return message.travels ? 2 * hop_s + (segments + 1) * segment_s : (segments + 1) * (hop_s + segment_s);
}

std::string InNetwork::formula(bool travels) const {
    if (tree_.switches() > 1) return travels ? "2Σ(α' + cβ') + (m - 1)cβ" : "(m + 2h - 1)(α' + cβ')";
    return travels ? "α + (m + 1)cβ" : "(m + 1)(α/2 + cβ)";
}

std::shared_ptr<const CollectiveAlgorithm> algorithms::in_network(const AlgorithmSpec& spec, std::uint32_t ranks) {
    return std::make_shared<InNetwork>(SwitchTree{std::vector<std::uint32_t>(ranks, 0), {0}, {0}}, spec.segment_bytes);
}

}  // namespace syncline
