#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/analysis/experiment.hpp"
#include "tests/catch.hpp"
#include "tests/replay/random_experts.hpp"
#include "tests/replay/random_plans.hpp"
#include "tests/replay/same_result.hpp"
#include "tests/sanitized.hpp"

// Compares random trainings, folded and message by message: the difference is within folding's own error bound.

using namespace syncline;

namespace {

double sum_of(const std::vector<std::uint64_t>& bytes) {
    return static_cast<double>(std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}));
}

struct Seen {
    std::size_t plans = 0, folded = 0, bounded = 0;
    double worst = 0;  ///< relative difference

    void check(RandomPlan random) {
        INFO(random.words());
        ++plans;
        try {
            random.plan.fidelity = Fidelity::message;
            const ReplayedIteration all = replay_iteration(lower(random.cluster, random.model, random.plan));
            random.plan.fidelity = Fidelity::folded;
            const ReplayedIteration some = replay_iteration(lower(random.cluster, random.model, random.plan));
            const double off_s = std::abs(some.time.iteration_s - all.time.iteration_s);
            CHECK(off_s <= some.folded.error_s);
            check_same_bytes(all.timeline, some.timeline);
            // Bytes are those of a mean iteration, and rounded, where peers of gossip change.
            const double rounding =
                random.plan.exchange == ExchangeKind::gossip ? static_cast<double>(random.plan.ranks) : 0;
            for (const Timeline* timeline : {&all.timeline, &some.timeline})
                for (const std::vector<std::uint64_t>& bytes : {timeline->sent_by, timeline->received_by})
                    CHECK(std::abs(sum_of(bytes) - static_cast<double>(timeline->bytes_sent)) <= rounding);
            folded += some.timeline.messages_folded > 0 || some.timeline.iterations_folded > 0;
            bounded += some.folded.error_s > 0;
            if (all.time.iteration_s > 0) worst = std::max(worst, off_s / all.time.iteration_s);
        } catch (const std::exception& error) {  // the process died, or it deadlocked
            FAIL_CHECK(error.what());
        }
    }

    void check(std::uint64_t first, std::uint64_t end) {
        for (std::uint64_t seed = first; seed < end; ++seed) check(random_plan(seed));
        WARN(fmt::format("{} plans, {} of them folded, {} with an error; worst relative difference {:.1e}", plans,
                         folded, bounded, worst));
        if (plans >= 40) CHECK(folded > plans / 16);  // otherwise little would be tested
    }
};

}  // namespace

TEST_CASE("folding: rows in different microbatches of one exchange are folded correctly", "[memory]") {
    Seen().check(micro_batches_of_rows());
}

TEST_CASE("folding: random plans of all kinds are folded correctly") {
#if defined(SYNCLINE_SANITIZED)
    Seen().check(0, 8);
#else
    Seen().check(0, 64);
#endif
}

TEST_CASE("folding: random plans whose messages are sprayed over all ways are folded correctly") {
    Seen seen;
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        RandomPlan random = random_plan(seed);
        if (random.cluster.network != NetworkModel::exact) continue;
        random.cluster.fabric.routing.policy = Routing::Policy::spray;
        seen.check(random);
    }
    CHECK(seen.plans > 12);
}

TEST_CASE("folding: random plans with experts, whose tokens are exchanged in every way, are folded correctly") {
    Seen seen;
    int once = 0, limited = 0, narrow = 0, paired = 0;
#if defined(SYNCLINE_SANITIZED)
    constexpr std::uint64_t worlds = 16;
#else
    constexpr std::uint64_t worlds = 200;
#endif
    for (std::uint64_t seed = 0; seed < worlds; ++seed) {
        const RandomPlan random = random_expert_plan(seed);
        const ExpertGroups& groups = random.plan.parallelism.experts;
        once += groups.exchange == ExpertExchange::deduplicated;
        limited += groups.token_nodes > 0;
        narrow += groups.fp8_dispatch;
        paired += random.plan.parallelism.pipeline.pairs;
        seen.check(random);
    }
    WARN(fmt::format("{} folded, {} with an error, worst {:.1e}; deduplicated {}, limited {}, FP8 {}, pairs {}",
                     seen.folded, seen.bounded, seen.worst, once, limited, narrow, paired));
    CHECK(seen.folded > seen.plans / 4);
    for (const int number : {once, limited, narrow, paired}) CHECK(static_cast<std::uint64_t>(number) > worlds / 16);
}

// A thousand more, in parts that run concurrently.
TEST_CASE("folding: a thousand random plans, first part", "[.][slow]") {
    Seen().check(1000, 1250);
}

TEST_CASE("folding: a thousand random plans, second part", "[.][slow]") {
    Seen().check(1250, 1500);
}

TEST_CASE("folding: a thousand random plans, third part", "[.][slow]") {
    Seen().check(1500, 1750);
}

TEST_CASE("folding: a thousand random plans, fourth part", "[.][slow]") {
    Seen().check(1750, 2000);
}
