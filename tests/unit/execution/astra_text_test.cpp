#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_files.hpp"
#include "tests/catch.hpp"
#include "tests/unit/execution/trace_bytes.hpp"

// The texts of ASTRA-sim's first version and of SimAI.

using namespace syncline;
using namespace syncline::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {

/// What a rank does: "name (dependencies)", in order.
std::vector<std::string> program(const ExecutionTrace& trace, std::uint32_t rank) {
    std::vector<std::string> all;
    std::uint32_t first = 0;
    while (trace.nodes()[first].rank != rank) ++first;
    for (std::uint32_t i = first; i < trace.size() && trace.nodes()[i].rank == rank; ++i) {
        std::string line = trace.names[trace.nodes()[i].name] + " (";
        for (const std::uint32_t on : trace.dependencies_of(i))
            line += (line.back() == '(' ? "" : " ") + std::to_string(on - first);
        all.push_back(line + ")");
    }
    return all;
}

std::vector<std::uint32_t> group_of(const ExecutionTrace& trace, const std::string& name, std::uint32_t rank) {
    for (const TraceNode& node : trace.nodes())
        if (node.rank == rank && trace.names[node.name] == name) return trace.groups[node.group];
    return {};
}

std::string refusal(TraceFiles& files, const std::string& text) {
    try {
        files.read("x.txt", text, {.ranks = 4});
    } catch (const ConfigError& error) {
        return std::string(error.what()).substr(files.path("").size());
    } catch (const TraceError& error) {
        return std::string(error.what()).substr(files.path("").size());
    }
    return "none";
}

const std::string two_layers =
    "a -1 10 NONE 0 20 NONE 0 30 ALLREDUCE 4000 3\n"
    "b -1 11 NONE 0 21 NONE 0 31 ALLREDUCE 5000 4\n";

}  // namespace

TEST_CASE("data parallelism computes weight gradients first, and no input gradient of layer 0") {
    TraceFiles files;
    const std::string text = "DATA\n2\n" + two_layers;
    const ExecutionTrace trace = files.read("x.txt", text, {.ranks = 3});
    CHECK(trace.ranks == 3);
    CHECK(program(trace, 2) == std::vector<std::string>{"a forward ()", "b forward (0)", "b weight gradient (1)",
                                                        "b allreduce of weight gradients (2)", "b input gradient (2)",
                                                        "a weight gradient (4)",
                                                        "a allreduce of weight gradients (5)"});
    // 10 + 11 + 31 + 21 + 30 = 103 ns on each of 3 ranks.
    double seconds = 0;
    for (const TraceNode& node : trace.nodes()) seconds += node.seconds;
    CHECK_THAT(seconds, WithinRel(3 * 103e-9, 1e-12));
    CHECK(trace.nodes()[3].bytes == 5000);
    CHECK(trace.notes == std::vector<std::string>{"a unit of compute is 1 ns; Chakra's converter takes it as 1 us",
                                                  "the bytes of an all-gather are those of one rank, as in ASTRA-sim",
                                                  "times of weight updates are left out: 7e-09 s in all"});

    const ExecutionTrace slow = files.read("x.txt", text, {.ranks = 1, .compute_unit_s = 1e-6});
    CHECK_THAT(slow.nodes()[0].seconds, WithinRel(10e-6));
    CHECK(slow.notes[0] == "a unit of compute is 1e-06 s, as asked");
}

TEST_CASE("model parallelism waits for exchanges of activations, and for gradients after the weights'") {
    TraceFiles files;
    const ExecutionTrace trace = files.read("x.txt",
                                            "MODEL\n2\na -1 10 ALLGATHER 100 20 NONE 0 30 NONE 0 0\n"
                                            "b -1 11 NONE 0 21 REDUCESCATTER 400 31 ALLREDUCE 7 0\n",
                                            {.ranks = 4});
    CHECK(program(trace, 0) ==
          std::vector<std::string>{"a forward ()", "a allgather of activations (0)", "b forward (1)",
                                   "b input gradient (2)", "b reduce-scatter of input gradients (3)",
                                   "b weight gradient (3)", "a input gradient (5 4)", "a weight gradient (6)"});
    CHECK(trace.nodes()[1].bytes == 400);  // each of 4 ranks gives 100 B
    CHECK(trace.nodes()[4].bytes == 400);
    CHECK(trace.notes.at(1) == "exchanges that MODEL does not have are left out (1)");
}

TEST_CASE("hybrid policies have groups of the model's ranks and of replicas") {
    TraceFiles files;
    const std::string layer = "\n1\na -1 1 ALLREDUCE 8 1 NONE 0 1 ALLREDUCE 9 0\n";
    const std::string forward = "a allreduce of activations", weights = "a allreduce of weight gradients";
    using Ranks = std::vector<std::uint32_t>;
    const ExecutionTrace inner =
        files.read("x.txt", "HYBRID_TRANSFORMER model_parallel_NPU_group: 2" + layer, {.ranks = 6});
    CHECK(group_of(inner, forward, 3) == Ranks{2, 3});
    CHECK(group_of(inner, weights, 3) == Ranks{1, 3, 5});
    const ExecutionTrace outer =
        files.read("x.txt", "HYBRID_MODEL_DATA model_parallel_NPU_group: 2" + layer, {.ranks = 6});
    CHECK(group_of(outer, forward, 3) == Ranks{0, 3});
    CHECK(group_of(outer, weights, 4) == Ranks{3, 4, 5});
    CHECK_THAT(refusal(files, "HYBRID_TRANSFORMER" + layer),
               ContainsSubstring("x.txt:1:1: error: HYBRID_TRANSFORMER does not say"));
    CHECK_THAT(refusal(files, "HYBRID_TRANSFORMER model_parallel_NPU_group: 3" + layer),
               ContainsSubstring("error: 4 ranks cannot be divided into groups of 3 × 1 × 1"));
}

TEST_CASE("a transformer computes the forward pass again from a checkpoint") {
    TraceFiles files;
    const std::string layer = " -1 1 NONE 0 1 NONE 0 0 NONE 0 0\n";
    const ExecutionTrace trace = files.read(
        "x.txt",
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 checkpoints: 1 0 checkpoint_initiates: 1 2\n3\na" +
            layer + "b" + layer + "c" + layer,
        {.ranks = 1});
    CHECK(program(trace, 0) == std::vector<std::string>{"a forward ()", "b forward (0)", "c forward (1)",
                                                        "a forward again (2)", "b forward again (3)",
                                                        "c input gradient (4)", "b input gradient (5)",
                                                        "a input gradient (6)"});
}

TEST_CASE("SimAI's files say the ranks, and which of them exchange") {
    TraceFiles files;
    const std::string text =
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 ga: 3 all_gpus: 8 "
        "checkpoints: 0 checkpoint_initiates: 0 pp_comm 0\n3\n"
        "grad_gather\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tALLGATHER\t800\t100\n"
        "moe\t-1\t1\tALLTOALL_EP\t64\t1\tALLTOALL_EP\t64\t1\tALLREDUCE_DP_EP\t32\t100\n"
        "norm\t-1\t1\tBROADCAST\t16384\t1\tNONE\t0\t1\tNONE\t0\t100\n";
    const ExecutionTrace trace = files.read("x.txt", text);
    CHECK(trace.ranks == 8);
    using Ranks = std::vector<std::uint32_t>;
    // Rank 5 is row 1 of replica 2: replicas 2 and 3 share experts, and 0 and 2 have the same ones.
    CHECK(group_of(trace, "grad_gather allgather of weight gradients", 5) == Ranks{1, 3, 5, 7});
    CHECK(group_of(trace, "moe all-to-all of activations", 5) == Ranks{5, 7});
    CHECK(group_of(trace, "moe allreduce of weight gradients", 5) == Ranks{1, 5});
    for (const TraceNode& node : trace.nodes())
        if (trace.names[node.name] == "grad_gather allgather of weight gradients") CHECK(node.bytes == 800);
    CHECK(trace.notes[0] == "BROADCASTs, which SimAI does not simulate, are left out (1)");
}

TEST_CASE("embeddings of DLRM are exchanged while the bottom layers compute") {
    TraceFiles files;
    const ExecutionTrace trace = files.read("x.txt",
                                            "HYBRID_DLRM 1\n3\ne -1 1 ALLTOALL 8 1 ALLTOALL 8 1 NONE 0 0\n"
                                            "b -1 1 NONE 0 1 NONE 0 1 NONE 0 0\nt -1 1 NONE 0 1 NONE 0 1 NONE 0 0\n",
                                            {.ranks = 2});
    CHECK(program(trace, 0) == std::vector<std::string>{"e forward ()", "e all-to-all of activations (0)",
                                                        "b forward (0)", "t forward (2 1)", "t weight gradient (3)",
                                                        "t input gradient (4)", "e all-to-all of input gradients (5)",
                                                        "b weight gradient (5)", "b input gradient (7)",
                                                        "e weight gradient (8)"});
}

TEST_CASE("faults of ASTRA-sim's text are named with their line") {
    TraceFiles files;
    CHECK_THAT(refusal(files, "HYBRID_DATA\n"),
               ContainsSubstring("x.txt:1:1: error: there is no parallelism 'HYBRID_DATA'"));
    CHECK_THAT(refusal(files, "DATA\n3\n" + two_layers),
               ContainsSubstring("x.txt:5:1: error: layer 3 of 3 is missing"));
    CHECK_THAT(refusal(files, "DATA\n1\na -1 ten NONE 0"),
               ContainsSubstring(
                   "x.txt:3:6: error: the time of the forward must be a number that is not negative, not 'ten'"));
    CHECK_THAT(refusal(files, "DATA\n1\na -1 1 SUM 0"),
               ContainsSubstring("x.txt:3:8: error: there is no exchange 'SUM'"));
    CHECK_THAT(refusal(files, "DATA\n1\na -1 1 NONE"),
               ContainsSubstring("x.txt:3:12: error: the bytes of the forward is missing"));
    CHECK_THAT(refusal(files, "DATA\n99999999999\n"),
               ContainsSubstring("the number of layers must be at most 2097152"));
    CHECK_THROWS_WITH(files.read("x.txt", "DATA\n2\n" + two_layers), ContainsSubstring("does not say how many ranks"));
    CHECK_THROWS_WITH(files.read("x.txt", "DATA\n2\n" + two_layers, {.ranks = 1'000'000}),
                      ContainsSubstring("at most 131072 ranks"));
}
