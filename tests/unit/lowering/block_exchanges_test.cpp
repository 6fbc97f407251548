#include "sim/lowering/lowered.hpp"
#include "sim/workload/experts.hpp"
#include "sim/workload/transformer.hpp"
#include "tests/catch.hpp"

// Exchanges of today's layers among the ranks that share them.

using namespace syncline;

namespace {

constexpr std::int64_t s = 16, h = 24;

Lowered lowered_with(const std::vector<Layer>& layers, std::int64_t rows, bool sequence) {
    Model model;
    model.element_bytes = 2;
    model.layers.push_back(embedding("embedding", {.vocabulary = 64, .positions = s, .width = h}));
    model.layers.insert(model.layers.end(), layers.begin(), layers.end());
    Plan plan;
    plan.ranks = rows;
    plan.batch_per_rank = 3;
    plan.parallelism.layout.rows = rows;
    plan.parallelism.sequence = sequence;
    return lower(star_cluster(rows, 1e9, 1e-6), model, plan);
}

/// Returns the number of exchanges of layers 1 to the last and the bytes of each, which must be the same.
std::pair<std::size_t, std::uint64_t> exchanges_of(const Lowered& lowered) {
    std::pair<std::size_t, std::uint64_t> result{0, 0};
    for (std::size_t i = 1; i < lowered.arrangement.layers.size(); ++i) {
        const LayerExchanges& all = lowered.arrangement.layers[i].exchanges;
        for (const auto* list :
             {&all.before_forward, &all.after_forward, &all.before_backward, &all.beside_backward, &all.after_backward})
            for (const ActivationExchange& exchange : *list) {
                CHECK((result.first == 0 || result.second == exchange.bytes.front()));
                result = {result.first + 1, exchange.bytes.front()};
            }
    }
    return result;
}

}  // namespace

TEST_CASE("a parallel block has half of the exchanges of its halves one after the other", "[memory]") {
    // B. Wang, A. Komatsuzaki, "GPT-J-6B", 2021: one all-reduce forward and one backward, in place of two each.
    const Attention first{.positions = s, .width = h, .heads = 12};
    const FeedForward second{.positions = s, .width = h, .hidden = 96, .norm = Norm::none};
    for (const std::int64_t rows : {2, 3, 4}) {
        for (const bool sequence : {false, true}) {
            const auto apart =
                exchanges_of(lowered_with({attention("a", first), feed_forward("f", second)}, rows, sequence));
            const auto together = exchanges_of(lowered_with({parallel_block("b", {first, second})}, rows, sequence));
            CAPTURE(rows, sequence);
            CHECK(together.first == (sequence ? 5 : 2));
            CHECK(apart.first == 2 * together.first);
            CHECK(together.second == apart.second);
            CHECK(together.second == 3 * s * h * 2);
        }
    }
}

TEST_CASE("ranks that share the hidden units of experts exchange what they exchange for a feed-forward layer",
          "[memory]") {
    const Experts choice{.positions = s, .width = h, .hidden = 96, .experts = 5, .top_k = 2};
    const FeedForward plain{.positions = s, .width = h, .hidden = 96};
    for (const std::int64_t rows : {2, 4}) {
        const Lowered lowered = lowered_with({experts("e", choice)}, rows, false);
        CHECK(exchanges_of(lowered) == exchanges_of(lowered_with({feed_forward("f", plain)}, rows, false)));
        CHECK(lowered.arrangement.layers[1].share.fraction == 1.0 / static_cast<double>(rows));
    }
}
