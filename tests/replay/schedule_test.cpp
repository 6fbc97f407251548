#include "tests/catch.hpp"
#include "tests/replay/training_worlds.hpp"
#include "tests/whole_model_buckets.hpp"

#include <algorithm>
#include <set>

#include "sim/iteration/exchange.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/lowering/buckets.hpp"
#include "sim/taskgraph/ticks.hpp"

// Order of buckets, and the layers that wait for them: iterations that overlap, compared with times worked out by hand
// and with list scheduling on one machine.

using namespace syncline;
using namespace syncline::test;

namespace {

Plan plan_of(Overlap overlap, Schedule schedule, double partition_bytes = 0) {
    Plan plan;
    plan.ranks = 2;
    plan.batch_per_rank = 1;
    plan.input_copy = InputCopy::none;
    plan.overlap = overlap;
    plan.schedule = schedule;
    plan.partition_bytes = partition_bytes;
    return plan;
}

/// Returns the time from the start of one backward pass to that of the next, for identical ranks and one exchange at a
/// time that takes `cost_s[bucket]`. `ahead_s`: time by which its forward pass began earlier; set to that of the next.
double list_schedule(const std::vector<Bucket>& buckets, const std::vector<double>& cost_s,
                     const std::vector<LayerTime>& times, const Plan& plan, double& ahead_s) {
    double forward_s = 0, backward_s = 0;
    for (const LayerTime& time : times) forward_s += time.forward_s, backward_s += time.backward_s();
    std::vector<double> end_s(buckets.size(), 0);
    std::vector<std::size_t> waiting(buckets.size());
    for (std::size_t b = 0; b < buckets.size(); ++b) waiting[b] = b;
    const std::vector<std::uint32_t> drawn = coordinate(buckets, plan).urgency;
    double now_s = 0;
    while (!waiting.empty()) {
        // Ticks count from the iteration's start, and a forward pass that waits for exchanges delays gradients.
        const auto released_s = [&](std::size_t b) {
            const double ready_s = buckets[b].ready_s - forward_s, cycle_s = plan.fusion.cycle_s;
            return cycle_s > 0 ? next_tick(ahead_s + ready_s, cycle_s) - ahead_s : ready_s;
        };
        const auto earliest = *std::min_element(waiting.begin(), waiting.end(),
                                                [&](auto a, auto b) { return released_s(a) < released_s(b); });
        now_s = std::max(now_s, released_s(earliest));
        auto next = waiting.end();
        for (auto b = waiting.begin(); b != waiting.end(); ++b) {
            if (released_s(*b) > now_s) continue;
            const bool better =
                next == waiting.end() ||
                (plan.schedule == Schedule::priority && buckets[*b].layers.back() < buckets[*next].layers.back()) ||
                (plan.schedule == Schedule::random && drawn[*b] < drawn[*next]);
            if (better) next = b;
        }
        now_s += cost_s[*next];
        end_s[*next] = now_s;
        waiting.erase(next);
    }
    double at_s = backward_s;
    if (plan.overlap != Overlap::across_iterations) return std::max(at_s, now_s) + forward_s;
    double begun_s = 0;
    for (std::uint32_t layer = 0; layer < times.size(); ++layer) {
        for (std::size_t b = 0; b < buckets.size(); ++b) {
            const auto& layers = buckets[b].layers;
            if (std::find(layers.begin(), layers.end(), layer) != layers.end()) at_s = std::max(at_s, end_s[b]);
        }
        if (layer == 0) begun_s = at_s;
        at_s += times[layer].forward_s;
    }
    ahead_s = at_s - begun_s;
    return at_s;
}

/// Returns the same once iterations are alike: the first forward pass waits for nothing.
double list_schedule(const std::vector<Bucket>& buckets, const std::vector<double>& cost_s,
                     const std::vector<LayerTime>& times, const Plan& plan) {
    double ahead_s = 0, iteration_s = 0;
    for (const LayerTime& time : times) ahead_s += time.forward_s;
    for (std::int64_t i = 0; i < plan.iterations; ++i)
        iteration_s = list_schedule(buckets, cost_s, times, plan, ahead_s);
    return iteration_s;
}

}  // namespace

TEST_CASE("priority, pieces and overlap across iterations give three layers the times computed by hand", "[memory]") {
    // Two ranks; a ring takes 4 us and 1 ms for each MB. Forward 1 ms each, backward 1, 2 and 2 ms from the first
    // layer.
    const Cluster cluster = plain_star(1e9, 2e-6);
    Model model;
    model.layers = {layer_of(1'000'000, 1000), layer_of(4'000'000, 1000), layer_of(3'000'000, 1000)};
    const auto seconds = [&](Overlap overlap, Schedule schedule, double partition_bytes) {
        return simulate(lower(cluster, model, plan_of(overlap, schedule, partition_bytes))).time.iteration_s;
    };
    // In ms from the start of the backward pass: gradients are ready at 2, 4 and 5. One after the other, exchanges take
    // 2 to 5.004, then to 9.008, then to 10.012; then the forward pass of 3 begins.
    const double in_order_s = 13.012e-3;
    CHECK(std::abs(seconds(Overlap::wait_free, Schedule::fifo, 0) - in_order_s) < 1e-9);
    CHECK(std::abs(seconds(Overlap::wait_free, Schedule::priority, 0) - in_order_s) < 1e-9);
    CHECK(std::abs(seconds(Overlap::across_iterations, Schedule::fifo, 0) - in_order_s) < 1e-9);
    // By priority the first layer's exchange precedes the second's, at 5.004 to 6.008, and so does its forward pass;
    // the second's ends at 10.012, when two forward layers are left.
    CHECK(std::abs(seconds(Overlap::across_iterations, Schedule::priority, 0) - 12.012e-3) < 1e-9);
    // In pieces of 1 MB of 1.004 each: two of the last layer to 4.008, one of the middle to 5.012, the first layer's to
    // 6.016, three of the middle to 9.028, the last to 10.032, when one forward layer is left.
    CHECK(std::abs(seconds(Overlap::across_iterations, Schedule::priority, 1e6) - 11.032e-3) < 1e-9);
    // In order, pieces only add latencies: eight of 1.004 from 2 on.
    CHECK(std::abs(seconds(Overlap::across_iterations, Schedule::fifo, 1e6) - 13.032e-3) < 1e-9);
}

TEST_CASE("on a fast network overlapping iterations take their computation and the first layer's exchange",
          "[memory]") {
    const Cluster cluster = plain_star(1e12, 2e-9);
    Model model;
    model.layers = {layer_of(1'000'000, 1000), layer_of(1'000'000, 1000)};
    const Result result = simulate(lower(cluster, model, plan_of(Overlap::across_iterations, Schedule::priority)));
    // Forward 2 ms, backward 3, and 4 ns and 1 us between the first layer's backward pass and its forward pass.
    CHECK(std::abs(result.time.iteration_s - 5.001004e-3) < 1e-12);
    CHECK(result.time.compute_s == Approx(5e-3));
    CHECK(result.time.communication_s == Approx(2 * 1.004e-6));
    CHECK(result.time.exposed_communication_s == Approx(1.004e-6));
    CHECK(!result.closed_form.iteration_time_s);
    CHECK(result.closed_form.formula.find("overlapping iterations") != std::string::npos);
}

TEST_CASE("all-reduce iterations equal list scheduling on one machine, with any overlap, order, fusion and partition",
          "[memory]") {
    std::mt19937 random(23);
    for (int round = 0; round < 48; ++round) {
        Plan plan = plan_of(round % 3 == 0 ? Overlap::wait_free : Overlap::across_iterations,
                            round % 2 == 0   ? Schedule::priority
                            : round % 8 == 7 ? Schedule::random
                                             : Schedule::fifo);
        plan.ranks = 2 + static_cast<std::int64_t>(random() % 6);
        // Blocks of a ring are all alike, so that ranks finish at the same instant.
        const std::int64_t unit = 4 * plan.ranks;
        const Model model =
            random_layers(random, 1 + random() % 12, unit, static_cast<std::uint32_t>(200'000 / plan.ranks));
        const double alpha_s = 3e-6, bandwidth_Bps = round % 5 == 0 ? 1e10 : 1e9;
        const Cluster cluster = plain_star(bandwidth_Bps, alpha_s);
        if (round % 4 == 1) plan.fusion = {400e3, 0, 100e3, Full::after};
        if (round % 4 == 2) plan.fusion = {600e3, round % 8 == 2 ? 0.7e-3 : 0, 0, Full::before, Negotiation::on_ready};
        // Ticks shift after a forward pass that waits, so it takes some iterations until they are alike.
        if (plan.fusion.cycle_s > 0) plan.iterations = 8;
        if (round % 7 < 4)
            plan.partition_bytes = static_cast<double>(unit) * static_cast<double>(500 + random() % 20'000);
        CAPTURE(round, plan.ranks, plan.partition_bytes);

        // A negotiation directly precedes its bucket only in order.
        if (plan.schedule != Schedule::fifo) plan.fusion.negotiation = Negotiation::none;

        const std::vector<LayerTime> times = layer_times(model, cluster.device, 1);
        const std::vector<Bucket> buckets = make_buckets(model, times, 0, plan);
        const auto n = static_cast<double>(plan.ranks);
        std::vector<double> cost_s;
        std::uint64_t requests = 0;
        for (const Bucket& bucket : buckets) {
            cost_s.push_back(2 * (n - 1) * (alpha_s + static_cast<double>(bucket.bytes) / n / bandwidth_Bps));
            if (plan.fusion.negotiation == Negotiation::none || bucket.piece > 0) continue;
            // Requests of 128 B per layer meet on rank 0's link, and so do its answers.
            const std::uint64_t request = 128 * bucket.layers.size();
            cost_s.back() += 2 * (alpha_s + (n - 1) * static_cast<double>(request) / bandwidth_Bps);
            requests += request;
        }
        const Result result = simulate(lower(cluster, model, plan));
        CHECK(result.time.iteration_s == Approx(list_schedule(buckets, cost_s, times, plan)).epsilon(1e-7));
        CHECK(result.time.drift < 1e-9);
        CHECK(result.bytes_sent ==
              2 * static_cast<std::uint64_t>(plan.ranks - 1) * (model.gradient_bytes() + requests));
        if (plan.overlap == Overlap::wait_free)
            CHECK(result.time.iteration_s == Approx(result.closed_form.iteration_time_s.value()).epsilon(1e-7));
        else
            CHECK(!result.closed_form.iteration_time_s);
    }
}

TEST_CASE("a random order is a permutation, depends on the seed, and is the same for the same seed", "[memory]") {
    std::vector<Bucket> buckets(5);
    for (std::uint32_t layer = 0; layer < 5; ++layer) buckets[layer].layers = {layer};
    std::set<std::vector<std::size_t>> orders;
    std::vector<int> first(5, 0);
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        Plan plan = plan_of(Overlap::across_iterations, Schedule::random);
        plan.set_seed(seed);
        const std::vector<std::uint32_t> urgency = coordinate(buckets, plan).urgency;
        REQUIRE(urgency.size() == 5);
        CHECK(urgency == coordinate(buckets, plan).urgency);
        std::vector<std::size_t> order{0, 1, 2, 3, 4};
        std::sort(order.begin(), order.end(), [&](auto a, auto b) { return urgency[a] < urgency[b]; });
        orders.insert(order);
        ++first[order.front()];
    }
    CHECK(orders.size() > 110);  // of 120; a thousand draws miss 120 e^(-8.3) on average
    for (const int times : first) CHECK(std::abs(times - 200) < 6 * 12.7);  // √(1000 · 0.2 · 0.8)
}

TEST_CASE("servers that send in random order send everything, and take no less time than in the order of need",
          "[memory]") {
    const Cluster cluster = plain_star(1e9, 2e-6);
    std::mt19937 random(31);
    for (int round = 0; round < 6; ++round) {
        Plan plan = plan_of(Overlap::across_iterations, Schedule::random);
        plan.ranks = 2 + static_cast<std::int64_t>(random() % 3);
        plan.exchange = ExchangeKind::parameter_server;
        plan.servers = {1, ServerAssignment::round_robin, ServerLocation::dedicated};
        plan.set_seed(static_cast<std::uint64_t>(round) + 1);
        const Model model = random_layers(random, 2 + random() % 8, 4, 50'000);
        const Result drawn = simulate(lower(cluster, model, plan));
        plan.schedule = Schedule::priority;
        const Result needed = simulate(lower(cluster, model, plan));
        CAPTURE(round);
        CHECK(drawn.bytes_sent == needed.bytes_sent);
        CHECK(drawn.bytes_sent == 2 * static_cast<std::uint64_t>(plan.ranks) * model.gradient_bytes());
        CHECK(drawn.time.iteration_s >= needed.time.iteration_s * (1 - 1e-9));
    }
}

TEST_CASE("on one switch neither overlap across iterations nor priority ever costs time, and both can save it",
          "[memory]") {
    std::mt19937 random(29);
    int overlap_wins = 0, priority_wins = 0;
    for (int round = 0; round < 12; ++round) {
        Plan plan = plan_of(Overlap::wait_free, Schedule::fifo);
        plan.ranks = 2 + static_cast<std::int64_t>(random() % 4);
        plan.input_copy = static_cast<InputCopy>(round % 3);
        const Model model =
            random_layers(random, 2 + random() % 10, 4 * plan.ranks, static_cast<std::uint32_t>(200'000 / plan.ranks));
        if (round % 3 == 1) plan.fusion.threshold_bytes = 500e3;
        if (round % 4 > 1) plan.partition_bytes = 50e3;
        const Cluster cluster = plain_star(round % 2 == 0 ? 3e8 : 1e9, 5e-6);  // the network is the bottleneck
        CAPTURE(round, plan.ranks);
        const auto seconds = [&](Overlap overlap, Schedule schedule) {
            plan.overlap = overlap;
            plan.schedule = schedule;
            const Breakdown time = simulate(lower(cluster, model, plan)).time;
            CHECK(time.exposed_communication_s <= time.communication_s * (1 + 1e-12));
            CHECK(time.compute_s + time.exposed_communication_s <= time.iteration_s * (1 + 1e-9));
            return time.iteration_s;
        };
        const double wait_free = seconds(Overlap::wait_free, Schedule::fifo);
        const double across = seconds(Overlap::across_iterations, Schedule::fifo);
        const double urgent = seconds(Overlap::across_iterations, Schedule::priority);
        CHECK(seconds(Overlap::wait_free, Schedule::priority) == Approx(wait_free).epsilon(1e-6));
        CHECK(across <= wait_free * (1 + 1e-9));
        CHECK(urgent <= across * (1 + 1e-6));
        overlap_wins += urgent < 0.99 * wait_free;
        priority_wins += urgent < 0.99 * across;
    }
    CHECK(overlap_wins > 2);
    CHECK(priority_wins > 2);
}

TEST_CASE("closed forms of all-reduces hold with priority and in order: no order leaves links idle") {
    std::mt19937 random(53);
    int compared = 0;
    for (const std::string& algorithm : algorithm_names("allreduce")) {
        for (const std::int64_t ranks : {2, 3, 4, 7, 8}) {
            Plan plan = plan_of(Overlap::wait_free, Schedule::fifo);
            plan.ranks = ranks;
            plan.algorithm.name = algorithm;
            if (algorithm == "hierarchical" || algorithm == "hierarchical-leaders") continue;  // they need an overlay
            const Model model = random_layers(random, 5, 4 * 3 * 7 * 8, 1000);
            Cluster cluster = plain_star(3e8, 5e-6);
            cluster.device.reduction_Bps = 2e9;
            CAPTURE(algorithm, ranks);
            for (const Schedule schedule : {Schedule::fifo, Schedule::priority}) {
                plan.schedule = schedule;
                plan.partition_bytes = random() % 2 == 0 ? 0 : 4 * 3 * 7 * 8 * 300;
                const Result result = simulate(lower(cluster, model, plan));
                if (!result.closed_form.iteration_time_s) continue;
                ++compared;
                CHECK(result.time.iteration_s == Approx(*result.closed_form.iteration_time_s).epsilon(1e-6));
            }
        }
    }
    CHECK(compared >= 20);
}

TEST_CASE("links are utilised by an iteration's exchanges while these last, also after its end", "[memory]") {
    // A ring of two ranks sends 1 MB in each direction, in two steps of 0.25 ms + 0.5 ms. One iteration alone ends
    // before.
    const double alpha_s = 250e-6, bytes_s = 1e-3, exchange_s = 2 * alpha_s + bytes_s;
    const Cluster cluster = plain_star(1e9, alpha_s);
    Model model;
    model.name = "one layer";
    model.layers = {layer_of(1'000'000, 50)};
    Plan plan = plan_of(Overlap::across_iterations, Schedule::fifo);
    plan.iterations = 1;
    const Result alone = simulate(lower(cluster, model, plan));
    CHECK(alone.time.iteration_s < bytes_s);
    CHECK(alone.links.front().utilisation == Approx(bytes_s / exchange_s).epsilon(1e-9));
    // Of several, each waits for the exchange of the one before.
    plan.iterations = 4;
    const Result several = simulate(lower(cluster, model, plan));
    CHECK(several.time.iteration_s == Approx(alone.time.iteration_s + exchange_s).epsilon(1e-9));
    CHECK(several.links.front().utilisation == Approx(bytes_s / several.time.iteration_s).epsilon(1e-9));
}
