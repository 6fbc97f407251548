#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "sim/explain/explain.hpp"
#include "sim/explain/window_messages.hpp"
#include "sim/report/page_messages.hpp"
#include "tests/catch.hpp"
#include "tests/replay/split_worlds.hpp"

// Messages of a window: their times, blocks and contributions, and the same as JSON for moving pictures.

using namespace syncline;

namespace {

constexpr double bandwidth_Bps = 1e9, latency_s = 1e-6;  // of a cable; a route has two

CollectivePlan plan_of(const std::string& operation, const std::string& name, std::int64_t ranks, std::uint64_t bytes) {
    CollectivePlan plan;
    plan.ranks = ranks;
    plan.algorithm.operation = operation;
    plan.algorithm.name = name;
    plan.bytes = bytes;
    return plan;
}

/// A training of a layer for each rank, with 8 MB of gradients in one bucket, whose passes take 1 and 2 s.
Lowered training(std::int64_t ranks, const Plan& changed) {
    const Model model = plain_model(2, 1'000'000, 25);
    Plan plan = changed;
    plan.ranks = ranks;
    plan.compute = ComputeKind::measured;
    return lower(timed_star(ranks + 4, bandwidth_Bps, latency_s, model, {1, 1}, {2, 2}), model, plan);
}

/// Returns the messages of the plan's one size.
Json exchange_messages(const Cluster& cluster, const CollectivePlan& plan) {
    return page_messages(cluster, record_exchange(cluster, plan, plan.bytes), PageLimits{});
}

std::int64_t sum(const Json& column) {
    std::int64_t all = 0;
    for (const Json& value : column) all += value.get<std::int64_t>();
    return all;
}

}  // namespace

TEST_CASE("messages: those of a ring have the times, blocks and contributions of a pencil") {
    constexpr std::uint32_t n = 4;
    const Json json =
        exchange_messages(star_cluster(n, bandwidth_Bps, latency_s), plan_of("allreduce", "ring", n, 400'000'000));
    REQUIRE(json["from"].size() == 2 * n * (n - 1));
    CHECK(json["processes"] == Json({"rank 0", "rank 1", "rank 2", "rank 3"}));
    CHECK(json["nodes"] == Json({"host-0", "host-1", "host-2", "host-3"}));
    REQUIRE(json["exchanges"].size() == 1);
    CHECK(json["exchanges"][0] == Json({{"what", "allreduce"},
                                        {"operation", "allreduce"},
                                        {"algorithm", "ring"},
                                        {"bytes", 400'000'000},
                                        {"blocks", n},
                                        {"members", {0, 1, 2, 3}},
                                        {"steps", 2 * (n - 1)}}));
    for (std::size_t i = 0; i < json["from"].size(); ++i) {
        // All ranks are in the same step: messages are in order of step and sender.
        const std::uint32_t from = static_cast<std::uint32_t>(i) % n, step = static_cast<std::uint32_t>(i) / n;
        CAPTURE(from, step);
        CHECK(json["from"][i] == from);
        CHECK(json["to"][i] == (from + 1) % n);
        CHECK(json["bytes"][i] == 100'000'000);
        CHECK(json["step"][i] == step);
        CHECK(json["block"][i] == (from + 2 * n - step) % n);
        CHECK(json["blocks"][i] == 1);
        CHECK(json["contributions"][i] == std::min(step + 1, n));
        CHECK(json["reduces"][i] == (step < n - 1 ? 1 : 0));
        const double start_s = step * (0.1 + 2 * latency_s);
        CHECK(json["start_s"][i].get<double>() == Approx(start_s).margin(1e-9));
        CHECK(json["through_s"][i].get<double>() == Approx(start_s + 0.1).margin(1e-9));
        CHECK(json["end_s"][i].get<double>() == Approx(start_s + 0.1 + 2 * latency_s).margin(1e-9));
        std::vector<std::string> names;
        for (const Json& link : json["routes"][json["route"][i].get<std::size_t>()]) {
            names.push_back(json["links"][link.get<std::size_t>()]["name"]);
            CHECK(json["links"][link.get<std::size_t>()]["bandwidth_Bps"] == bandwidth_Bps);
        }
        REQUIRE(names.size() == 2);
        CHECK(names[0].starts_with("host-" + std::to_string(from) + "->"));
        CHECK(names[1].ends_with("->host-" + std::to_string((from + 1) % n)));
    }
    CHECK(json["left_out"] == 0);
    CHECK(json["note"] == "");
    CHECK_FALSE(json.contains("micro_batch"));
    CHECK_FALSE(json.contains("more"));
}

TEST_CASE("messages: every algorithm sends what is counted, and the last ones bring everybody everything") {
    for (const std::string& name : algorithm_names("allreduce")) {
        if (name.starts_with("hierarchical")) continue;  // need an overlay
        for (const std::uint32_t n : {2u, 3u, 5u, 8u}) {
            CAPTURE(name, n);
            const Cluster cluster = star_cluster(n, bandwidth_Bps, latency_s);
            const CollectivePlan plan = plan_of("allreduce", name, n, 1'000'003);
            const ExchangeRecording recording = record_exchange(cluster, plan, plan.bytes);
            const WindowMessages window = messages_in_window(recording.view);
            const CollectiveResult result = simulate_collective(cluster, plan);
            CHECK(window.messages.size() == result.messages);
            CHECK(recording.view.window.end_s - recording.view.window.start_s ==
                  Approx(result.completion_time_s).epsilon(1e-12));
            std::uint64_t bytes = 0;
            bool known = true;
            for (const WindowMessage& message : window.messages) {
                bytes += message.record->bytes;
                known = known && message.step >= 0 && message.contributions >= 1 && message.contributions <= n;
            }
            CHECK(known);
            CHECK(bytes == result.bytes_sent);
            REQUIRE(window.exchanges.size() == 1);
            CHECK(window.exchanges.front().members.size() == n);
        }
    }
}

TEST_CASE("messages: workers push one contribution each and pull the sum of all") {
    constexpr std::int64_t workers = 4, servers = 2;
    Plan plan;
    plan.exchange = ExchangeKind::parameter_server;
    plan.servers = {servers, ServerAssignment::sliced, ServerLocation::dedicated};
    const Lowered lowered = training(workers, plan);
    TimelineView view;
    const Explanation explanation = explain(lowered, {.uncontended = false}, &view);
    const Json json = page_messages(lowered, view, PageLimits{});
    REQUIRE(json["from"].size() == explanation.result.messages);
    CHECK(json["processes"].size() == workers + servers);
    CHECK(json["processes"][workers] == "server 0");
    CHECK(json["nodes"][workers] == "host-4");
    std::size_t pushes = 0;
    for (std::size_t i = 0; i < json["from"].size(); ++i) {
        const bool push = json["from"][i] < workers;
        pushes += push;
        const Json& exchange = json["exchanges"][json["exchange"][i].get<std::size_t>()];
        CHECK(exchange["operation"] == (push ? "push" : "pull"));
        CHECK(exchange["algorithm"] == "parameter-server");
        CHECK(json["contributions"][i] == (push ? 1 : workers));
        CHECK(json["reduces"][i] == (push ? 1 : 0));
        CHECK(json["start_s"][i] < json["through_s"][i]);
    }
    CHECK(2 * pushes == json["from"].size());
    CHECK(sum(json["bytes"]) == static_cast<std::int64_t>(explanation.result.bytes_sent));
}

TEST_CASE("messages: transfers between stages have microbatches and no blocks") {
    Plan plan;
    plan.batch_per_rank = 3;
    plan.algorithm.name = "ring";
    plan.parallelism.pipeline = {2, 3, 1, PipelineSchedule::one_f_one_b, {}};
    const Lowered lowered = training(2, plan);
    TimelineView view;
    explain(lowered, {.uncontended = false}, &view);
    const Json json = page_messages(lowered, view, PageLimits{});
    REQUIRE(json["from"].size() == 6);
    std::multiset<int> forwards, backwards;
    for (std::size_t i = 0; i < 6; ++i) {
        (json["from"][i] == 0 ? forwards : backwards).insert(json["micro_batch"][i].get<int>());
        for (const char* unknown : {"step", "block", "blocks", "contributions"}) CHECK(json[unknown][i] == -1);
    }
    CHECK(forwards == std::multiset<int>{0, 1, 2});
    CHECK(backwards == forwards);
}

TEST_CASE("messages: whatever the jitter, a rank has received what it passes on, in every channel") {
    // Two nodes with four devices and four ports, for rings in four channels.
    const Model model = plain_model(2, 1'000'000, 25);
    Plan plan;
    plan.ranks = 8;
    plan.compute = ComputeKind::measured;
    plan.algorithm.name = "ring";
    plan.noise.jitter = 0.1;
    plan.iterations = 3;
    Cluster cluster = timed_star(2, bandwidth_Bps, latency_s, model, {1, 1}, {2, 2});
    cluster.node.devices = cluster.node.nics = 4;
    cluster.node.link = {100 * bandwidth_Bps, latency_s};
    const Lowered lowered = lower(cluster, model, plan);
    TimelineView view;
    explain(lowered, {.uncontended = false}, &view);
    const WindowMessages window = messages_in_window(view);
    REQUIRE(window.exchanges.size() == 2);
    CHECK(window.exchanges.front().slices == 4);
    CHECK(window.exchanges.front().blocks == 4 * 8);
    CHECK(window.exchanges.front().owners.size() == 4 * 8);

    using Place =
        std::tuple<std::uint32_t, std::uint32_t, ProcessId, std::int64_t>;  // iteration, exchange, rank, block
    std::map<Place, std::vector<const WindowMessage*>> received;
    for (const WindowMessage& message : window.messages)
        received[{message.record->iteration, message.exchange, message.to, message.block}].push_back(&message);
    std::size_t passed_on = 0, missing = 0;
    for (const WindowMessage& message : window.messages) {
        // When the window begins, ranks may be in the iteration before it.
        if (message.record->iteration + lowered.averaged <= view.iteration || message.contributions == 1) continue;
        ++passed_on;
        const auto& before = received[{message.record->iteration, message.exchange, message.from, message.block}];
        missing += std::ranges::none_of(before, [&](const WindowMessage* one) {
            const std::int64_t has = one->contributions + (one->adds ? 1 : 0);
            return has == message.contributions && one->record->end_s() <= message.record->put_s + 1e-12;
        });
    }
    CHECK(missing == 0);
    CHECK(lowered.averaged > 1);
    // In each of both exchanges, four channels and so many iterations, only the first of 14 steps sends own data.
    CHECK(passed_on == std::size_t{2 * 4 * 8 * 13} * lowered.averaged);
}

TEST_CASE("messages: of too many those of the lowest ranks stay") {
    constexpr std::uint32_t n = 8;
    const ExchangeRecording recording =
        record_exchange(star_cluster(n, bandwidth_Bps, latency_s), plan_of("all-to-all", "direct", n, 8'000), 8'000);
    PageLimits limits;
    // Rank 0 has 7 messages out and 7 in, rank 1 another 12, rank 2 another 10.
    limits.messages = 30;
    const Json json = page_messages(star_cluster(n, bandwidth_Bps, latency_s), recording, limits);
    CHECK(json["from"].size() == 26);
    CHECK(json["left_out"] == 30);
    CHECK(json["note"] == "26 of 56 messages are shown: those of the processes up to rank 1.");
    for (std::size_t i = 0; i < 26; ++i) CHECK((json["from"][i] < 2 || json["to"][i] < 2));
    // Fewer than rank 0 has.
    limits.messages = 5;
    const Json first = page_messages(star_cluster(n, bandwidth_Bps, latency_s), recording, limits);
    CHECK(first["from"].size() == 5);
    CHECK(first["note"] == "5 of 56 messages are shown: the first ones of rank 0.");
}

TEST_CASE("messages: of too many iterations the first ones stay") {
    // Two ranks exchange two buckets in 4 messages each, in 6 iterations that hardly differ.
    Plan plan;
    plan.algorithm.name = "ring";
    plan.noise.jitter = 1e-6;
    plan.iterations = 7;
    const Lowered lowered = training(2, plan);
    TimelineView view;
    explain(lowered, {.uncontended = false}, &view);
    PageLimits limits;
    CHECK(page_messages(lowered, view, limits)["from"].size() == 48);
    limits.messages = 40;
    const Json json = page_messages(lowered, view, limits);
    CHECK(json["from"].size() == 32);
    CHECK(json["left_out"] == 16);
    CHECK(json["note"] == "32 of 48 messages are shown: those in the first 4 of 6 iterations.");
    CHECK(json["start_s"].back() < 4.0 / 6 * (view.window.end_s - view.window.start_s));
}

TEST_CASE(
    "messages: blocks and data follow the messages of exchanges that run at the same time, iteration by iteration") {
    // Two layers in buckets of their own, whose exchanges follow each other on the same connections.
    Plan plan;
    plan.algorithm.name = "recursive-doubling";
    const Lowered lowered = training(4, plan);
    TimelineView view;
    const Explanation explanation = explain(lowered, {.uncontended = false}, &view);
    const WindowMessages window = messages_in_window(view);
    CHECK(window.exchanges.size() == lowered.buckets.size());
    CHECK(window.messages.size() == explanation.result.messages);
    for (const WindowMessage& message : window.messages) {
        CHECK(message.to == (message.from ^ 1u << message.step));
        CHECK(message.contributions == 1 << message.step);
        CHECK(message.record->iteration == view.iteration);
    }
}

TEST_CASE("messages: a picture of a ring of 32 is small, of a single rank there is none") {
    const Json json =
        exchange_messages(star_cluster(32, 12.5e9, 1.5e-6), plan_of("allreduce", "ring", 32, 123'456'789));
    CHECK(json["from"].size() == 1984);
    CHECK(json.dump().size() < 200'000);
    CHECK(exchange_messages(star_cluster(1, 1e9, 0), plan_of("allreduce", "ring", 1, 1000)) == nullptr);
}
