#include <string>
#include <vector>

#include "tests/cli/results.hpp"

// Checks scenarios/frameworks.yaml: the effects of fusion, order and local reduction; and frameworks of published
// series.

using namespace syncline::test;
using nlohmann::json;

namespace {

constexpr double ranks = 16, nodes = 4, in_node = 4, port_Bps = 25e9 / 8, pcie_Bps = 12e9;
/// Bytes of VGG-16's first dense layer.
constexpr double largest = 4.0 * (25088.0 * 4096 + 4096);

double seconds(const json& result) {
    return number(result, "iteration_time_s");
}

/// Returns the bytes over a link, if it is among the ten busiest.
double through(const json& result, const std::string& name) {
    for (const json& link : result.at("links"))
        if (link.at("link") == name) return number(link, "bytes");
    return 0;
}

std::string most_used(const json& result) {
    return result.at("links").at(0).at("link");
}

}  // namespace

TEST_CASE("frameworks: each design moves the bytes that it describes, over the links that it describes") {
    const auto results = results_of("scenarios/frameworks.yaml");
    REQUIRE(results.size() == 7);
    const double size = number(results.at("horovod"), "gradient_bytes");
    for (const auto& [name, result] : results) {
        CAPTURE(name);
        const bool served = result.at("exchange") == "parameter-server";
        // Requests of 128 B for each of 16 layers go to rank 0, and replies of the same size return.
        const double requests = name == "horovod" ? 128 * 16 : 0;
        CHECK(number(result, "bytes_sent") == (served ? 2 * ranks * size : 2 * (ranks - 1) * (size + requests)));
        // The first rank of a node sends the sum to the servers and the result to the node's other ranks.
        const double sent = name == "one-by-one" ? size : in_node * size;
        if (served) CHECK(number(result, "most_bytes_sent_by_rank") == sent);
        CHECK(number(result, "compute_time_s") <= seconds(result));
        CHECK(number(result, "compute_time_s") + number(result, "exposed_communication_time_s") <=
              seconds(result) * (1 + 1e-9));
        for (const json& link : result.at("links")) CHECK(number(link, "utilisation") <= 1 + 1e-9);
        // Overlapping iterations have no closed form, and neither have rings with several ranks per node.
        CHECK(result["closed_form"]["iteration_time_s"].is_null());
    }
    // A server's port sends to each rank, or to each node, what the server holds: at least the largest tensor.
    const std::string server = most_used(results.at("one-by-one"));
    const double held = through(results.at("one-by-one"), server) / ranks;
    CHECK(held >= largest);
    CHECK(most_used(results.at("tf-parameter-server")) == server);
    CHECK(through(results.at("tf-parameter-server"), server) == nodes * held);
    // The device of a first rank sends to the servers, and to three other ranks.
    CHECK(most_used(results.at("byteps")) == "node-0/device-0->pcie-0");
    CHECK(through(results.at("byteps"), "node-0/device-0->pcie-0") == in_node * size);
}

TEST_CASE("frameworks: no design is faster than its narrowest link, and improvements improve") {
    const auto results = results_of("scenarios/frameworks.yaml");
    const double size = number(results.at("horovod"), "gradient_bytes");
    const auto time = [&](const char* name) { return seconds(results.at(name)); };
    // A whole tensor must be pushed before it is pulled, on one server, by all ranks or by all nodes.
    CHECK(time("one-by-one") > 2 * ranks * largest / port_Bps);
    CHECK(time("tf-parameter-server") > 2 * nodes * largest / port_Bps);
    CHECK(time("tf-parameter-server") < time("one-by-one"));
    // Answering single tensors immediately is never slower with the same placement; here the largest tensor decides in
    // both.
    CHECK(time("tf-distributed-replicated") < time("one-by-one"));
    // In slices and pieces, pushes and pulls use both directions concurrently, and all servers.
    CHECK(time("byteps") > in_node * size / pcie_Bps);
    CHECK(time("byteps") < time("tf-distributed-replicated"));
    for (const char* ring : {"horovod", "pytorch-ddp", "bytescheduler"}) {
        CAPTURE(ring);
        CHECK(time(ring) > 2 * (ranks - 1) / ranks * size / port_Bps);
    }
    CHECK(time("bytescheduler") < time("pytorch-ddp"));
}

TEST_CASE("frameworks: the order of gradients matters only if iterations overlap") {
    const auto by_priority = results_of("scenarios/frameworks.yaml");
    const auto in_order = results_of("scenarios/frameworks.yaml", {"--set", "training.schedule=fifo"});
    const auto everywhere = results_of("scenarios/frameworks.yaml", {"--set", "training.overlap=wait-free"});
    for (const auto& [name, result] : by_priority) {
        CAPTURE(name);
        const bool across = name == "bytescheduler" || name == "byteps";
        CHECK(result.at("bytes_sent") == in_order.at(name).at("bytes_sent"));
        CHECK(result.at("messages") == in_order.at(name).at("messages"));
        if (across) {
            CHECK(seconds(result) < seconds(in_order.at(name)));
            CHECK(seconds(result) < seconds(everywhere.at(name)));
        } else {
            CHECK(seconds(result) == seconds(in_order.at(name)));
        }
    }
}

TEST_CASE("frameworks: published series have the same results with their keys written") {
    const std::vector<std::string> of_2020{
        "--set", "training.framework=~",
        "--set", "training.overlap=none",
        "--set", "training.precision={weights: 2 B, gradients: 4 B, master: 4 B, activations: 2 B}"};
    CHECK(results_of("scenarios/published/llm/mlm20.yaml") ==
          results_of("scenarios/published/llm/mlm20.yaml", of_2020));
    const std::vector<std::string> of_horovod{"--set", "training.framework=~", "--set",
                                              "training.fusion={threshold: 64 MiB, cycle: 5 ms, negotiation: ahead}"};
    CHECK(results_of("scenarios/published/m4-horovod-cpu.yaml") ==
          results_of("scenarios/published/m4-horovod-cpu.yaml", of_horovod));
}
