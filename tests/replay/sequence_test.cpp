#include <algorithm>
#include <string>

#include "sim/analysis/experiment.hpp"
#include "sim/config/scenario.hpp"
#include "tests/catch.hpp"

using namespace syncline;

namespace {

Result gpt_2(std::int64_t rows, bool sequence, Overlap overlap, const Saved& saved = {}) {
    const std::string root = SYNCLINE_SOURCE_DIR;
    config::Scenario scenario = config::load_scenario(
        root + "/scenarios/zhang-2021.yaml",
        {"workload=" + root + "/workloads/gpt-2.yaml", "platform=" + root + "/platforms/selene.yaml", "expect=~"});
    config::Variant& variant = scenario.variants.front();
    Plan plan;
    plan.ranks = rows;
    plan.batch_per_rank = 3;
    plan.iterations = 2;
    plan.overlap = overlap;
    plan.compute = ComputeKind::roofline;
    plan.parallelism.layout.rows = rows;
    plan.parallelism.sequence = sequence;
    plan.saved = saved;
    return simulate(lower(variant.cluster, variant.model, plan));
}

}  // namespace

TEST_CASE("sequence parallelism gathers inputs once more than all-reduces do, and divides what is kept between layers",
          "[memory]") {
    for (const std::int64_t rows : {2, 3, 4, 6}) {
        CAPTURE(rows);
        // Bytes of the activations between layers: 3 samples of 1024 positions of 768 elements of 2 B. A ring's
        // allgather or reduce-scatter moves them N-1 times, an all-reduce twice as often.
        const std::uint64_t moved = static_cast<std::uint64_t>(rows - 1) * 3 * 1024 * 768 * 2;
        const Result whole = gpt_2(rows, false, Overlap::wait_free), shared = gpt_2(rows, true, Overlap::wait_free);
        // 24 halves: two all-reduces. Embedding: one forward. Head: one backward.
        CHECK(whole.bytes_sent == (24 * 4 + 2 + 2) * moved);
        // Halves: inputs gathered in the forward pass and for the gradients of the weights, outputs scattered, and both
        // in reverse.
        CHECK(shared.bytes_sent == (24 * 5 + 2 + 3) * moved);
        CHECK(shared.time.compute_s < whole.time.compute_s);
        CHECK(shared.memory.activations_bytes < whole.memory.activations_bytes);
        // Where gathered inputs are kept, they are not gathered once more: each half, and the head, keeps one whole.
        const Result kept = gpt_2(rows, true, Overlap::wait_free, {.gathered = true});
        CHECK(kept.bytes_sent == whole.bytes_sent);
        CHECK(kept.time.iteration_s <= shared.time.iteration_s * (1 + 1e-9));
        const double inputs = 25.0 * static_cast<double>(moved) / static_cast<double>(rows);
        CHECK(kept.memory.activations_bytes == Approx(shared.memory.activations_bytes + inputs).margin(64));
        const Result blocking = gpt_2(rows, true, Overlap::none);
        CHECK(blocking.bytes_sent == shared.bytes_sent);
        CHECK(blocking.time.iteration_s >= shared.time.iteration_s * (1 - 1e-9));
    }
}
