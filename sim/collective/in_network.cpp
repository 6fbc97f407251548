#include "sim/collective/in_network.hpp"

#include <utility>

#include "sim/collective/factories.hpp"
#include "sim/collective/nvls.hpp"
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
      node_of_(tree_.ranks(), 0),
      number_(tree_.ranks(), 0),
      from_below_(tree_.node_ranks(), std::vector<std::vector<std::uint32_t>>(tree_.switches())),
      to_below_(from_below_) {
    for (std::uint32_t node = 0; node < tree_.nodes.size(); ++node)
        for (std::uint32_t number = 0; number < tree_.node_ranks(); ++number) {
            node_of_[tree_.nodes[node][number]] = node;
            number_[tree_.nodes[node][number]] = number;
        }
    for (std::uint32_t rank = 0; rank < tree_.ranks(); ++rank) {
        from_below_[number_[rank]][tree_.above_rank[rank]].push_back(rank);
        to_below_[number_[rank]][tree_.above_rank[rank]].push_back(rank_below(rank));
    }
    // A switch has a greater number than the one above it.
    for (std::uint32_t part = 0; part < tree_.node_ranks(); ++part)
        for (std::uint32_t number = tree_.switches(); number-- > 1;) {
            if (from_below_[part][number].empty()) continue;
            from_below_[part][tree_.above_switch[number]].push_back(upper(number));
            to_below_[part][tree_.above_switch[number]].push_back(lower(number));
        }
}

std::uint32_t InNetwork::lanes() const {
    return tree_.node_ranks() == 1 ? 1 : tree_.node_ranks() + 1;
}

Program InNetwork::program(std::uint32_t member, std::uint32_t members, std::uint64_t bytes,
                           std::uint32_t round) const {
    return lane_program(0, member, members, bytes, round);
}

Program InNetwork::lane_program(std::uint32_t lane, std::uint32_t member, std::uint32_t, std::uint64_t bytes,
                                std::uint32_t) const {
    const std::uint32_t ranks = tree_.ranks();
    if (lane == tree_.node_ranks()) return inside(member, bytes);
    const Partition parts{bytes, tree_.node_ranks()};
    const std::uint32_t segments = segment_count(parts.size(lane), segment_bytes_);
    Program program{{parts.size(lane), segments}, {}};
    program.offset = parts.offset(lane);
    program.channel = lane;
    if (ranks == 1 || (member < 2 * ranks && number_[member % ranks] != lane)) return program;
    const auto &from_below = from_below_[lane], &to_below = to_below_[lane];
    if (member < ranks) {
        program.steps.push_back({segment_to({upper(tree_.above_rank[member])}, 0), {}, false, segments});
    } else if (member < 2 * ranks) {
        program.steps.push_back({{}, segment_to({lower(tree_.above_rank[member - ranks])}, 0), false, segments});
    } else if (member == upper(0)) {
        program.steps = passing_on(from_below[0], to_below[0], true, segments);
    } else if (member < upper(0) + tree_.switches()) {
        const std::uint32_t number = member - upper(0);
        if (from_below[number].empty()) return program;
        program.steps = passing_on(from_below[number], {upper(tree_.above_switch[number])}, true, segments);
    } else {
        const std::uint32_t number = member - upper(0) - tree_.switches() + 1;
        if (to_below[number].empty()) return program;
        program.steps = passing_on({lower(tree_.above_switch[number])}, to_below[number], false, segments);
    }
    return program;
}

Program InNetwork::inside(std::uint32_t member, std::uint64_t bytes) const {
    const std::uint32_t ranks = tree_.ranks(), here = tree_.node_ranks();
    Program program{{tree_.node_adds ? nvls_load(bytes, here) : 2 * (bytes - bytes / here), here - 1}, {}};
    program.channel = here;
    if (member < ranks || member >= 2 * ranks) return program;
    std::vector<std::uint32_t> peers;
    for (const std::uint32_t rank : tree_.nodes[node_of_[member - ranks]]) peers.push_back(rank_below(rank));
    program.steps.push_back(with_all_others(peers, number_[member - ranks]));
    return program;
}

std::optional<double> InNetwork::cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const {
    if (ranks == 1) return 0;
    const std::uint32_t segments = segment_count(bytes, segment_bytes_);
    if (tree_.switches() > 1 || lanes() > 1 || bytes % segments != 0) return std::nullopt;
    // A message between ranks takes α over two hops.
    const double hop_s = message.alpha_s / 2;
    const double segment_s = static_cast<double>(bytes / segments) * message.beta_s_per_B;
    return message.travels ? 2 * hop_s + (segments + 1) * segment_s : (segments + 1) * (hop_s + segment_s);
}

std::string InNetwork::formula(bool travels) const {
    if (lanes() > 1) return "";
    if (tree_.switches() > 1) return travels ? "2Σ(α' + cβ') + (m - 1)cβ" : "(m + 2h - 1)(α' + cβ')";
    return travels ? "α + (m + 1)cβ" : "(m + 1)(α/2 + cβ)";
}

std::shared_ptr<const CollectiveAlgorithm> algorithms::in_network(const AlgorithmSpec& spec, std::uint32_t ranks) {
    return std::make_shared<InNetwork>(SwitchTree{std::vector<std::uint32_t>(ranks, 0), {0}, {0}, {}},
                                       spec.segment_bytes);
}

}  // namespace syncline
