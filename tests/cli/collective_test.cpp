#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

// Tests `syncline collective`: one exchange alone, compared with the closed form as the test computes it.

using namespace syncline::test;
using nlohmann::json;

namespace {

constexpr double latency_s = 3e-6, bandwidth_Bps = 2e9;  // of a link

/// Returns options for a network with these constants, with free reductions.
std::vector<std::string> question(const std::string& algorithm, std::uint64_t ranks, std::uint64_t bytes) {
    return {"collective",
            "--platform",
            shipped("platforms/p100-25g.yaml"),
            "--ranks",
            std::to_string(ranks),
            "--operation",
            "allreduce",
            "--algorithm",
            algorithm,
            "--bytes",
            std::to_string(bytes) + " B",
            "--set",
            "platform.fabric={bandwidth: 16 Gbps, latency: 3 us}",
            "--set",
            "platform.device.reduction_rate=unlimited",
            "--set",
            "platform.host.reduction_rate=unlimited",
            "--format",
            "json"};
}

json ask(std::vector<std::string> arguments, const std::vector<std::string>& more = {}) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run_program({.arguments = std::move(arguments), .limit_s = 60});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(outcome.err.empty());
    return json::parse(outcome.out);
}

std::uint64_t larger_share(std::uint64_t bytes, std::uint64_t parts) {
    return bytes / parts + (bytes % parts == 0 ? 0 : 1);
}

}  // namespace

TEST_CASE("collective: JSON is one object with the documented fields", "[memory]") {
    const json answer = ask(question("ring", 4, 1000));
    std::set<std::string> keys;
    for (const auto& [key, value] : answer.items()) keys.insert(key);
    CHECK(keys == std::set<std::string>{"schema_version",
                                        "operation",
                                        "algorithm",
                                        "ranks",
                                        "bytes",
                                        "completion_time_s",
                                        "nodes",
                                        "device_time_s",
                                        "cost",
                                        "closed_form_s",
                                        "messages",
                                        "fidelity",
                                        "messages_simulated",
                                        "messages_folded",
                                        "folding_error_s",
                                        "bytes_sent",
                                        "algorithm_bandwidth_Bps",
                                        "bus_bandwidth_Bps",
                                        "fabric",
                                        "overlay",
                                        "most_bytes_sent_by_rank",
                                        "bytes_sent_by_rank",
                                        "bytes_received_by_rank",
                                        "links",
                                        "limited_by",
                                        "transport",
                                        "contributors",
                                        "receivers",
                                        "rounds",
                                        "notes"});
    CHECK(answer["bytes_sent_by_rank"] == std::vector<int>{1500, 1500, 1500, 1500});
    CHECK(answer["bytes_received_by_rank"] == std::vector<int>{1500, 1500, 1500, 1500});
    CHECK(answer["schema_version"] == 1);
    CHECK(answer["operation"] == "allreduce");
    CHECK(answer["algorithm"] == "ring");
    CHECK(answer["ranks"] == 4);
    CHECK(answer["bytes"] == 1000);
    const double seconds = answer["completion_time_s"];
    CHECK(answer["algorithm_bandwidth_Bps"].get<double>() == Approx(1000 / seconds).epsilon(1e-9));
    CHECK(answer["bus_bandwidth_Bps"].get<double>() == Approx(1000 / seconds * 2 * 3 / 4).epsilon(1e-9));
}

TEST_CASE("collective: a ring takes 2(N-1)(α + ⌈S/N⌉β)") {
    const std::uint64_t ranks = GENERATE(2u, 3u, 4u, 7u, 16u, 33u);
    const std::uint64_t bytes = GENERATE(1u, 4u, 1000u, 999'999u, 100'000'000u);
    CAPTURE(ranks, bytes);
    const json answer = ask(question("ring", ranks, bytes));
    const double block = static_cast<double>(larger_share(bytes, ranks));
    const double seconds = 2 * static_cast<double>(ranks - 1) * (2 * latency_s + block / bandwidth_Bps);
    CHECK(answer["completion_time_s"].get<double>() == Approx(seconds).epsilon(1e-6));
    CHECK(answer["closed_form_s"].get<double>() == Approx(seconds).epsilon(1e-6));
    CHECK(answer["messages"] == 2 * ranks * (ranks - 1));
    CHECK(answer["bytes_sent"] == 2 * (ranks - 1) * bytes);
}

TEST_CASE("collective: reductions add (N-1)⌈S/N⌉γ to a ring") {
    for (const std::uint64_t ranks : {2u, 5u, 8u}) {
        const json free = ask(question("ring", ranks, 1'000'003));
        const json priced = ask(question("ring", ranks, 1'000'003), {"--set", "platform.device.reduction_rate=4 GBps"});
        const double block = static_cast<double>(larger_share(1'000'003, ranks));
        CHECK(priced["completion_time_s"].get<double>() - free["completion_time_s"].get<double>() ==
              Approx(static_cast<double>(ranks - 1) * block / 4e9).epsilon(1e-6));
    }
}

TEST_CASE("collective: s servers take 2(α + Nβ⌈S/s⌉) if the buffer divides evenly") {
    const std::uint64_t ranks = GENERATE(2u, 5u, 16u);
    const std::uint64_t servers = GENERATE(1u, 2u);
    CAPTURE(ranks, servers);
    const std::uint64_t bytes = 10'000'000;
    const json answer = ask(question("parameter-server", ranks, bytes), {"--servers", std::to_string(servers)});
    const double through_link = static_cast<double>(bytes / servers * ranks);
    const double seconds = 2 * (2 * latency_s + through_link / bandwidth_Bps);
    CHECK(answer["completion_time_s"].get<double>() == Approx(seconds).epsilon(1e-6));
    CHECK(answer["closed_form_s"].get<double>() == Approx(seconds).epsilon(1e-6));
    CHECK(answer["messages"] == 2 * ranks * servers);
    CHECK(answer["bytes_sent"] == 2 * ranks * bytes);
}

TEST_CASE("collective: one rank sends nothing, and has no bandwidth", "[memory]") {
    for (const char* algorithm : {"ring", "parameter-server"}) {
        const json answer = ask(question(algorithm, 1, 1000));
        CHECK(answer["completion_time_s"] == 0);
        CHECK(answer["closed_form_s"] == 0);
        CHECK(answer["messages"] == 0);
        CHECK(answer["bytes_sent"] == 0);
        CHECK(answer["algorithm_bandwidth_Bps"].is_null());
        CHECK(answer["bus_bandwidth_Bps"].is_null());
    }
}

TEST_CASE("collective: an empty buffer still sends its messages", "[memory]") {
    const json answer = ask(question("ring", 4, 0));
    CHECK(answer["bytes"] == 0);
    CHECK(answer["messages"] == 24);
    CHECK(answer["bytes_sent"] == 0);
    CHECK(answer["completion_time_s"].get<double>() == Approx(6 * 2 * latency_s).epsilon(1e-6));
    const json nobody = ask(question("ring", 1, 0));
    CHECK(nobody["completion_time_s"] == 0);
}

TEST_CASE("collective: sizes are read with their units") {
    const std::pair<const char*, std::uint64_t> sizes[] = {{"100MB", 100'000'000}, {"64 MiB", 64ull << 20}, {"4B", 4},
                                                           {"8 kbit", 1000},       {"1.5 kB", 1500},        {"0B", 0}};
    for (const auto& [text, bytes] : sizes) {
        const json answer = ask({"collective", "--platform", shipped("platforms/p100-25g.yaml"), "--ranks", "2",
                                 "--bytes", text, "--format", "json"});
        CAPTURE(text);
        CHECK(answer["bytes"] == bytes);
        CHECK(answer["algorithm"] == "ring");
    }
}

TEST_CASE("collective: CSV and table have the same numbers, and --out writes all formats", "[memory]") {
    const TempDir directory;
    std::vector<std::string> arguments = question("ring", 4, 1000);
    const json answer = ask(arguments);
    arguments.pop_back();
    const auto in_format = [&](const std::string& format) {
        std::vector<std::string> all = arguments;
        all.insert(all.end(), {format, "--out", (directory / "out").string()});
        const Outcome outcome = run_program({.arguments = all});
        REQUIRE(outcome.status == 0);
        return outcome.out;
    };
    const std::string shown = in_format("json");
    CHECK(shown == read_file(directory / "out/collective.json"));
    const std::string csv = in_format("csv");
    CHECK(csv == read_file(directory / "out/collective.csv"));
    CHECK(csv.rfind("operation,algorithm,ranks,bytes,completion_time_s,closed_form_s,messages,bytes_sent,"
                    "algorithm_bandwidth_Bps,bus_bandwidth_Bps,most_bytes_sent_by_rank,overlay,fabric,most_used_link,"
                    "most_used_link_utilisation,transport,nodes,device_time_s,cost,fidelity,messages_simulated,"
                    "messages_folded,folding_error_s,limited_by,notes\nallreduce,ring,4,1000,",
                    0) == 0);
    CHECK(std::count(csv.begin(), csv.end(), '\n') == 2);
    const std::string table = in_format("table");
    CHECK(table == read_file(directory / "out/collective.txt"));
    for (const char* word : {"ring", "4 ranks", "1 kB", "completion time", "messages", "24"})
        CHECK(table.find(word) != std::string::npos);
    CHECK(directory.list() ==
          std::vector<std::string>{"out", "out/collective.csv", "out/collective.json", "out/collective.txt"});
}

TEST_CASE("collective: every preset works, and a faster network takes less time") {
    int presets = 0;
    for (const auto& entry : fs::directory_iterator(shipped("platforms"))) {
        if (entry.path().extension() != ".yaml") continue;
        CAPTURE(entry.path().string());
        const json answer =
            ask({"collective", "--platform", entry.path().string(), "--ranks", "8", "--operation", "allreduce",
                 "--algorithm", "ring", "--channels", "1", "--bytes", "100MB", "--format", "json"});
        // There is a closed form if all neighbours' messages cost the same and share no link: on all platforms but
        // those with devices on PCIe, and a torus of which eight ranks are half a ring.
        const std::set<std::string> others{"dgx1-rails", "four-pascal-roce", "tpu-v4-pod"};
        const bool flat = others.count(entry.path().stem().string()) == 0;
        CHECK(answer["closed_form_s"].is_number() == flat);
        if (flat)
            CHECK(answer["completion_time_s"].get<double>() ==
                  Approx(answer["closed_form_s"].get<double>()).epsilon(1e-6));
        CHECK(answer["messages"] == 112);
        ++presets;
    }
    CHECK(presets >= 3);
}

TEST_CASE("collective: SimGrid's own network models can be chosen") {
    const double exact = ask(question("ring", 4, 1'000'000))["completion_time_s"];
    for (const char* model : {"LV08", "CM02", "SMPI", "Constant"}) {
        const json answer =
            ask(question("ring", 4, 1'000'000), {"--set", std::string("platform.network.model=") + model});
        CAPTURE(model, answer.dump(), exact);
        CHECK(answer["completion_time_s"].get<double>() > 0);
        CHECK(answer["messages"] == 24);
    }
}

TEST_CASE("collective: the same command prints the same bytes", "[memory]") {
    CHECK(ask(question("ring", 33, 999'999)).dump() == ask(question("ring", 33, 999'999)).dump());
}

TEST_CASE("collective: an all-to-all on a fat tree without oversubscription takes the time of the hosts' cables") {
    // 16 ranks, each with 15/16 of 100 MB for the others: 30 ms at 25 Gb/s, in 15 steps of up to four cables' latency.
    // If all messages took the first path, the traffic of a leaf's four hosts to the other twelve would use one cable:
    // 300 MB, 96 ms.
    const auto answer = [](const std::string& policy) {
        std::vector<std::string> arguments{"collective",
                                           "--platform",
                                           shipped("platforms/p100-25g.yaml"),
                                           "--ranks",
                                           "16",
                                           "--operation",
                                           "all-to-all",
                                           "--bytes",
                                           "100 MB",
                                           "--set",
                                           "platform.fabric=" + shipped("topologies/fat-tree.yaml"),
                                           "--format",
                                           "json"};
        if (!policy.empty()) arguments.insert(arguments.end(), {"--set", "platform.routing.policy=" + policy});
        return ask(arguments);
    };
    const double latencies_s = 15 * 4e-6;
    for (const char* policy : {"", "d-mod-k"}) {
        const json even = answer(policy);
        const auto seconds = even["completion_time_s"].get<double>();
        CHECK(seconds >= 30e-3);
        CHECK(seconds <= 30e-3 + latencies_s + 1e-9);
        CHECK(even["notes"].empty());
    }
    const json first = answer("first");
    const auto seconds = first["completion_time_s"].get<double>();
    CHECK(seconds >= 96e-3);
    CHECK(seconds <= 97e-3);
    // There are two cables to each of two spines and back: eight paths. Two of them go over any one cable up, and one
    // more comes down over a cable that is as busy.
    CHECK(first["notes"] ==
          json{"the busiest link leaf-0->spine-0 carries 300 MB, while 5 other routes of the same length are "
               "unused (`routing.policy: first`)"});
    for (const char* policy : {"ecmp", "adaptive-at-start"}) {
        const auto between = answer(policy)["completion_time_s"].get<double>();
        CHECK(between >= 30e-3);
        CHECK(between < 96e-3);
    }
}

TEST_CASE("collective: gossip with changing peers is the mean over rounds, and --round selects one") {
    // 32 nodes in a ring of cables have peers 1, 2, 4, 8 and 16 places on: every cable in use carries as many buffers,
    // over as many hops. Half way round both directions are equally short.
    const auto gossip = [](const std::vector<std::string>& more) {
        return ask({"collective", "--platform", shipped("platforms/p100-25g.yaml"), "--ranks", "32", "--bytes", "100MB",
                    "--operation", "neighbour-exchange", "--overlay", "{topology: exponential, directed: true}",
                    "--peers", "one", "--set", "platform.fabric={topology: ring, bandwidth: 8 Gbps, latency: 10 us}",
                    "--set", "platform.device.reduction_rate=unlimited", "--format", "json"},
                   more);
    };
    const auto round_s = [](int cables) { return cables * (0.1 + 10e-6); };
    double sum_s = 0;
    for (int round = 0; round < 4; ++round) {
        const json answer = gossip({"--round", std::to_string(round)});
        CHECK(answer["completion_time_s"].get<double>() == Approx(round_s(1 << round)).epsilon(1e-6));
        CHECK(answer["rounds"] == 1);
        CHECK(answer["notes"].empty());
        sum_s += round_s(1 << round);
    }
    const double last_s = gossip({"--round", "4"})["completion_time_s"];
    CHECK(last_s >= round_s(8));  // at best half of the ranks use each direction
    CHECK(last_s <= round_s(16) * (1 + 1e-6));
    const json answer = gossip({});
    CHECK(answer["completion_time_s"].get<double>() == Approx((sum_s + last_s) / 5).epsilon(1e-6));
    CHECK(answer["rounds"] == 5);
    CHECK(answer["messages"] == 32);
    CHECK(answer["bytes_sent"] == 3'200'000'000);
    REQUIRE(answer["notes"].size() == 1);
    CHECK(answer["notes"][0].get<std::string>().find("means over 5 rounds") != std::string::npos);
}
