#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_files.hpp"
#include "tests/catch.hpp"
#include "tests/unit/execution/trace_bytes.hpp"

// Chakra's files: what is read of them, what is written.

using namespace syncline;
using namespace syncline::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {

std::string collective(std::uint64_t type, std::uint64_t size, std::uint64_t type_of_size = 9) {
    return on_cpu(false) + attribute("comm_type", type) + attribute("comm_size", size, type_of_size);
}

}  // namespace

TEST_CASE("the smallest real file of ASTRA-sim is an all-reduce of 1 MiB") {
    // examples/workload/microbenchmarks/all_reduce/8npus_1MB/all_reduce.1.et, 83 bytes.
    const std::string file(
        "\x07\x0a\x05"
        "0.0.4"
        "\x4a\x08\x01\x12\x14"
        "all_reduce_8npus_1MB"
        "\x18\x07\x52\x0e\x0a\x09"
        "is_cpu_op"
        "\xd8\x01\x00\x52\x0d\x0a\x09"
        "comm_type"
        "\x48\x00\x52\x0f\x0a\x09"
        "comm_size"
        "\x48\x80\x80\x40",
        83);
    TraceFiles files;
    const std::string one = files.write("a.0.et", file), two = files.write("a.1.et", file);
    const ExecutionTrace trace = read_trace({one, two}, {});
    CHECK(trace.ranks == 2);
    REQUIRE(trace.size() == 2);
    CHECK(trace.names[trace.nodes()[1].name] == "all_reduce_8npus_1MB");
    CHECK(trace.operations[trace.nodes()[1].operation] == "allreduce");
    CHECK(trace.nodes()[1].bytes == 1'048'576);
    CHECK(trace.nodes()[1].rank == 1);
    CHECK(trace.groups.at(0) == std::vector<std::uint32_t>{0, 1});
    CHECK(trace.notes.empty());

    // In gzip, and on eight ranks.
    const ExecutionTrace zipped = read_trace({files.write("a.et.gz", stored_gzip(file))}, {.ranks = 8});
    CHECK(zipped.ranks == 8);
    CHECK(count(zipped, NodeKind::collective) == 8);
    CHECK(zipped.groups.at(0).size() == 8);
}

TEST_CASE("sizes of collectives are those of ASTRA-sim, in every spelling") {
    TraceFiles files;
    // Each of 4 ranks gives 1000 B to an all-gather, and has 4 × 1000 B at its end. A reduce-scatter of 1000 B begins
    // with 1000 B. 9 is int64, 13 uint64, 7 int32.
    const std::string file = chakra_file({chakra_node(0, "g", comm_coll, collective(2, 1000)),
                                          chakra_node(1, "r", comm_coll, collective(7, 1000, 13), {0}),
                                          chakra_node(2, "a", comm_coll, collective(6, 1000, 7), {1})});
    const ExecutionTrace trace = files.read("x.et", file, {.ranks = 4});
    std::vector<std::pair<std::string, std::uint64_t>> all;
    for (const TraceNode& node : trace.nodes())
        if (node.rank == 3) all.emplace_back(trace.operations[node.operation], node.bytes);
    CHECK(all == std::vector<std::pair<std::string, std::uint64_t>>{
                     {"allgather", 4000}, {"reduce-scatter", 1000}, {"all-to-all", 1000}});
}

TEST_CASE("nodes of Chakra compute on streams of the device, or on threads of the processor") {
    TraceFiles files;
    const auto micros = [](std::uint64_t number) { return field(7, number); };
    const std::string file = chakra_file(
        {chakra_node(5, "kernel", comp, micros(40) + on_cpu(false) + attribute("stream", 7)),
         chakra_node(6, "other", comp, micros(2) + on_cpu(false) + attribute("tid", 20), {5}),
         chakra_node(7, "op", comp, micros(3) + on_cpu(true) + attribute("tid", 1) + field(4, packed({6}))),
         chakra_node(8, "load", mem_load, on_cpu(false)), chakra_node(9, "work", comp, attribute("num_ops", 1'000'000)),
         chakra_node(10, "c10d::allreduce_", comm_coll, micros(9) + on_cpu(true))});
    const ExecutionTrace trace = files.read("x.et", file);
    REQUIRE(trace.size() == 6);
    const auto& nodes = trace.nodes();
    CHECK(nodes[0].kind == NodeKind::compute);
    CHECK_THAT(nodes[0].seconds, WithinRel(40e-6));
    CHECK(nodes[0].stream != nodes[1].stream);
    CHECK(nodes[2].kind == NodeKind::host);
    CHECK(dependencies(trace, 1) == std::vector<std::uint32_t>{0});
    CHECK(dependencies(trace, 2) == std::vector<std::uint32_t>{1});  // a control dependency
    CHECK(nodes[3].kind == NodeKind::nothing);
    CHECK(nodes[4].flop == 1e6);
    CHECK(nodes[5].kind == NodeKind::host);
    CHECK(trace.notes ==
          std::vector<std::string>{"exchanges on the processor, which the device does too, exchange nothing (1)",
                                   "nodes of type MEM_LOAD take no time (1)",
                                   "nodes that do not say if they run on the processor run on the device (1)"});
}

TEST_CASE("control dependencies of a trace of PyTorch are its callers, and left out") {
    TraceFiles files;
    const std::string node = chakra_node(1, "op", comp, on_cpu(true) + field(4, packed({1})));
    CHECK_THROWS_WITH(files.read("x.et", chakra_file({node})), ContainsSubstring("in a cycle: 1, then 1 again"));
    const std::string schema = field(2, field(1, "schema") + field(29, "1.0.1"));
    const ExecutionTrace trace = files.read("x.et", chakra_file({node}, schema));
    CHECK(dependencies(trace, 0).empty());
    CHECK(trace.notes.size() == 1);
}

TEST_CASE("process groups have the ranks that PyTorch or ASTRA-sim's file lists, or those that use them") {
    TraceFiles files;
    const auto in_group = [&](const char* name, const std::string& first = "") {
        return chakra_file({first, chakra_node(1, "x", comm_coll, collective(0, 8) + text_attribute("pg_name", name))});
    };
    const std::string list =
        chakra_node(0, "## process_group:init ##", metadata,
                    field(8, field(1, R"(['[{"pg_name": "7", "ranks": [2, 0]}, {"pg_name": "0", "ranks": []}]'])")));
    const std::string even = files.write("a.0.et", in_group("7", list)), odd = files.write("a.1.et", in_group("9"));
    const std::string last = files.write("a.2.et", in_group("7"));
    const ExecutionTrace trace = read_trace({even, odd, last}, {});
    CHECK(trace.groups == std::vector<std::vector<std::uint32_t>>{{2, 0}, {1}});
    CHECK(trace.size() == 3);  // the list itself is no node

    const std::string groups = files.write("groups.json", R"({"7": [0, 2], "9": [1]})");
    CHECK(read_trace({even, odd, last}, {.groups_file = groups}).groups[0] == std::vector<std::uint32_t>{0, 2});
    CHECK_THROWS_WITH(read_trace({even, odd, last}, {.groups_file = files.write("g.json", R"({"7": [0, -2]})")}),
                      ContainsSubstring("g.json: group '7' is no list of ranks"));
}

TEST_CASE("messages of Chakra have a peer and a tag") {
    TraceFiles files;
    const auto size = attribute("comm_size", 131'072) + attribute("comm_tag", 5, 7);
    const std::string from =
        files.write("a.0.et", chakra_file({chakra_node(0, "s", comm_send, size + attribute("comm_dst", 1, 7))}));
    const std::string to =
        files.write("a.1.et", chakra_file({chakra_node(0, "r", comm_recv, size + attribute("comm_src", 0, 7))}));
    const ExecutionTrace trace = read_trace({from, to}, {});
    CHECK(trace.nodes()[0].kind == NodeKind::send);
    CHECK(trace.nodes()[0].peer == 1);
    CHECK(trace.nodes()[1].kind == NodeKind::receive);
    CHECK(trace.nodes()[1].tag == 5);
    CHECK(trace.nodes()[1].bytes == 131'072);
    CHECK_THROWS_WITH(read_trace({from, from}, {}), ContainsSubstring("rank 1 sends to itself"));
    CHECK_THROWS_WITH(read_trace({from}, {.ranks = 3}),
                      ContainsSubstring("a rank that sends to others cannot be repeated"));
}

TEST_CASE("the JSON form of Chakra says the same") {
    TraceFiles files;
    const std::string text = R"({"workload_graph": [
        {"Id": 216, "Name": "kernel", "NodeType": 4, "ctrlDeps": [217], "data_deps": [], "runtime": 318, "is_cpu_op": false},
        {"Id": 217, "Name": "sum", "NodeType": 7, "data_deps": [], "is_cpu_op": 0, "comm_type": 0, "comm_size": 4096,
         "involved_dim": [true, false], "inputs": {"values": [[1, "Id"]]}}
    ], "Id": 5})";
    const ExecutionTrace trace = files.read("x.json", text, {.ranks = 2});
    REQUIRE(trace.size() == 4);
    CHECK(trace.nodes()[0].bytes == 4096);
    CHECK_THAT(trace.nodes()[1].seconds, WithinRel(318e-6));
    CHECK(dependencies(trace, 1) == std::vector<std::uint32_t>{0});
    CHECK(trace.notes ==
          std::vector<std::string>{
              "collectives in some dimensions of a network (involved_dim) are among their whole group (1)"});
    try {
        files.read("x.json", "{\"workload_graph\": [\n  {\"Id\": 1,}\n]}");
        FAIL("not refused");
    } catch (const ConfigError& error) {
        CHECK_THAT(error.what(), ContainsSubstring("x.json:2:12: error: this is no JSON"));
    }
}

TEST_CASE("what Chakra can say survives writing and reading") {
    ExecutionTrace trace;
    trace.ranks = 3;
    trace.names = {"work", "sum"};
    trace.operations = {"allgather", "broadcast"};
    trace.groups = {{0, 1, 2}, {2, 0}};
    TraceNode node;
    node.kind = NodeKind::compute;
    node.stream = 4;
    node.seconds = 1.5e-7;  // no whole number of microseconds
    trace.add(node, {});
    node.kind = NodeKind::nothing;
    node.stream = TraceNode::own_stream;
    node.seconds = 0;
    const std::uint32_t first = 0;
    trace.add(node, {&first, 1});
    for (const std::uint32_t rank : {0U, 1U, 2U}) {
        TraceNode gather;
        gather.kind = NodeKind::collective;
        gather.rank = rank;
        gather.name = 1;
        gather.bytes = 300;  // 100 B of each rank
        trace.add(gather, {});
        if (rank == 1) continue;
        gather.operation = 1;
        gather.group = 1;
        trace.add(gather, {});
    }
    TraceFiles files;
    const auto once = written(trace, "chakra", files.path("once"));
    REQUIRE(once ==
            std::vector<std::string>{files.path("once.0.et"), files.path("once.1.et"), files.path("once.2.et")});
    const ExecutionTrace read = read_trace(once, {});
    CHECK(read.size() == trace.size());
    CHECK(read.nodes()[0].seconds == 1.5e-7);
    CHECK(read.nodes()[1].kind == NodeKind::nothing);
    CHECK(dependencies(read, 1) == std::vector<std::uint32_t>{0});
    CHECK(read.nodes()[2].bytes == 300);
    CHECK(read.groups == std::vector<std::vector<std::uint32_t>>{{0, 1, 2}, {2, 0}});
    const auto twice = written(read, "chakra", files.path("twice"));
    for (std::size_t rank = 0; rank < 3; ++rank) CHECK(files.bytes_of(once[rank]) == files.bytes_of(twice[rank]));
}

TEST_CASE("faults of a Chakra file are named with their byte") {
    TraceFiles files;
    const auto error = [&](const std::string& bytes) {
        try {
            files.read("x.et", bytes);
        } catch (const TraceError& error) {
            return std::string(error.what()).substr(files.path("").size());
        }
        return std::string("none");
    };
    const std::string good = chakra_node(1, "x", comp, on_cpu(false));  // the metadata takes 8 bytes
    CHECK(error("") == "x.et: it is empty");
    CHECK(error(chakra_file({good + "\x7f" + "abc"})) ==
          "x.et: byte " + std::to_string(9 + good.size()) + ": 127 bytes should follow, and there are 3");
    CHECK(error(chakra_file({varint(3'000'000'000)})) ==
          "x.et: byte 8: a node of 3000000000 bytes; none has more than 4194304");
    CHECK(error(chakra_file({std::string(11, '\xff')})) == "x.et: byte 8: a length takes more than ten bytes");
    CHECK(error(chakra_file({std::string("\x02\x0a\x7f", 3)})) == "x.et: byte 8: this is no node of Chakra");
    CHECK(error(chakra_file({std::string(1, '\0')})) == "x.et: byte 8: an empty node");
    CHECK(error(good) == "x.et: byte 0: the first message should be the trace's metadata");
    CHECK(error(chakra_file({chakra_node(1, "x", comm_coll, on_cpu(false))})) ==
          "x.et: byte 8: node 1 has no comm_type");
    CHECK(error(chakra_file({chakra_node(1, "x", comm_coll, text_attribute("comm_type", "sum"))})) ==
          "x.et: byte 8: node 1: its comm_type is no whole number");
    CHECK(error(chakra_file({good, good})) == "x.et: rank 0 has two nodes 1");
    CHECK(error(chakra_file({chakra_node(1, "x", comp, "", {9})})) ==
          "x.et: node 1 of rank 0 depends on node 9, which does not exist");
    CHECK(error("\x1f\x8b"
                "abcdef") == "x.et: byte 4: this is no gzip file: unknown compression method");
    const std::string zipped = stored_gzip(chakra_file({good}));
    CHECK_THAT(error(zipped.substr(0, zipped.size() - 12)), ContainsSubstring("the gzip file ends too early"));
    CHECK_THROWS_WITH(read_trace({files.path("no.et")}, {}), ContainsSubstring("no.et: it does not exist"));
}
