#include "sim/analysis/failing_run.hpp"

#include <cmath>
#include <limits>

#include "sim/analysis/checkpoint_interval.hpp"
#include "sim/platform/cluster.hpp"
#include "tests/catch.hpp"
#include "tests/unit/layers.hpp"

// Checkpoints of models beside published sizes and times, and what a plan and a platform have to say.

using namespace syncline;

namespace {

constexpr double minute = 60, hour = 3600, day = 24 * hour;

/// One rank with all of a model: a checkpoint does not depend on how it is divided.
Lowered of_model(const std::string& name, const Plan& plan, const Cluster& cluster) {
    return lower(cluster, test::shipped_model(name), plan);
}

Plan with_adam() {
    Plan plan;
    plan.batch_per_rank = 1;
    plan.optimizer = Optimizer::adam;
    plan.run.samples = 1e6;
    return plan;
}

FailingRun run_of(const Lowered& training, double iterations = 1e5, double iteration_s = 1) {
    const std::optional<FailingRun> run = failing_run(training, 1, iterations, iteration_s);
    REQUIRE(run);
    return *run;
}

}  // namespace

TEST_CASE("checkpoints of models take published times") {
    Cluster cluster = star_cluster(1, 1e9, 1e-6);
    Plan plan = with_adam();
    plan.run.checkpoint.given = true;

    // BLOOM: 2.3 TB, written at 57.5 GB/s in 40 s (BigScience's chronicles). bf16 weights, fp32 weights and moments are
    // 14 B per parameter, of 176.2 billion; the published 2.3 TB are 2.24 TiB, or 13.1 B per parameter.
    cluster.storage.write_Bps = 57.5e9;
    plan.precision.weights = 2;
    const FailingRun bloom = run_of(of_model("bloom-176b", plan, cluster));
    CHECK(*bloom.bytes == Approx(14 * 176.2e9).epsilon(1e-3));
    CHECK(*bloom.bytes == Approx(2.3e12).epsilon(0.08));
    CHECK(bloom.write_s == Approx(40).epsilon(0.08));
    CHECK(bloom.blocking_s == bloom.write_s);

    // MT-NLG to storage of 20 Gbit/s: 42 min (Z. Wang et al., "GEMINI", SOSP 2023). fp32 weights and moments: 12 B.
    cluster.storage.write_Bps = 20e9 / 8;
    plan.precision.weights = 4;
    const FailingRun mt_nlg = run_of(of_model("megatron-529.6b", plan, cluster));
    CHECK(mt_nlg.write_s == Approx(42 * minute).epsilon(0.02));

    // SGD with momentum keeps one value beside 4 B of weights, `none` nothing.
    plan.optimizer = Optimizer::momentum;
    const double parameters = static_cast<double>(test::shipped_model("gpt-2").parameters());
    CHECK(*run_of(of_model("gpt-2", plan, cluster)).bytes == 8 * parameters);
    plan.optimizer = Optimizer::none;
    CHECK(*run_of(of_model("gpt-2", plan, cluster)).bytes == 4 * parameters);
}

TEST_CASE("a run with failures: interval, blocking and restart are the plan's") {
    Cluster cluster = star_cluster(1, 1e9, 1e-6);
    cluster.failures.node_s = 6 * hour;
    Plan plan = with_adam();
    Checkpointing& checkpoint = plan.run.checkpoint;
    checkpoint.given = true;
    checkpoint.write_s = 5 * minute;
    const FailingRun optimal = run_of(of_model("gpt-2", plan, cluster));
    CHECK(optimal.mtbf_s == Approx(6 * hour));
    CHECK(!optimal.bytes);
    CHECK(optimal.restart_s == 10 * minute);
    CHECK(optimal.young_s == Approx(60 * minute));
    CHECK(optimal.daly_s == Approx(57 * minute).epsilon(0.01));
    CHECK(optimal.interval_s == std::round(optimal.daly_s));  // in iterations of 1 s
    CHECK(optimal.goodput->mean.total_s() == Approx(optimal.expected_s).epsilon(5e-3));

    checkpoint.interval_s = 100;
    CHECK(run_of(of_model("gpt-2", plan, cluster), 1e5, 30).interval_s == 90);    // three iterations
    CHECK(run_of(of_model("gpt-2", plan, cluster), 1e5, 900).interval_s == 900);  // at least one
    CHECK(run_of(of_model("gpt-2", plan, cluster), 2, 30).interval_s == 60);      // at most all

    checkpoint.interval_s = 0;
    checkpoint.overlapped = true;
    checkpoint.snapshot_s = 0;
    const FailingRun overlapped = run_of(of_model("gpt-2", plan, cluster));
    CHECK(overlapped.blocking_s == 0);
    CHECK(overlapped.interval_s == 5 * minute);  // as soon as the one before is complete
    CHECK(overlapped.goodput->mean.total_s() < optimal.goodput->mean.total_s());

    // By default a snapshot is the copy of the device's state to the host: 14 B per parameter at 1 GB/s.
    checkpoint.snapshot_s.reset();
    cluster.device.host_link_Bps = 1e9;
    const double parameters = static_cast<double>(test::shipped_model("gpt-2").parameters());
    CHECK(run_of(of_model("gpt-2", plan, cluster)).blocking_s == Approx(14 * parameters / 1e9).epsilon(1e-9));
}

TEST_CASE("a run without failures has none, and a platform's failures are not lost without a word") {
    Cluster cluster = star_cluster(1, 1e9, 1e-6);
    const Plan plan = with_adam();
    CHECK(!failing_run(of_model("gpt-2", plan, cluster), 1, 1e5, 1));
    CHECK(failures_note(of_model("gpt-2", plan, cluster), 1, {}).empty());

    Plan written = plan;
    written.run.checkpoint.given = true;
    written.run.checkpoint.write_s = 60;
    const FailingRun free = run_of(of_model("gpt-2", written, cluster));
    CHECK(std::isinf(free.mtbf_s));
    CHECK(free.interval_s == 1e5);  // only the last one
    CHECK(free.goodput->mean.total_s() == 1e5 + 60);
    written.run.checkpoint.write_s = 0;
    CHECK(run_of(of_model("gpt-2", written, cluster)).goodput->mean.total_s() == 1e5);

    cluster.failures.node_s = 100 * day;
    const Lowered unknown = of_model("gpt-2", plan, cluster);
    CHECK(!failing_run(unknown, 1, 1e5, 1));
    CHECK(failures_note(unknown, 1, {}).find("write_time") != std::string::npos);
    // The platform's storage suffices.
    cluster.storage.write_Bps = 1e9;
    CHECK(failing_run(of_model("gpt-2", plan, cluster), 1, 1e5, 1));

    // Restarts of 10 min last 10 e^10 and e^20 times, so that the run takes some decades, or more than the universe.
    for (const auto& [node_s, words] :
         {std::pair{60., "too many to sample: by Daly's formula"}, {30., "would not end"}}) {
        cluster.failures.node_s = node_s;
        const Lowered failing = of_model("gpt-2", plan, cluster);
        const FailingRun endless = run_of(failing);
        CHECK(!endless.goodput);
        CHECK(failures_note(failing, 1, endless).find(words) != std::string::npos);
    }
}
