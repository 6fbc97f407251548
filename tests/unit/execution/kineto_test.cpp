#include <fmt/format.h>

#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_files.hpp"
#include "tests/catch.hpp"
#include "tests/unit/execution/trace_bytes.hpp"

// Profiles of PyTorch: what is read of Kineto's Chrome traces. Times are in microseconds.

using namespace syncline;
using namespace syncline::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {

std::string event(const std::string& category, const std::string& name, double begin, double duration,
                  const std::string& arguments) {
    return fmt::format(R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 0, "tid": 1, "ts": {:.3f}, "dur": {:.3f},
        "args": {{{}}}}})",
                       category, name, begin, duration, arguments);
}

std::string kernel(const std::string& name, int stream, double begin, double duration, int correlation = 0,
                   const std::string& more = "") {
    return event("kernel", name, begin, duration,
                 fmt::format(R"("device": 0, "stream": {}, "correlation": {}{})", stream, correlation, more));
}

/// What PyTorch says of an exchange; `in` and `out` are numbers of elements.
std::string exchange(const std::string& collective, std::uint64_t in, std::uint64_t out, const std::string& ranks,
                     int size, const std::string& more = "", const std::string& type = "BFloat16") {
    return fmt::format(
        R"(, "Collective name": "{}", "In msg nelems": {}, "Out msg nelems": {}, "dtype": "{}", "Group size": {},
        "Process Group Name": "{}", "Process Group Ranks": "{}"{})",
        collective, in, out, type, size, ranks, ranks, more);
}

std::string call(const std::string& name, double begin, double duration, int correlation) {
    return event("cuda_runtime", name, begin, duration, fmt::format(R"("correlation": {})", correlation));
}

std::string step(int number, double begin, double end) {
    return event("user_annotation", fmt::format("ProfilerStep#{}", number), begin, end - begin, "");
}

std::string profile(const std::vector<std::string>& events, int rank = 0, int world = 8) {
    return fmt::format(
        R"({{"schemaVersion": 1, "distributedInfo": {{"backend": "nccl", "rank": {}, "world_size": {}}},
        "baseTimeNanoseconds": 1759000000000000000, "traceEvents": [{}], "traceName": "a.json"}})",
        rank, world, fmt::join(events, ",\n"));
}

/// Names of the kernels, copies and exchanges of rank 0, each with those before it on which it depends.
std::string order(const ExecutionTrace& trace) {
    std::string text;
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
        const TraceNode& node = trace.nodes()[i];
        if (node.rank != 0 || node.kind == NodeKind::host || node.kind == NodeKind::nothing) continue;
        text += trace.names[node.name];
        for (const std::uint32_t on : trace.dependencies_of(i))
            if (trace.nodes()[on].kind != NodeKind::host && trace.nodes()[on].kind != NodeKind::nothing)
                text += "<" + trace.names[trace.nodes()[on].name];
        text += " ";
    }
    return text;
}

std::string notes(const ExecutionTrace& trace) {
    return fmt::format("{}", fmt::join(trace.notes, "; "));
}

}  // namespace

TEST_CASE("a profile's kernels keep their durations, and its collectives their bytes") {
    const std::string all = "[0, 1, 2, 3]";
    TraceFiles files;
    const ExecutionTrace trace = files.read(
        "a.pt.trace.json",
        profile({step(3, 0, 1000), kernel("gemm", 7, 100, 200.125, 1),
                 kernel("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 20, 310, 400,
                        2, exchange("_reduce_scatter_base", 4000, 1000, all, 4)),
                 kernel("ncclDevKernel_AllGather_RING_LL", 20, 720, 100, 3,
                        exchange("_allgather_base", 1000, 4000, all, 4)),
                 kernel("ncclDevKernel_AllReduce_Sum_f32_TREE_LL", 20, 830, 50, 4,
                        exchange("allreduce", 300, 300, all, 4, "", "Float")),
                 event("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 900, 10, R"("device": 0, "stream": 7)"),
                 event("gpu_user_annotation", "ProfilerStep#3", 99.999, 900, R"("device": 0, "stream": 7)"),
                 event("cpu_op", "record_param_comms", 90, 1, R"("External id": 9, "Collective name": "allreduce")")},
                0, 4));
    CHECK(trace.ranks == 4);
    CHECK(trace.groups == std::vector<std::vector<std::uint32_t>>{{0, 1, 2, 3}});
    CHECK(count(trace, NodeKind::compute) == 4);  // one on each rank
    CHECK(count(trace, NodeKind::copy) == 4);
    CHECK(count(trace, NodeKind::collective) == 12);
    std::vector<std::pair<std::string, std::uint64_t>> exchanges;
    for (const TraceNode& node : trace.nodes()) {
        if (node.rank == 3 && node.kind == NodeKind::collective)
            exchanges.emplace_back(trace.operations[node.operation], node.bytes);
        if (node.kind == NodeKind::compute) CHECK_THAT(node.seconds, WithinRel(200.125e-6));
    }
    // Two bytes an element of bf16, four of f32; what is larger of both buffers.
    CHECK(exchanges == std::vector<std::pair<std::string, std::uint64_t>>{
                           {"reduce-scatter", 8000}, {"allgather", 8000}, {"allreduce", 1200}});
    CHECK(trace.names[1] == "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL");
    CHECK_THAT(notes(trace), ContainsSubstring("ProfilerStep#3 is replayed;") &&
                                 ContainsSubstring("all 4 ranks do what rank 0 does, without waiting") &&
                                 ContainsSubstring("durations of exchanges, which contain waiting, are left out (3)"));
}

TEST_CASE("without a word of the profile, work waits for what had ended on other streams") {
    TraceFiles files;
    const std::string sum = exchange("allreduce", 8, 8, "[0, 1]", 2);
    // b begins before the all-reduce r ends, and c after it. d is after r through c.
    const ExecutionTrace trace =
        files.read("a.json", profile({kernel("a", 7, 0, 100), kernel("nccl r", 20, 110, 200, 0, sum),
                                      kernel("b", 7, 120, 50), kernel("c", 7, 310, 50), kernel("d", 7, 360, 50),
                                      kernel("nccl s", 20, 400, 50, 0, sum), kernel("e", 9, 500, 1)},
                                     0, 2));
    CHECK(order(trace) == "a nccl r<a b<a c<nccl r<b d<c nccl s<nccl r<c e<d<nccl s ");
    CHECK_THAT(notes(trace), ContainsSubstring("does not say which kernels wait for exchanges"));
}

TEST_CASE("kernels that are launched after cudaStreamWaitEvent wait for other streams") {
    TraceFiles files;
    const std::string sum = exchange("allreduce", 8, 8, "[0, 1]", 2);
    // The first call is the exchange's own; c has none, d has one.
    const std::vector<std::string> events{
        call("cudaLaunchKernel", 0, 1, 1), call("cudaStreamWaitEvent", 2, 1, 90), call("cudaLaunchKernel", 4, 1, 2),
        call("cudaLaunchKernel", 6, 1, 3), call("cudaStreamWaitEvent", 8, 1, 91), call("cudaLaunchKernel", 10, 1, 4),
        kernel("a", 7, 10, 10, 1),         kernel("nccl r", 20, 20, 10, 2, sum),  kernel("c", 7, 40, 10, 3),
        kernel("d", 7, 60, 10, 4)};
    const ExecutionTrace trace = files.read("a.json", profile(events, 0, 2));
    CHECK(order(trace) == "a nccl r<a c<a d<nccl r<c ");
    CHECK_THAT(notes(trace), ContainsSubstring("kernels that were launched after cudaStreamWaitEvent"));

    SECTION("not for what is launched later") {
        std::vector<std::string> later = events;
        later.push_back(kernel("x", 9, 30, 5, 5));
        later.push_back(call("cudaLaunchKernel", 20, 1, 5));
        CHECK(order(files.read("b.json", profile(later, 0, 2))) == "a nccl r<a x c<a d<nccl r<c ");
    }
}

TEST_CASE("cuda_sync events say which work waits for which") {
    TraceFiles files;
    const std::string sum = exchange("allreduce", 8, 8, "[0, 1]", 2);
    const auto wait = [](int correlation, int stream, int recorded, int on) {
        return event("cuda_sync", "Stream Wait Event", 0, 0,
                     fmt::format(R"("stream": {}, "wait_on_stream": {}, "wait_on_cuda_event_record_corr_id": {},
                                    "correlation": {}, "device": 0)",
                                 stream, on, recorded, correlation));
    };
    // r waits for a, recorded at 2; d for r. c, in between, waits for nothing, though r had ended.
    const ExecutionTrace trace = files.read(
        "a.json", profile({call("cudaLaunchKernel", 0, 1, 1), call("cudaEventRecord", 2, 1, 80),
                           call("cudaStreamWaitEvent", 3, 1, 90), call("cudaLaunchKernel", 4, 1, 2),
                           call("cudaEventRecord", 5, 1, 81), call("cudaLaunchKernel", 6, 1, 3),
                           call("cudaStreamWaitEvent", 8, 1, 91), call("cudaLaunchKernel", 10, 1, 4),
                           wait(90, 20, 80, 7), wait(91, 7, 81, 20), kernel("a", 7, 10, 10, 1),
                           kernel("nccl r", 20, 20, 10, 2, sum), kernel("c", 7, 40, 10, 3), kernel("d", 7, 60, 10, 4)},
                          0, 2));
    CHECK(order(trace) == "a nccl r<a c<a d<nccl r<c ");
    CHECK_THAT(notes(trace), ContainsSubstring("where cuda_sync events say it"));
}

TEST_CASE("the middle step of a profile is read, or the one that is wanted") {
    TraceFiles files;
    // b begins after its step, but was launched in it.
    const std::string text =
        profile({step(5, 0, 100), step(6, 100, 200), step(7, 200, 300), kernel("a", 7, 50, 10, 1),
                 kernel("b", 7, 220, 10, 2), kernel("c", 7, 260, 10, 3), call("cudaLaunchKernel", 40, 1, 1),
                 call("cudaLaunchKernel", 140, 1, 2), call("cudaLaunchKernel", 240, 1, 3)},
                0, 1);
    CHECK(order(files.read("a.json", text)) == "b ");
    CHECK_THAT(notes(files.read("a.json", text)), ContainsSubstring("ProfilerStep#6 is replayed, of 5 to 7 (`step`)"));
    CHECK(order(files.read("a.json", text, {.step = 5})) == "a ");
    CHECK(order(files.read("a.json", text, {.step = 7})) == "c ");
    CHECK_THROWS_WITH(files.read("a.json", text, {.step = 8}),
                      ContainsSubstring("it has no step 8, but those from 5 to 7"));
    CHECK_THROWS_WITH(files.read("x.goal", "num_ranks 2", {.step = 8}),
                      ContainsSubstring("the format 'goal' has no steps"));
}

TEST_CASE("old profiles have other words, and exchanges are described by the operation that launched them") {
    TraceFiles files;
    const ExecutionTrace trace = files.read("a.json", R"({"schemaVersion": 1, "traceEvents": [
        {"ph": "X", "cat": "Operator", "name": "ProfilerStep#1", "pid": 7, "tid": "9", "ts": 10, "dur": 90},
        {"ph": "X", "cat": "Kernel", "name": "gemm", "pid": 0, "tid": "stream 7", "ts": 20, "dur": 5,
         "args": {"stream": 7, "external id": 3}},
        {"ph": "X", "cat": "Memcpy", "name": "copy", "pid": 0, "tid": "stream 8", "ts": 22, "dur": 1},
        {"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 7, "tid": 9, "ts": 15, "dur": 3,
         "args": {"External id": 4, "Collective name": "all_to_allv", "In msg nelems": 100, "Out msg nelems": 60,
         "dtype": "Byte", "Group size": 2, "Process Group Ranks": [0, 1]}},
        {"ph": "X", "cat": "Kernel", "name": "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", "pid": 0, "tid": "stream 20",
         "ts": 30, "dur": 5, "args": {"stream": 20, "External id": 4}}]})");
    CHECK(order(trace) == "gemm copy ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t<gemm<copy ");
    CHECK(trace.ranks == 2);
    CHECK(trace.operations[trace.nodes()[2].operation] == "all-to-all");
    CHECK(trace.nodes()[2].bytes == 100);
}

TEST_CASE("an exchange of which too little is known takes its recorded time") {
    TraceFiles files;
    const std::string all = "[0, 1]";
    const ExecutionTrace trace = files.read(
        "a.json", profile({kernel("ncclKernel_AllReduce_RING_LL_Sum_float", 20, 0, 30),
                           kernel("nccl s", 20, 40, 5, 0, exchange("send", 8, 8, all, 2)),
                           kernel("nccl t", 20, 50, 5, 0, exchange("allreduce", 8, 8, all, 2, "", "Quaternion"))},
                          0, 2));
    CHECK(count(trace, NodeKind::copy) == 6);
    CHECK_THAT(notes(trace), ContainsSubstring("take their recorded times, which contain waiting (3)"));
}

TEST_CASE("one file stands for all ranks of a mesh") {
    TraceFiles files;
    const auto groups = [&](const std::string& ranks, int size, int own, std::uint32_t of) {
        const ExecutionTrace trace = files.read(
            "a.json", profile({kernel("nccl r", 20, 0, 1, 0, exchange("allreduce", 8, 8, ranks, size))}, own, 8),
            {.ranks = of});
        std::vector<std::string> all;
        for (const auto& members : trace.groups) all.push_back(fmt::format("[{}]", fmt::join(members, ", ")));
        return fmt::format("{}", fmt::join(all, " "));
    };
    CHECK(groups("[2, 3]", 2, 3, 0) == "[0, 1] [2, 3] [4, 5] [6, 7]");
    CHECK(groups("[1, 5]", 2, 1, 0) == "[0, 4] [1, 5] [2, 6] [3, 7]");
    CHECK(groups("[1, 3, 5, 7]", 4, 5, 0) == "[0, 2, 4, 6] [1, 3, 5, 7]");
    CHECK(groups("[0, 1, 2, 3, 4, 5, 6, 7]", 8, 0, 3) == "[0, 1, 2]");  // all, of which there are others
    CHECK(groups("[0, 1, ..., 3]", 4, 0, 4) == "[0, 1, 2, 3]");         // PyTorch shortens long lists
    CHECK_THROWS_WITH(groups("[0, 1, 4]", 3, 0, 0), ContainsSubstring("is no regular part of all ranks"));
    CHECK_THROWS_WITH(groups("[2, 3, 4]", 3, 2, 0), ContainsSubstring("is no regular part of all ranks"));
    CHECK_THROWS_WITH(groups("[0, 1]", 2, 0, 5), ContainsSubstring("1 apart does not divide 5 ranks"));
    CHECK_THROWS_WITH(groups("", 2, 0, 0), ContainsSubstring("has no list of ranks; give the files of all ranks"));
}

TEST_CASE("the files of all ranks are matched by rank and sequence number") {
    TraceFiles files;
    const auto one = [&](const std::string& name, int rank, const std::vector<std::pair<int, std::uint64_t>>& calls) {
        std::vector<std::string> events{kernel("a", 7, 0, 1)};
        for (const auto& [sequence, elements] : calls)
            events.push_back(kernel(
                "nccl r", 20, 10 * sequence, 1, 0,
                exchange("all_to_all", elements, elements, "[0, 1]", 2, fmt::format(R"(, "Seq": {})", sequence))));
        return files.write(name, profile(events, rank, 2));
    };
    // Given in the wrong order. Rank 1 begins one exchange earlier, and sends less in the other one.
    const ExecutionTrace trace =
        read_trace({one("b.json", 1, {{1, 10}, {2, 40}}), one("a.json", 0, {{2, 50}, {3, 9}})}, {});
    CHECK(count(trace, NodeKind::collective) == 2);
    for (const TraceNode& node : trace.nodes())
        if (node.kind == NodeKind::collective) CHECK(node.bytes == 100);
    CHECK_THAT(notes(trace), ContainsSubstring("exchanges that not all members have in this step are left out (2)") &&
                                 ContainsSubstring("send less than another one send as much (1)"));

    const std::string zero = one("a.json", 0, {}), five = one("f.json", 5, {});
    CHECK_THROWS_WITH(read_trace({zero, zero}, {}), ContainsSubstring("another file is of rank 0, too"));
    CHECK_THROWS_WITH(read_trace({zero, five}, {}),
                      ContainsSubstring("f.json: it is of rank 5, and there are 2 files"));
}

TEST_CASE("a profile that cannot be replayed is refused with the reason") {
    TraceFiles files;
    CHECK_THROWS_WITH(files.read("a.json", profile({call("cudaLaunchKernel", 0, 1, 1)})),
                      ContainsSubstring("it has no kernels: the profile may be of the processor alone"));
    CHECK_THROWS_WITH(files.read("a.json", profile({step(4, 10, 20), kernel("a", 7, 0, 1)})),
                      ContainsSubstring("ProfilerStep#4 has launched no kernels"));
    CHECK_THROWS_WITH(files.read("a.json", R"({"deviceProperties": [], "a": 1})"),
                      ContainsSubstring("it has no list \"traceEvents\""));
    CHECK_THROWS_WITH(files.read("a.json", R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "a"}]})"),
                      ContainsSubstring("event 1 of traceEvents has no time \"ts\""));
    CHECK_THROWS_WITH(
        files.read("a.json", R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "a", "ts": 1e300}]})"),
        ContainsSubstring("has a time that is no time"));
    CHECK_THROWS_AS(files.read("a.json", "{\"traceEvents\": [\n{\"ph\": "), ConfigError);
    CHECK_THROWS_WITH(files.read("a.json.gz", stored_gzip("{\"traceEvents\": [\n{\"ph\": ")),
                      ContainsSubstring("a.json.gz: byte 25 of the text: this is no JSON"));
    CHECK_THROWS_WITH(files.read("a.json", "{\"traceEvents\": " + std::string(1000, '[')),
                      ContainsSubstring("it is nested more than 100 levels deep"));
}

TEST_CASE("a profile in gzip is read as its text") {
    TraceFiles files;
    const std::string text = profile({kernel("a", 7, 0, 1), kernel("b", 7, 2, 1)}, 0, 1);
    CHECK(order(files.read("a.json.gz", stored_gzip(text))) == "a b<a ");
}
