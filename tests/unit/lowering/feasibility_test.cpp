#include <cctype>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "sim/check/check.hpp"
#include "sim/document/shared_schema.hpp"
#include "sim/lowering/feasibility.hpp"
#include "sim/plan/collective_plan.hpp"
#include "tests/catch.hpp"

// Plans are judged without a document: which setting is to blame, and why.

using namespace syncline;
using nlohmann::json;

namespace {

Model four_layers() {
    Model model;
    model.name = "net";
    for (const char* name : {"stem", "body", "neck", "head"})
        model.layers.push_back(dense(name, Dense{.inputs = 64, .outputs = 64}));
    return model;
}

Cluster sixteen_nodes() {
    Cluster cluster = star_cluster(16, 1e9, 1e-6);
    cluster.device.flops_per_s = 1e12;
    cluster.device.memory_Bps = 1e12;
    return cluster;
}

/// A training, ready to be judged: eight ranks with the whole model.
struct Training {
    Cluster cluster = sixteen_nodes();
    Model model = four_layers();
    Plan plan = {};
    OpenPlan open = {};

    Training() {
        plan.ranks = 8;
        plan.batch_per_rank = 32;
    }
};

Complaints complaints_of(Training training) {
    Complaints complaints = settle(training.plan, training.open);
    if (complaints.empty())
        complaints = judge(training.cluster, training.model, training.plan, training.open).complaints;
    return complaints;
}

Complaints complaints_of(const std::function<void(Training&)>& change) {
    Training training;
    change(training);
    return complaints_of(training);
}

/// Returns whether a JSON Schema knows the key at `path`. Numbers are items of a list.
bool knows(const json& schema, const std::string& path) {
    if (schema.contains("anyOf"))
        for (const json& type : schema["anyOf"])
            if (knows(type, path)) return true;
    if (path.empty()) return true;
    const std::string part = path.substr(0, path.find('.'));
    const std::string rest = part.size() == path.size() ? "" : path.substr(part.size() + 1);
    if (std::isdigit(static_cast<unsigned char>(part[0])) != 0)
        return schema.contains("items") && knows(schema["items"], rest);
    return schema.contains("properties") && schema["properties"].contains(part) &&
           knows(schema["properties"][part], rest);
}

void check_keys(const Complaints& complaints, const char* section) {
    static const json schema = config::expanded(json::parse(config::schema_of("scenario")));
    REQUIRE(knows(schema["properties"]["training"], "parallelism.layers.1.model"));
    REQUIRE_FALSE(knows(schema["properties"]["training"], "parallelism.layers.1.rows"));
    for (const Complaint& complaint : complaints) {
        CAPTURE(section, complaint.key, complaint.otherwise, complaint.message);
        CHECK_FALSE(complaint.message.empty());
        CHECK(knows(schema["properties"][section], complaint.key));
        CHECK(knows(schema["properties"][section], complaint.otherwise));
    }
}

struct Mistake {
    const char *key, *message;
    std::function<void(Training&)> change;
};

LayerRange rows_of(const char* first, const char* last, std::int64_t rows) {
    return {first, last, Layout{.rows = rows}, {}};
}

const std::vector<Mistake>& mistakes() {
    static const std::vector<Mistake> all{
        {"ranks", "17 ranks do not fit platform 'cluster', which has 16 nodes", [](Training& t) { t.plan.ranks = 17; }},
        {"ranks", "10 ranks and 7 dedicated servers do not fit",
         [](Training& t) {
             t.plan.ranks = 10;
             t.plan.exchange = ExchangeKind::parameter_server;
             t.plan.servers.count = 7;
         }},
        {"servers", "9 colocated servers need as many ranks, but there are 8",
         [](Training& t) {
             t.plan.exchange = ExchangeKind::parameter_server;
             t.plan.servers.count = 9;
             t.plan.servers.location = ServerLocation::spread;
         }},
        {"ranks", "would exchange up to",
         [](Training& t) { t.model.layers[0].parameters = 1'000'000'000'000'000'000; }},
        {"partition", "pieces, each sent 8 times, are too many",
         [](Training& t) {
             t.model.layers[0].parameters = 1'000'000'000;
             t.plan.partition_bytes = 1;
         }},
        {"servers", "have 8000000 connections",
         [](Training& t) {
             t.cluster = star_cluster(2'000'000, 1e9, 1e-6);
             t.plan.exchange = ExchangeKind::parameter_server;
             t.plan.servers.count = 1'000'000;
         }},
        {"placement", "there is no device 16",
         [](Training& t) {
             t.plan.placement.order = RankPlacement::Order::listed;
             t.plan.placement.devices = {0, 1, 2, 3, 4, 5, 6, 16};
         }},
        {"placement", "device 3 is listed twice",
         [](Training& t) {
             t.plan.placement.order = RankPlacement::Order::listed;
             t.plan.placement.devices = {0, 1, 2, 3, 4, 5, 6, 3};
         }},
        {"placement", "lists 2 devices for 8 ranks",
         [](Training& t) {
             t.plan.placement.order = RankPlacement::Order::listed;
             t.plan.placement.devices = {0, 1};
         }},
        {"fidelity", "folding is not possible",
         [](Training& t) {
             t.cluster.native = NativePlatform{};
             t.plan.fidelity = Fidelity::folded;
         }},
        {"compute", "has no 'efficiency'", [](Training& t) { t.plan.compute = ComputeKind::efficiency; }},
        {"compute", "has no 'kernels'", [](Training& t) { t.plan.compute = ComputeKind::tables; }},
        {"compute", "has no layer times for 'net'", [](Training& t) { t.plan.compute = ComputeKind::measured; }},
        {"segment", "does not cut its messages into segments",
         [](Training& t) { t.plan.algorithm.segment_bytes = 1e6; }},
        {"selection", "'empty' has no row for allreduce",
         [](Training& t) { t.plan.selection = Selection{.name = "empty", .rows = {}}; }},
        {"selection", "'empty' has no row for allreduce",
         [](Training& t) {
             t.plan.selection = Selection{.name = "empty", .rows = {}};
             t.plan.parallelism.layout.rows = 2;
         }},
        {"selection", "'empty' has no row for allreduce",
         [](Training& t) {
             t.plan.selection = Selection{.name = "empty", .rows = {}};
             t.open.grid.automatic = true;
             t.open.batch = 64;
         }},
        {"stragglers.ranks", "there is no rank 8",
         [](Training& t) {
             t.plan.noise.stragglers.ranks = {7, 8};
         }},
        {"stragglers.ranks", "9 stragglers exceed", [](Training& t) { t.plan.noise.stragglers.count = 9; }},
        {"fusion.negotiation", "do not negotiate with a parameter server",
         [](Training& t) {
             t.plan.exchange = ExchangeKind::parameter_server;
             t.plan.fusion.negotiation = Negotiation::ahead;
         }},
        {"batch", "20 samples cannot be divided into 8 replicas", [](Training& t) { t.open.batch = 20; }},
        {"parallelism.pipeline.micro_batches", "the 32 samples of a replica cannot be divided into 5",
         [](Training& t) { t.plan.parallelism.pipeline.micro_batches = 5; }},
        {"parallelism.pipeline.stages", "8 ranks cannot be divided into 3 stages",
         [](Training& t) { t.plan.parallelism.pipeline.stages = 3; }},
        {"parallelism.pipeline.stages", "has 4 layers, too few for 8 stages",
         [](Training& t) { t.plan.parallelism.pipeline.stages = 8; }},
        {"parallelism.pipeline.layers", "these are 5 layers, but workload 'net' has 4",
         [](Training& t) {
             t.plan.parallelism.pipeline.stages = 2;
             t.plan.parallelism.pipeline.layers = {2, 3};
         }},
        {"parallelism.pipeline.virtual_stages", "2 virtual stages need an interleaved",
         [](Training& t) { t.plan.parallelism.pipeline.virtual_stages = 2; }},
        {"parallelism.pipeline.schedule", "needs several virtual stages",
         [](Training& t) { t.plan.parallelism.pipeline.schedule = PipelineSchedule::interleaved; }},
        {"parallelism.model", "8 ranks cannot be divided into 3 rows",
         [](Training& t) { t.plan.parallelism.layout.rows = 3; }},
        {"parallelism.data", "2 rows × 3 columns are 6 ranks, but there are 8 ranks",
         [](Training& t) {
             t.plan.parallelism.layout.rows = 2;
             t.open.grid.columns = 3;
         }},
        {"parallelism.domain", "no convolution whose images can be partitioned",
         [](Training& t) { t.plan.parallelism.layout.height = 2; }},
        {"parallelism.sequence", "needs more than one row", [](Training& t) { t.plan.parallelism.sequence = true; }},
        {"parallelism.layers.0.first", "workload 'net' has no layer 'haed'",
         [](Training& t) { t.plan.parallelism.ranges = {rows_of("haed", "haed", 2)}; }},
        {"parallelism.layers.0.last", "'body' is before 'head'",
         [](Training& t) { t.plan.parallelism.ranges = {rows_of("head", "body", 2)}; }},
        {"parallelism.layers.1.first", "layer 'neck' is also in item 1",
         [](Training& t) {
             t.plan.parallelism.ranges = {rows_of("body", "head", 2), rows_of("neck", "neck", 4)};
         }},
        {"parallelism.layers.0.model", "8 ranks cannot be divided into 3 rows",
         [](Training& t) { t.plan.parallelism.ranges = {rows_of("head", "head", 3)}; }},
        {"parallelism.model", "there is no 'batch'", [](Training& t) { t.open.grid.automatic = true; }},
        {"parallelism.model", "none of 4 grids fits",
         [](Training& t) {
             t.open.grid.automatic = true;
             t.open.batch = 7;
             t.plan.parallelism.pipeline.micro_batches = 4;
         }},
        {"exchange", "servers have whole tensors",
         [](Training& t) {
             t.plan.parallelism.layout.rows = 2;
             t.plan.exchange = ExchangeKind::parameter_server;
         }},
        {"schedule", "'priority' is not modelled where ranks divide the state",
         [](Training& t) {
             t.plan.parallelism.sharding = Sharding::optimizer;
             t.plan.schedule = Schedule::priority;
         }},
    };
    return all;
}

}  // namespace

TEST_CASE("a plan of ranks with the whole model has no complaints, and is not lowered", "[memory]") {
    Training training;
    CHECK(settle(training.plan, training.open).empty());
    const Feasibility found = judge(training.cluster, training.model, training.plan);
    CHECK(found.complaints.empty());
    CHECK(found.lowered == nullptr);
    CHECK(found.choices.fitting.empty());
}

TEST_CASE("each mistake is one complaint, about the setting to blame", "[memory]") {
    for (const Mistake& mistake : mistakes()) {
        const Complaints complaints = complaints_of(mistake.change);
        CAPTURE(mistake.key, mistake.message);
        for (const Complaint& complaint : complaints) UNSCOPED_INFO(complaint.key << ": " << complaint.message);
        REQUIRE(complaints.size() == 1);
        CHECK(complaints[0].key == mistake.key);
        CHECK(complaints[0].message.find(mistake.message) != std::string::npos);
    }
}

TEST_CASE("the scenario's schema knows the key of every complaint", "[memory]") {
    for (const Mistake& mistake : mistakes()) check_keys(complaints_of(mistake.change), "training");
    std::mt19937 random(1);
    const auto below = [&](std::int64_t most) { return static_cast<std::int64_t>(random()) % most; };
    std::set<std::string> blamed;
    std::size_t feasible = 0;
    for (int i = 0; i < 3000; ++i) {
        Training training;
        Plan& plan = training.plan;
        Parallelism& parallelism = plan.parallelism;
        plan.ranks = 1 + below(20);
        plan.batch_per_rank = 1 + below(8);
        training.open.batch = below(3) == 0 ? 1 + below(64) : 0;
        parallelism.layout = {1 + below(4), 1 + below(2), 1};
        parallelism.pipeline.stages = 1 + below(3);
        parallelism.pipeline.micro_batches = 1 + below(3);
        parallelism.pipeline.virtual_stages = below(4) == 0 ? 2 : 1;
        parallelism.pipeline.schedule = below(4) == 0 ? PipelineSchedule::interleaved : PipelineSchedule::gpipe;
        parallelism.sequence = below(5) == 0;
        parallelism.sharding = static_cast<Sharding>(below(4));
        if (below(3) == 0) parallelism.ranges = {rows_of("body", "neck", 1 + below(4))};
        training.open.grid.automatic = below(6) == 0;
        plan.exchange = static_cast<ExchangeKind>(below(8) == 0 ? 1 + below(2) : 0);
        plan.overlap = static_cast<Overlap>(below(3));
        plan.noise.stragglers.count = below(5);
        const Complaints complaints = complaints_of(training);
        check_keys(complaints, "training");
        for (const Complaint& complaint : complaints) blamed.insert(complaint.key);
        if (complaints.empty()) ++feasible;
    }
    CHECK(blamed.size() > 12);
    CHECK(feasible > 20);
}

TEST_CASE("a plan about which there are no complaints can be lowered, an open one in each way that fits", "[memory]") {
    Training training;
    training.open.grid.automatic = true;
    training.open.batch = 8;
    training.plan.parallelism.pipeline.micro_batches = 2;
    REQUIRE(settle(training.plan, training.open).empty());
    const Feasibility found = judge(training.cluster, training.model, training.plan, training.open);
    REQUIRE(found.complaints.empty());
    // Eight samples in 1, 2, 4 or 8 columns; in two microbatches each column needs two or more.
    REQUIRE(found.choices.fitting.size() == 3);
    CHECK(found.choices.fitting[0].rows == 2);
    CHECK(found.choices.fitting[0].columns == 4);
    CHECK(found.choices.fitting[0].lowered->plan.batch_per_rank == 2);
    REQUIRE(found.choices.left_out.size() == 1);
    CHECK(found.choices.left_out[0].starts_with("1x8: the 1 sample of a replica"));
}

TEST_CASE("an error that all grids have in common is reported itself, different errors one by one", "[memory]") {
    Training training;
    training.open.grid.automatic = true;
    training.open.batch = 64;
    training.plan.parallelism.layout.height = 2;
    Complaints complaints = complaints_of(training);
    REQUIRE(complaints.size() == 1);
    CHECK(complaints[0].key == "parallelism.domain");
    CHECK(complaints[0].message == "model 'net' has no convolution whose images can be partitioned");
    CHECK(complaints[0].hint == "`model` splits other layers");

    training.plan.parallelism.layout.height = 1;
    training.open.batch = 7;
    training.plan.parallelism.pipeline.micro_batches = 4;
    complaints = complaints_of(training);
    REQUIRE(complaints.size() == 1);
    CHECK(complaints[0].key == "parallelism.model");
    for (const char* grid : {"1x8: ", "; 2x4: ", "; 4x2: ", "; 8x1: the 7 samples"}) {
        CAPTURE(grid, complaints[0].hint);
        CHECK(complaints[0].hint.find(grid) != std::string::npos);
    }
}

TEST_CASE("a combination that is not modelled does not hide a grid that does not fit", "[memory]") {
    Training training;
    training.plan.exchange = ExchangeKind::parameter_server;
    training.plan.parallelism.layout.rows = 3;
    const Complaints complaints = complaints_of(training);
    REQUIRE(complaints.size() == 2);
    CHECK(complaints[0].key == "exchange");
    CHECK(complaints[1].key == "parallelism.model");
}

TEST_CASE("a cluster of as many nodes as needed has room for all ranks", "[memory]") {
    Training training;
    training.cluster.nodes = 0;
    training.plan.ranks = 100;
    training.plan.parallelism.layout.rows = 2;
    CHECK(complaints_of(training).empty());
    const Feasibility found = judge(training.cluster, training.model, training.plan);
    REQUIRE(found.lowered != nullptr);
    CHECK(found.lowered->cluster.nodes == 100);
}

TEST_CASE("single exchanges are judged in the same way", "[memory]") {
    const struct {
        const char *key, *message;
        std::function<void(CollectivePlan&)> change;
    } wrong[] = {
        {"ranks", "17 ranks do not fit", [](CollectivePlan& plan) { plan.ranks = 17; }},
        {"bytes", "would exchange up to", [](CollectivePlan& plan) { plan.bytes = 1'000'000'000'000'000'000; }},
        {"sweep", "would exchange up to",
         [](CollectivePlan& plan) {
             plan.sweep = {1, 1'000'000'000'000'000'000};
         }},
        {"round", "all rounds are the same", [](CollectivePlan& plan) { plan.round = 0; }},
        {"contributors", "9 is more than the 8 ranks",
         [](CollectivePlan& plan) {
             plan.algorithm.operation = "allgather";
             plan.algorithm.contributors = 9;
         }},
        {"ranks", "8 ranks and 9 dedicated servers do not fit",
         [](CollectivePlan& plan) {
             plan.algorithm.name = served_allreduce;
             plan.servers = 9;
         }},
    };
    for (const auto& [key, message, change] : wrong) {
        CollectivePlan plan;
        plan.ranks = 8;
        plan.bytes = 1000;
        CHECK(judge(sixteen_nodes(), plan).empty());
        change(plan);
        const Complaints complaints = judge(sixteen_nodes(), plan);
        CAPTURE(key, message);
        REQUIRE(complaints.size() == 1);
        CHECK(complaints[0].key == key);
        CHECK(complaints[0].message.find(message) != std::string::npos);
        check_keys(complaints, "collective");
    }
}

TEST_CASE("an in-network reduction needs switches that add up", "[memory]") {
    const auto asked = [](Training& training) { training.plan.algorithm.name = "in-network"; };
    const auto complaint = [&](const std::function<void(Training&)>& change) {
        const Complaints found = complaints_of([&](Training& training) {
            asked(training);
            change(training);
        });
        return found.empty() ? std::string() : found.front().key + ": " + found.front().message;
    };
    const std::string none = "algorithm: 'in-network' is not possible: no switch between these ranks adds up data";
    CHECK(complaint([](Training&) {}) == none);
    CHECK(complaint([](Training& training) { training.cluster.fabric.reduces = true; }).empty());
    CHECK(complaint([](Training& training) {
              training.cluster.fabric.reduces = true;
              training.plan.schedule = Schedule::priority;
          }) == "schedule: 'in-network' sends buckets in the order in which they are ready");
    const auto node = [](Training& training) {
        training.cluster.node.devices = 8;
        training.cluster.node.link = {1e9, 0};
        training.cluster.node.switch_reduces = true;
    };
    CHECK(complaint(node).empty());
    CHECK(complaint([&](Training& training) {
              node(training);
              training.plan.ranks = 16;  // eight on each of two nodes
          }).empty());
    CHECK(complaint([&](Training& training) {
              node(training);
              training.plan.ranks = 12;  // eight and four
          }) ==
          "algorithm: 'in-network' is not possible: the switches inside nodes need as many ranks, two or more, "
          "on every node");
    // A fabric of hosts alone has no switches.
    CHECK(complaint([](Training& training) {
              training.cluster.fabric.topology.shape = Shape::ring;
              training.cluster.fabric.reduces = true;
          }) == "algorithm: 'in-network' is not possible: no switch of the fabric reaches all ranks");
    // `reduces` is a way out only where it is missing.
    for (const bool reduces : {false, true}) {
        const Complaints found = complaints_of([&](Training& training) {
            asked(training);
            training.cluster.fabric.topology.shape = Shape::ring;
            training.cluster.fabric.reduces = reduces;
        });
        REQUIRE(found.size() == 1);
        CHECK((found.front().hint.find("fabric.reduces: true") == std::string::npos) == reduces);
    }
    CollectivePlan alone;
    alone.ranks = 8;
    alone.algorithm.name = "in-network";
    Cluster cluster = sixteen_nodes();
    CHECK(judge(cluster, alone).size() == 1);
    cluster.fabric.reduces = true;
    CHECK(judge(cluster, alone).empty());
}

TEST_CASE("channels of an algorithm that has none: the hint names the operation's algorithms that do", "[memory]") {
    const auto hint = [](const std::string& operation, const std::string& name, std::uint32_t contributors = 0) {
        CollectivePlan plan;
        plan.ranks = 8;
        plan.algorithm.operation = operation;
        plan.algorithm.name = name;
        plan.algorithm.contributors = contributors;
        plan.channels = 4;
        const Complaints found = judge(sixteen_nodes(), plan);
        REQUIRE(found.size() == 1);
        CHECK(found.front().key == "channels");
        return found.front().hint;
    };
    CHECK(hint("allgather", "bruck") == "algorithms of allgather that do: 'ring', 'pat'");
    CHECK(hint("allreduce", "direct") ==
          "algorithms of allreduce that do: 'ring', 'segmented-ring', 'double-binary-tree', 'nccl-tree'");
    CHECK(hint("broadcast", "double-binary-tree") == "remove it: no algorithm of broadcast does");
    CHECK(hint("barrier", "dissemination") == "remove it: no algorithm of barrier does");
    CHECK(hint("allgather", "ring", 4) == "remove it");
}
