#include "sim/collective/nvls.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/collective/data_flow.hpp"
#include "sim/collective/factories.hpp"

namespace syncline {

namespace {

constexpr std::uint32_t most_heads = 32;

class Nvls : public CollectiveAlgorithm, public WithoutBlocks {
public:
    Nvls(std::uint32_t heads, std::uint32_t nodes) : heads_(heads), nodes_(nodes) {
        if (nodes > 1) tree_ = make_algorithm({.name = "nccl-tree"}, nodes);
    }

    std::uint32_t lanes() const override { return tree_ ? 1 + tree_->lanes() : 1; }
    std::uint32_t slices() const override { return tree_ ? tree_->slices() : 1; }

    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const override {
        Program program{{nvls_load(bytes, heads_), heads_ > 1 ? heads_ - 1 : 1}, {}};
        if (ranks == 1 || heads_ == 1) return program;
        std::vector<std::uint32_t> here(heads_);
        std::iota(here.begin(), here.end(), rank / heads_ * heads_);
        program.steps.push_back(with_all_others(here, rank % heads_));
        return program;
    }

    Program lane_program(std::uint32_t lane, std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes,
                         std::uint32_t round) const override {
        if (lane == 0) return program(rank, ranks, bytes, round);
        const std::uint32_t own = rank % heads_;
        const Partition parts{bytes, heads_};
        Program program = tree_->lane_program(lane - 1, rank / heads_, nodes_, parts.size(own), round);
        program.offset += parts.offset(own);
        ++program.channel;
        for (Step& step : program.steps) {
            if (step.after_lane != Step::no_lane) ++step.after_lane;
            for (std::vector<Message>* messages : {&step.sends, &step.receives})
                for (Message& message : *messages) message.peer = message.peer * heads_ + own;
        }
        return program;
    }

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        if (ranks == 1) return 0;
        if (tree_) return std::nullopt;
        return message.alpha_s + static_cast<double>(nvls_load(bytes, heads_)) * message.beta_s_per_B;
    }

    std::string formula(bool) const override { return tree_ ? "" : "α + S(1 + 1/N)β"; }

private:
    const std::uint32_t heads_, nodes_;
    std::shared_ptr<const CollectiveAlgorithm> tree_;  ///< among the nodes; null: one node
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> nvls(const std::vector<std::uint32_t>& node_ranks) {
    return std::make_shared<Nvls>(node_ranks.front(), static_cast<std::uint32_t>(node_ranks.size()));
}

std::uint64_t nvls_load(std::uint64_t bytes, std::uint32_t ranks) {
    const std::uint32_t parts = std::min(ranks, most_heads);
    return bytes + (bytes + parts - 1) / parts;
}

Step with_all_others(const std::vector<std::uint32_t>& peers, std::uint32_t own) {
    Step step;
    const auto all = static_cast<std::uint32_t>(peers.size());
    for (std::uint32_t distance = 1; distance < all; ++distance) {
        step.sends.push_back({peers[(own + distance) % all], distance - 1});
        step.receives.push_back({peers[(own + all - distance) % all], distance - 1});
    }
    return step;
}

double nvls_chunk_bytes(std::uint64_t bytes, std::uint32_t heads, std::uint32_t channels) {
    constexpr double most = 128 * 1024;
    const double round = most * heads * channels, size = static_cast<double>(bytes);
    if (size < 2 * round) return most / 8;
    if (size < 8 * round) return most / 4;
    return size < 64 * round ? most / 2 : most;
}

}  // namespace syncline
