#include "sim/lowering/pipeline.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "tests/catch.hpp"

using namespace syncline;

namespace {

using Orders = std::vector<std::vector<Slot>>;

Orders orders_of(const Pipeline& pipeline) {
    Orders orders;
    for (std::uint32_t stage = 0; stage < pipeline.stages; ++stage) orders.push_back(slots(pipeline, stage));
    return orders;
}

/// Calls `check` for pipelines of every schedule: stages that do and do not divide the microbatches, fewer
/// microbatches than stages.
void for_all(const std::function<void(const Pipeline&)>& check) {
    for (std::int64_t p = 1; p <= 9; ++p) {
        for (const PipelineSchedule schedule : {PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b})
            for (const std::int64_t m : {1, 2, 3, 4, 5, 7, 8, 9, 16, 17}) check({p, m, 1, schedule, {}});
        for (std::int64_t v = 1; v <= 5; ++v)
            for (const std::int64_t groups : {1, 2, 3, 4, 7})
                check({p, groups * p, v, PipelineSchedule::interleaved, {}});
    }
}

std::string text(const Pipeline& pipeline) {
    return "schedule " + std::to_string(static_cast<int>(pipeline.schedule)) + ", p " +
           std::to_string(pipeline.stages) + ", m " + std::to_string(pipeline.micro_batches) + ", v " +
           std::to_string(pipeline.virtual_stages);
}

/// Returns the time at which each stage ends, for given times of the forward and the backward pass of a part of the
/// model and free transfers. Nothing if the stages deadlock. Independent of schedules: a stage runs its slots in order;
/// a forward pass waits for that of the previous part, a backward pass for that of the next part, and in the last part
/// for the forward pass.
std::optional<std::vector<std::int64_t>> ends(const Pipeline& pipeline, const Orders& orders, std::int64_t forward,
                                              std::int64_t backward) {
    const std::int64_t p = pipeline.stages, parts = p * pipeline.virtual_stages;
    std::map<std::tuple<bool, std::int64_t, std::uint32_t>, std::int64_t> done;  // forward, part, microbatch
    std::vector<std::int64_t> now(orders.size(), 0);
    std::vector<std::size_t> next(orders.size(), 0);
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t stage = 0; stage < orders.size(); ++stage) {
            for (; next[stage] < orders[stage].size(); ++next[stage]) {
                const Slot& slot = orders[stage][next[stage]];
                const std::int64_t part = slot.virtual_rank * p + static_cast<std::int64_t>(stage);
                const std::int64_t step = slot.forward ? -1 : 1;
                const bool edge = slot.forward ? part == 0 : part == parts - 1;
                auto needed = edge ? done.find({true, part, slot.micro_batch})
                                   : done.find({slot.forward, part + step, slot.micro_batch});
                if (!(edge && slot.forward)) {
                    if (needed == done.end()) break;
                    now[stage] = std::max(now[stage], needed->second);
                }
                now[stage] += slot.forward ? forward : backward;
                done[{slot.forward, part, slot.micro_batch}] = now[stage];
                moved = true;
            }
        }
    }
    for (std::size_t stage = 0; stage < orders.size(); ++stage)
        if (next[stage] < orders[stage].size()) return std::nullopt;
    return now;
}

}  // namespace

TEST_CASE("a stage runs every pass once, and a backward pass after its forward pass", "[memory]") {
    for_all([](const Pipeline& pipeline) {
        INFO(text(pipeline));
        for (const auto& order : orders_of(pipeline)) {
            std::set<std::pair<std::uint32_t, std::uint32_t>> forward, backward;
            for (const Slot& slot : order) {
                const std::pair pass{slot.virtual_rank, slot.micro_batch};
                REQUIRE((slot.virtual_rank < pipeline.virtual_stages && slot.micro_batch < pipeline.micro_batches));
                if (slot.forward) {
                    REQUIRE(forward.insert(pass).second);
                } else {
                    REQUIRE(forward.count(pass) == 1);
                    REQUIRE(backward.insert(pass).second);
                }
            }
            REQUIRE(backward.size() == static_cast<std::size_t>(pipeline.virtual_stages * pipeline.micro_batches));
            REQUIRE(forward.size() == backward.size());
        }
    });
}

TEST_CASE("equal stages take m(f + b) + (p-1)(f + b)/v and idle (p-1)/(vm + p-1) of it", "[memory]") {
    for (const auto& [f, b] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1}, {1, 2}, {3, 1}, {5, 7}}) {
        for_all([f = f, b = b](const Pipeline& pipeline) {
            INFO(text(pipeline) << ", f " << f << ", b " << b);
            const std::int64_t p = pipeline.stages, m = pipeline.micro_batches, v = pipeline.virtual_stages;
            // Times of a part: a stage's f and b are v times as long.
            const auto end = ends(pipeline, orders_of(pipeline), f, b);
            REQUIRE(end);
            const std::int64_t total = *std::max_element(end->begin(), end->end());
            REQUIRE(total == m * v * (f + b) + (p - 1) * (f + b));
            // Every stage computes m·v·(f + b) of it.
            REQUIRE((total - m * v * (f + b)) * (v * m + p - 1) == (p - 1) * total);
        });
    }
}

TEST_CASE("a schedule that waits for itself is found", "[memory]") {
    const Pipeline pipeline{2, 1, 1, PipelineSchedule::one_f_one_b, {}};
    // The first stage waits for the backward pass before it has sent anything to the second stage.
    CHECK_FALSE(ends(pipeline, {{{0, 0, false}, {0, 0, true}}, {{0, 0, true}, {0, 0, false}}}, 1, 1));
}

TEST_CASE("gpipe holds all microbatches, and 1F1B at most as many as there are stages to the end", "[memory]") {
    for_all([](const Pipeline& pipeline) {
        INFO(text(pipeline));
        const std::int64_t p = pipeline.stages, m = pipeline.micro_batches, v = pipeline.virtual_stages;
        for (std::uint32_t s = 0; s < p; ++s) {
            const std::int64_t peak = peak_passes(pipeline, s);
            if (pipeline.schedule == PipelineSchedule::gpipe)
                REQUIRE(peak == m);
            else if (v == 1)
                REQUIRE(peak == std::min(p - s, m));
            else  // Megatron-LM's warm-up and the forward pass that follows it
                REQUIRE(peak == std::min((p - s - 1) * 2 + (v - 1) * p + 1, m * v));
        }
    });
}

TEST_CASE("the schedules of two stages equal those written out", "[memory]") {
    const auto f = [](std::uint32_t micro_batch, std::uint32_t chunk = 0) { return Slot{chunk, micro_batch, true}; };
    const auto b = [](std::uint32_t micro_batch, std::uint32_t chunk = 0) { return Slot{chunk, micro_batch, false}; };
    using Order = std::vector<Slot>;
    const Pipeline gpipe{2, 3, 1, PipelineSchedule::gpipe, {}};
    CHECK(slots(gpipe, 0) == Order{f(0), f(1), f(2), b(0), b(1), b(2)});
    CHECK(slots(gpipe, 1) == slots(gpipe, 0));
    const Pipeline one{2, 3, 1, PipelineSchedule::one_f_one_b, {}};
    CHECK(slots(one, 0) == Order{f(0), f(1), b(0), f(2), b(1), b(2)});
    CHECK(slots(one, 1) == Order{f(0), b(0), f(1), b(1), f(2), b(2)});
    // By hand from get_pp_rank_microbatches and get_schedule_table of Megatron-LM: 4 and 2 passes of warm-up.
    const Pipeline two{2, 4, 2, PipelineSchedule::interleaved, {}};
    CHECK(slots(two, 0) == Order{f(0), f(1), f(0, 1), f(1, 1), f(2), b(0, 1), f(3), b(1, 1), f(2, 1), b(0), f(3, 1),
                                 b(1), b(2, 1), b(3, 1), b(2), b(3)});
    CHECK(slots(two, 1) == Order{f(0), f(1), f(0, 1), b(0, 1), f(1, 1), b(1, 1), f(2), b(0), f(3), b(1), f(2, 1),
                                 b(2, 1), f(3, 1), b(3, 1), b(2), b(3)});
}

TEST_CASE("interleaving with one virtual stage is 1F1B", "[memory]") {
    for (std::int64_t p = 1; p <= 6; ++p)
        for (const std::int64_t m : {p, 3 * p})
            for (std::uint32_t s = 0; s < p; ++s)
                CHECK(slots({p, m, 1, PipelineSchedule::interleaved, {}}, s) ==
                      slots({p, m, 1, PipelineSchedule::one_f_one_b, {}}, s));
}

TEST_CASE("pipelines without a possible schedule are refused", "[memory]") {
    const auto refused = [](const Pipeline& pipeline, std::uint32_t stage) {
        CHECK_THROWS_AS(slots(pipeline, stage), std::logic_error);
        CHECK_THROWS_AS(peak_passes(pipeline, stage), std::logic_error);
    };
    refused({4, 6, 2, PipelineSchedule::interleaved, {}}, 0);
    refused({4, 3, 2, PipelineSchedule::interleaved, {}}, 0);
    refused({4, 8, 2, PipelineSchedule::gpipe, {}}, 0);
    refused({4, 8, 2, PipelineSchedule::one_f_one_b, {}}, 0);
    refused({4, 8, 1, PipelineSchedule::one_f_one_b, {}}, 4);
    refused({4, 0, 1, PipelineSchedule::one_f_one_b, {}}, 0);
    refused({4, 8, 0, PipelineSchedule::interleaved, {}}, 0);
}
