#include <string>

#include "sim/import/astra_sim.hpp"
#include "sim/import/network_texts.hpp"
#include "tests/catch.hpp"
#include "tests/unit/import/read.hpp"

// Networks of other simulators, written anew, as keys of a platform.

using namespace syncline;
using namespace syncline::config;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Read : test::Read {
    std::string platform(const char* key) const { return text(imported.platform, key); }
    std::string fabric(const char* key) const { return text(*imported.platform.find("fabric"), key); }
    std::string notes() const { return placed(imported.findings.notes); }
};

using Recognise = bool(const ForeignFile&);
using Reader = void(const ForeignFile&, Imported&);

Read text(const std::string& content, Recognise* recognise, Reader* reader) {
    Read read;
    const ForeignFile file{read.library.cite("network.txt", content, ""), {}};
    REQUIRE(recognise(file));
    reader(file, read.imported);
    return read;
}
Read ns3(const std::string& content) {
    return text(content, is_ns3, read_ns3);
}
Read htsim(const std::string& content) {
    return text(content, is_htsim, read_htsim);
}

Read astra_network(const std::string& content) {
    Read read;
    const Node document = read.library.parse("network.yml", content, "");
    REQUIRE(is_astra_network(document));
    read_astra_network(document, read.imported);
    return read;
}

Read astra_system(const std::string& content) {
    Read read;
    const Node document = read.library.parse("system.json", content, "");
    REQUIRE(is_astra_system(document));
    read_astra_system(document, read.imported);
    return read;
}

}  // namespace

TEST_CASE("ASTRA-sim's network: one dimension is a shape, and GB/s are 2^30 B/s") {
    const Read ring = astra_network("topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n");
    CHECK(ring.platform("nodes") == "8");
    CHECK(ring.platform("fabric") == "{topology: ring, hosts: 8, bandwidth: 50 GiBps, latency: 500 ns}");
    CHECK_THAT(ring.notes(), ContainsSubstring("50 are 53.69 GB/s"));  // 50 · 2^30 = 53,687,091,200
    CHECK(flow_text(ring.imported.trace) == "{ranks: 8}");
    const Read star = astra_network("topology: Switch\nnpus_count: 4\nbandwidth: 400\nlatency: 936.25\n");
    CHECK(star.platform("fabric") == "{topology: star, hosts: 4, bandwidth: 400 GiBps, latency: 936.25 ns}");
    const Read mesh = astra_network("topology: [FullyConnected]\nnpus_count: [3]\nbandwidth: [1]\nlatency: [0]\n");
    CHECK(mesh.platform("fabric") == "{topology: full-mesh, hosts: 3, bandwidth: 1 GiBps, latency: none}");
}

TEST_CASE("ASTRA-sim's network: several dimensions") {
    const Read torus =
        astra_network("topology: [Ring, Ring]\nnpus_count: [4, 2]\nbandwidth: [2, 1]\nlatency: [5, 7]\n");
    CHECK(torus.platform("fabric") ==
          "{topology: torus, dimensions: [4, 2], bandwidth: [2 GiBps, 1 GiBps], latency: [5 ns, 7 ns]}");
    // NPU i of each group is below switch i of the second dimension: a rail.
    const Read rails =
        astra_network("topology: [Switch, Switch]\nnpus_count: [8, 2]\nbandwidth: [400, 50]\nlatency: [1, 2]\n");
    CHECK(rails.platform("nodes") == "2");
    CHECK(rails.platform("per_node") ==
          "{devices: 8, links: {pattern: switch, bandwidth: 400 GiBps, latency: 1 ns}, nics: 8}");
    CHECK(rails.platform("fabric") == "{topology: rails, rails: 8, spines: 0, bandwidth: 50 GiBps, latency: 2 ns}");
    // A switch for NPUs 0 and 1, one for 2 and 3, and rings (one cable) of 0 and 2, and of 1 and 3.
    const Read graph =
        astra_network("topology: [Switch, Ring]\nnpus_count: [2, 2]\nbandwidth: [4, 4]\nlatency: [1, 2]\n");
    CHECK(graph.fabric("switches") == "[switch-0, switch-1]");
    CHECK(graph.fabric("edges") ==
          "[{from: npu-0, to: switch-0}, {from: npu-1, to: switch-0}, {from: npu-2, to: switch-1}, "
          "{from: npu-0, to: npu-2, latency: 2 ns}, {from: npu-3, to: switch-1}, "
          "{from: npu-1, to: npu-3, latency: 2 ns}]");
    CHECK(graph.fabric("bandwidth") == "34.359738368 Gbps");  // 4 · 2^30 · 8 / 1e9
}

TEST_CASE("ASTRA-sim's network: faults have a place") {
    const auto errors = [](const std::string& content) { return astra_network(content).errors(); };
    CHECK(errors("topology: [Ring]\nnpus_count: [1000000000]\nbandwidth: [1]\nlatency: [1]\n") ==
          "2:14: 'npus_count' is not a whole number from 2 to 1048576\n");
    CHECK_THAT(errors("topology: [Ring, Ring]\nnpus_count: [1048576, 1048576]\nbandwidth: [1, 1]\nlatency: [1, 1]\n"),
               ContainsSubstring("more than 1048576 NPUs"));
    CHECK_THAT(errors("topology: [Ring, Ring]\nnpus_count: [4]\nbandwidth: [1, 1]\nlatency: [1, 1]\n"),
               ContainsSubstring("'npus_count' has 1 entries, 'topology' 2"));
    CHECK_THAT(errors("topology: [Mesh]\nnpus_count: [4]\nbandwidth: [fast]\nlatency: [-1]\n"),
               ContainsSubstring("1:12: 'Mesh' is no topology") && ContainsSubstring("3:13: 'bandwidth': 'fast'") &&
                   ContainsSubstring("4:11: 'latency': '-1'"));
    CHECK_THAT(errors("topology: [FullyConnected, Ring]\nnpus_count: [4096, 2]\nbandwidth: [1, 1]\nlatency: [1, 1]\n"),
               ContainsSubstring("cables, more than 20000"));
}

TEST_CASE("ASTRA-sim's system: device, overheads, algorithms and pieces") {
    const Read read =
        astra_system(R"({"scheduling-policy": "LIFO", "endpoint-delay": 10, "active-chunks-per-dimension": 2,
        "preferred-dataset-splits": 4, "all-reduce-implementation": ["halvingDoubling"],
        "all-gather-implementation": ["ring"], "all-to-all-implementation": ["direct"], "local-mem-bw": 1600,
        "peak-perf": 900, "roofline-enabled": 0, "boost-mode": 0, "colour": 1})");
    CHECK(read.platform("device") == "{name: npu, flops: 900 Tflops, memory_bandwidth: 1600 GBps}");
    CHECK(read.platform("transport") ==
          "{launch: 10 ns, receive_overhead: 10 ns, channels: 1, selection: {rows: "
          "[{operation: allreduce, algorithm: rabenseifner}, {operation: allgather, algorithm: ring}, "
          "{operation: all-to-all, algorithm: direct}]}}");
    CHECK(flow_text(read.imported.trace) == "{pieces: 4}");
    CHECK_THAT(read.notes(), ContainsSubstring("'active-chunks-per-dimension: 2'") && ContainsSubstring("LIFO") &&
                                 ContainsSubstring("not understood: colour"));
    // Two dimensions: rings have a channel for each port of a node.
    const Read two = astra_system(R"({"endpoint-delay": 0, "all-reduce-implementation": ["ring", "direct"]})");
    CHECK(two.platform("transport") ==
          "{launch: none, receive_overhead: none, selection: {rows: [{operation: allreduce, algorithm: ring}]}}");
    CHECK_THAT(two.notes(), ContainsSubstring("is ring in all dimensions") && ContainsSubstring("all ranks at once"));
    CHECK_THAT(two.notes(), ContainsSubstring("there is no 'local-mem-bw': additions take no time"));
    CHECK_THAT(astra_system(R"({"endpoint-delay": -1})").errors(), ContainsSubstring("'endpoint-delay'"));
}

TEST_CASE("ns-3: HPCC's topologies are graphs, whose hosts keep their order") {
    const Read read =
        ns3("6 2 6\n4 5\n0 4 100Gbps 1us 0\n5 2 100Gbps 1us 0\n1 4 100Gbps 1us 0\n3 5 100Gbps 1us 0\n"
            "4 5 400Gbps 0.002ms 0\n5 4 400Gbps 0.002ms 0.01\n");
    CHECK(read.errors().empty());
    CHECK(read.platform("nodes") == "4");
    CHECK(read.fabric("bandwidth") == "100 Gbps");
    CHECK(read.fabric("switches") == "[switch-4, switch-5]");
    CHECK(read.fabric("edges") ==
          "[{from: host-0, to: switch-4}, {from: host-1, to: switch-4}, {from: host-2, to: switch-5}, "
          "{from: host-3, to: switch-5}, "
          "{from: switch-4, to: switch-5, bandwidth: 800 Gbps, latency: 2000 ns}]");
    CHECK(read.notes() ==
          "8:21: left out: rates of errors\n"
          "7:1: switch-4 and switch-5 have 2 parallel cables, which are one of their bandwidths together\n");
}

TEST_CASE("ns-3: SimAI's servers are nodes with NVSwitches") {
    // Two servers of two GPUs, each with an NVSwitch (4, 5), and one switch (6) for all.
    const std::string servers =
                          "7 2 2 1 8 H100\n4 5 6\n0 4 3600Gbps 0.000025ms 0\n1 4 3600Gbps 0.000025ms 0\n"
                          "2 5 3600Gbps 0.000025ms 0\n3 5 3600Gbps 0.000025ms 0\n",
                      network =
                          "0 6 200Gbps 0.0005ms 0\n1 6 200Gbps 0.0005ms 0\n2 6 200Gbps 0.0005ms 0\n"
                          "3 6 200Gbps 0.0005ms 0\n";
    const Read read = ns3(servers + network);
    CHECK(read.platform("device") == "h100-sxm");
    CHECK(read.platform("nodes") == "2");
    CHECK(read.platform("per_node") ==
          "{devices: 2, links: {pattern: switch, bandwidth: 3600 Gbps, latency: 25 ns}, nics: 2}");
    CHECK(read.fabric("switches") == "[switch-6]");
    CHECK(read.fabric("edges") ==
          "[{from: host-0, to: switch-6}, {from: host-1, to: switch-6}, "
          "{from: host-2, to: switch-6}, {from: host-3, to: switch-6}]");
    const Read one = ns3("3 2 1 0 2 H20\n2\n0 2 3600Gbps 0.000025ms 0\n1 2 3600Gbps 0.000025ms 0\n");
    CHECK(one.platform("nodes") == "1");
    CHECK(one.platform("device").empty());
    CHECK_THAT(one.notes(),
               ContainsSubstring("left out: the GPU H20") && ContainsSubstring("no network between servers"));
    // An NVSwitch of GPUs of two servers: a switch like others.
    const Read across = ns3("5 1 1 0 4 H100\n4\n0 4 8Gbps 1us 0\n1 4 8Gbps 1us 0\n2 4 8Gbps 1us 0\n3 4 8Gbps 1us 0\n");
    CHECK(across.platform("nodes") == "4");
    CHECK(across.fabric("switches") == "[switch-4]");
    CHECK_THAT(across.notes(), ContainsSubstring("servers are not alike"));
}

TEST_CASE("ns-3: faults have a place") {
    const auto errors = [](const std::string& content) { return ns3(content).errors(); };
    CHECK(errors("1000000000 2 5\n") == "1:1: the number of nodes is 1000000000, not from 2 to 200000\n");
    CHECK(errors("3 1 2\n2\n0 2 100Gbps 1us 0\n") == "4:1: the text ends after 1 of 2 links\n");
    CHECK(errors("3 2 2\n2 2\n") == "2:3: switch 2 is listed twice\n");
    CHECK(errors("3 1 1\n2\n0 9 100Gbps 1us 0\n") == "3:3: the end of a link is 9, not from 0 to 2\n");
    CHECK(errors("3 1 1\n2\n0 0 100Gbps 1us 0\n") == "3:3: a link joins a node to itself\n");
    CHECK_THAT(errors("3 1 1\n2\n0 2 100 1us 0\n"), ContainsSubstring("3:5: "));
    CHECK_THAT(errors("3 1 1\n2\n0 2 100Gbps 1us 0\n"), ContainsSubstring("node 1 has no links"));
}

TEST_CASE("htsim: fat trees of two and three tiers, bundles, and latencies of switches") {
    const Read two = htsim(
        "# comment\nNodes 64\nTiers 2\nPodsize 64\n\nTier 0\nDownlink_speed_Gbps 200\nRadix_Down 16\n"
        "Radix_Up 4\nDownlink_Latency_ns 600\nSwitch_Latency_ns 0\nOversubscribed 2\n\nTier 1\n"
        "Downlink_speed_Gbps 400\nRadix_Down 4\nDownlink_Latency_ns 800\nSwitch_Latency_ns 300\n");
    CHECK(two.errors().empty());
    CHECK(two.platform("nodes") == "64");
    // Over a spine: 2 · 600 + 2 · (800 + 300/2) = 3100 ns.
    CHECK(two.platform("fabric") ==
          "{topology: fat-tree, down: [16, 4], up: [1, 4], cables: [1, 1], "
          "bandwidth: [200 Gbps, 400 Gbps], latency: [600 ns, 950 ns]}");
    // 12 pods of 36 hosts; bundles of three cables from 2 of the 12 core switches to each of 6 switches of a pod.
    const Read three = htsim(
        "nodes 432\ntiers 3\npodsize 36\ntier 0\ndownlink_speed_gbps 100\nradix_down 6\nradix_up 6\n"
        "downlink_latency_ns 1000\nqueue_up 50\ntier 1\ndownlink_speed_gbps 100\nradix_down 6\n"
        "radix_up 6\ndownlink_latency_ns 1000\ntier 2\ndownlink_speed_gbps 100\nradix_down 36\n"
        "downlink_latency_ns 600000\nbundle 3\n");
    CHECK(three.errors().empty());
    CHECK(three.fabric("down") == "[6, 6, 12]");
    CHECK(three.fabric("up") == "[1, 6, 2]");
    CHECK(three.fabric("cables") == "[1, 1, 3]");
    CHECK_THAT(three.notes(), ContainsSubstring("left out: sizes of queues"));
}

TEST_CASE("ibnetdiscover: cables listed at both ends, speeds, and servers with several adapters") {
    const auto network = [](const std::string& b_speed) {
        return "# generated\nvendid=0x2c9\nswitchguid=0xf1(f1)\nSwitch 40 \"S-f1\" # \"MF0;leaf1:MQM8700/U1\" enhanced "
               "port 0 "
               "lid 10 lmc 0\n[1] \"H-a0\"[1](a01) # \"node01 mlx5_0\" lid 100 4xHDR\n[2] \"H-b0\"[1](b01) # \"node02 "
               "mlx5_0\" lid "
               "101 " +
               b_speed +
               "\n[21] \"S-f2\"[1] # \"MF0;spine1:MQM8700/U1\" lid 20 4xHDR\n[22] \"S-f2\"[2] # "
               "\"MF0;spine1:MQM8700/U1\" lid 20 4xHDR\n\n"
               "switchguid=0xf2(f2)\nSwitch 40 \"S-f2\" # \"MF0;spine1:MQM8700/U1\" enhanced port 0 lid 20 lmc 0\n"
               "[1] \"S-f1\"[21] # \"MF0;leaf1:MQM8700/U1\" lid 10 4xHDR\n[2] \"S-f1\"[22] # \"MF0;leaf1:MQM8700/U1\" "
               "lid 10 4xHDR\n"
               "[3] \"H-a1\"[1](a11) # \"node01 mlx5_1\" lid 102 4xHDR\n[4] \"H-b1\"[1](b11) # \"node02 mlx5_1\" lid "
               "103 2xHDR\n"
               "[41] \"H-f2\"[1](f21) # \"Mellanox Technologies Aggregation Node\" lid 104 4xHDR\n\n"
               "Ca 1 \"H-a0\" # \"node01 mlx5_0\"\n[1](a01) \"S-f1\"[1] # lid 100 lmc 0 \"MF0;leaf1:MQM8700/U1\" lid "
               "10 4xHDR\n"
               "Ca 1 \"H-a1\" # \"node01 mlx5_1\"\nCa 1 \"H-b0\" # \"node02 mlx5_0\"\nCa 1 \"H-b1\" # \"node02 "
               "mlx5_1\"\n"
               "Ca 1 \"H-f2\" # \"Mellanox Technologies Aggregation Node\"\n";
    };
    const Read read = text(network("4xHDR"), is_ibnetdiscover, read_ibnetdiscover);
    CHECK(read.errors().empty());
    CHECK(read.platform("nodes") == "2");
    CHECK(read.platform("per_node") == "{nics: 2}");
    CHECK(read.fabric("bandwidth") == "200 Gbps");  // 4 lanes of 50 Gb/s; a split port has 2
    CHECK(read.fabric("switches") == "[leaf1, spine1]");
    CHECK(read.fabric("edges") ==
          "[{from: node01-port-0, to: leaf1}, {from: node01-port-1, to: spine1}, {from: node02-port-0, to: leaf1}, "
          "{from: node02-port-1, to: spine1, bandwidth: 100 Gbps}, {from: leaf1, to: spine1, bandwidth: 400 Gbps}]");
    CHECK_THAT(read.notes(),
               ContainsSubstring("1 switches that can reduce") && ContainsSubstring("nothing of latencies"));
    CHECK_THAT(text(network("fast"), is_ibnetdiscover, read_ibnetdiscover).errors(),
               ContainsSubstring("6:46: the speed of a port is missing"));
    CHECK_THAT(text("switchguid=1\n[1] \"S-f1\"[1]\n", is_ibnetdiscover, read_ibnetdiscover).errors(),
               ContainsSubstring("2:1: this is no port"));
}

TEST_CASE("htsim: faults have a place") {
    const auto errors = [](const std::string& content) { return htsim(content).errors(); };
    CHECK_THAT(errors("Nodes 1000000001\nTiers 2\n"), ContainsSubstring("1:7: nodes is 1000000001"));
    CHECK_THAT(errors("Nodes 8\nTiers 2\nPodsize 8\nRadix_Up 2\n"),
               ContainsSubstring("4:1: 'radix_up' is before the first 'Tier'"));
    CHECK_THAT(errors("Nodes 8\nTiers 4\n"), ContainsSubstring("2:7: tiers is 4"));
    const std::string tiers =
        "Tier 0\nDownlink_speed_Gbps 1\nRadix_Down 2\nRadix_Up 2\nDownlink_Latency_ns 1\nTier 1\n"
        "Downlink_speed_Gbps 1\nDownlink_Latency_ns 1\nRadix_Down ";
    CHECK_THAT(errors("Nodes 8\nTiers 2\nPodsize 8\n" + tiers + "3\n"),
               ContainsSubstring("a switch of tier 1 reaches 6 hosts of 8"));
    CHECK(errors("Nodes 8\nTiers 2\nPodsize 8\n" + tiers + "4\n").empty());
}
