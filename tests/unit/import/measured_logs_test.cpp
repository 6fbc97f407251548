#include <string>

#include "sim/document/yaml_text.hpp"
#include "sim/import/measured_logs.hpp"
#include "tests/catch.hpp"
#include "tests/unit/import/read.hpp"

// Logs with measurements, written anew, as the key `measured`.

using namespace syncline;
using namespace syncline::config;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Log : test::Read {
    ForeignFile file(const std::string& content) { return {library.cite("log.txt", content, ""), {}}; }
    std::string collective(const char* key) const {
        const Node* const value = imported.collective.find(key);
        return value ? value->scalar : "";
    }
    std::string measured(const char* key) const {
        const Node* const value = imported.measured.find(key);
        return value ? value->scalar : "";
    }
    /// The rows as "1 KiB: 12.5; …".
    std::string rows() const {
        std::string all;
        for (const Node& row : imported.measured.find("series")->items.front().find("rows")->items) {
            const Node* const at = row.find("at");
            all += (all.empty() ? "" : "; ") + (at ? at->items.front().scalar : row.find("name")->scalar) + ": " +
                   row.find("value")->scalar;
        }
        return all;
    }
};

void nccl(Log& log, const std::string& content) {
    const ForeignFile file = log.file(content);
    REQUIRE(is_nccl_tests(file));
    read_nccl_tests(file, log.imported);
}

const std::string head_2_19 =
    "# nccl-tests version 2.19.6 nccl-headers=22900 nccl-library=22900\n"
    "# Collective test starting: reduce_scatter_perf\n"
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 1024 step: 2(factor)\n"
    "#  Rank  0 Group  0 Pid 1 on node01 device  0 [0000:1b:00] NVIDIA H100\n"
    "#  Rank  1 Group  0 Pid 2 on node02 device  0 [0000:1b:00] NVIDIA H100\n"
    "#                                          out-of-place                in-place\n";
const std::string columns =
    "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong\n";

}  // namespace

TEST_CASE("nccl-tests: times out of place, the operation, ranks and hosts, between the lines of launchers") {
    Log log;
    nccl(log, "Warning: Permanently added 'node01'\n" + head_2_19 + columns +
                  "#  (B)  (elements)                 (us)  (GB/s)\n"
                  "  1024  128  float  sum  -1  12.50  0.08  0.04  0  11.00  0.09  0.05  0\n"
                  "node01:1:1 [0] NCCL INFO Connected all rings\n"
                  "[1,0]<stdout>:  2000  250  float  sum  -1  1.3e+01  0.08  0.04  N/A  11.00  0.09  0.05  N/A\n"
                  "0:   4096  512  float  sum  -1  14.0  0.08  0.04  3  11.00  0.09  0.05  0\n"
                  "     0  0  float  sum  -1  5.0  0.00  0.00  0  5.00  0.00  0.00  0\n"
                  "# Avg bus bandwidth    : 0.9\n");
    CHECK(log.errors().empty());
    CHECK(log.collective("operation") == "reduce-scatter");
    CHECK(log.collective("ranks") == "2");
    CHECK(log.imported.hosts == 2);
    CHECK(log.rows() == "1 KiB: 12.5; 2000 B: 13");
    CHECK(log.measured("source") == "nccl-tests 2.19.6, log.txt");
    CHECK_THAT(log.notes(), ContainsSubstring("1 row with wrong results (#wrong) left out"));
    CHECK_THAT(log.notes(), ContainsSubstring("1 row whose results were not checked (N/A)"));
    CHECK_THAT(log.notes(), ContainsSubstring("1 row of no bytes left out"));
}

TEST_CASE("nccl-tests: columns of all versions are found by their names") {
    const auto rows = [](const std::string& text) {
        Log log;
        nccl(log, "# out-of-place in-place\n" + text);
        CHECK(log.errors().empty());
        return log.rows();
    };
    // Until 2.10 a test without root has 12 fields, and one without reduction and root 11.
    CHECK(rows("#  size  count  type  redop  time  algbw  busbw  error  time  algbw  busbw  error\n"
               "1024  256  float  sum  7.5  1  2  5e-07  8.5  1  2  5e-07\n") == "1 KiB: 7.5");
    CHECK(rows("#  size  count  type  time  algbw  busbw  error  time  algbw  busbw  error\n"
               "1024  256  float  7.5  1  2  0e+00  8.5  1  2  0e+00\n") == "1 KiB: 7.5");
    // A time stamp of two words (`-S 1`), four fields more in each half (`-I 1`).
    CHECK(rows("#  size count type redop root time algbw busbw #wrong time algbw busbw #wrong timestamp\n"
               "1024 256 float sum -1 7.5 1 2 0 8.5 1 2 0 2026-05-04 10:00:00\n") == "1 KiB: 7.5");
    CHECK(rows("# size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv% time algbw busbw #wrong "
               "i_min i_max i_p99 i_cv%\n"
               "1024 256 float none -1 7.5 1 2 0 7.1 7.9 7.8 3.2 8.5 1 2 0 8.1 8.9 8.8 2.1\n") == "1 KiB: 7.5");
    // The same size again: the median.
    CHECK(rows(columns + "1024 256 float sum -1 7 1 2 0 8 1 2 0\n1024 256 float sum -1 9 1 2 0 8 1 2 0\n"
                         "1024 256 float sum -1 8 1 2 0 8 1 2 0\n") == "1 KiB: 8");
}

TEST_CASE("nccl-tests: what cannot be used is an error at its place") {
    const auto errors = [](const std::string& text) {
        Log log;
        nccl(log, "# out-of-place algbw\n" + text);
        return log.errors();
    };
    const std::string row = "1024 256 float sum -1 7.5 1 2 0 8.5 1 2 0\n";
    CHECK(errors("# size count type redop root cputime algbw busbw #wrong cputime algbw busbw #wrong\n" + row) ==
          "2:30: these are times of the CPU (`-C`), not of the collectives\n");
    CHECK_THAT(errors("# Collective test starting: sendrecv_perf\n" + columns + row),
               ContainsSubstring("2:29: 'sendrecv_perf' is no collective of ours"));
    CHECK_THAT(errors("# Collective test starting: all_reduce_perf\n" + columns + row +
                      "# Collective test starting: all_gather_perf\n" + columns + row),
               ContainsSubstring("5:29: this file has runs of several operations"));
    CHECK_THAT(errors("# nThread 1\n" + columns + row + "# nThread 1\n" + columns + row),
               ContainsSubstring("5:1: another run begins here"));
    CHECK_THAT(errors(columns + "1024 256 float sum -1 inf 1 2 0 8.5 1 2 0\n"),
               ContainsSubstring("3:23: 'inf' is no time in us"));
    CHECK_THAT(errors(columns), ContainsSubstring("this log has no measured times"));
}

TEST_CASE("nccl-tests: the operation of an old log is that of the command in it, or unknown") {
    Log named, unnamed;
    const std::string row = columns + "1024 256 float sum -1 7.5 1 2 0 8.5 1 2 0\n";
    nccl(named, "+ mpirun -np 8 ./build/all_reduce_perf -b 1K\n# out-of-place\n" + row);
    CHECK(named.collective("operation") == "allreduce");
    nccl(unnamed, "# out-of-place\n" + row);
    CHECK(unnamed.imported.collective.find("operation") == nullptr);
    CHECK(unnamed.imported.collective.find("ranks") == nullptr);
}

TEST_CASE("nccl-tests: JSON has a process in each entry of its devices") {
    Log log;
    const Node document = log.library.parse("nccl.json", R"({"version": 2, "args": [".\/build\/all_reduce_perf", "-b"],
        "nccl_version": 22900, "config": {"nthreads": 1, "ngpus": 4, "devices": [{"rank": 0, "hostname": "a"},
        {"rank": 4, "hostname": "b"}]}, "results": [
        {"size": 1024, "count": 256, "out_of_place": {"time": 7.5, "nwrong": 0.0}, "in_place": {"time": 6.0}},
        {"size": 2048, "count": 512, "out_of_place": null, "in_place": {"time": 6.0}},
        {"size": 4096, "count": 1024, "out_of_place": {"time": 9.0, "nwrong": 2.0}}]})",
                                            "");
    const ForeignFile file{{document.mark.source, 1, 1}, document};
    REQUIRE(is_nccl_tests(file));
    read_nccl_tests(file, log.imported);
    CHECK(log.errors().empty());
    CHECK(log.collective("operation") == "allreduce");
    CHECK(log.collective("ranks") == "8");
    CHECK(log.imported.hosts == 2);
    CHECK(log.rows() == "1 KiB: 7.5");
    CHECK_THAT(log.notes(), ContainsSubstring("without out-of-place times"));
    CHECK_THAT(log.notes(), ContainsSubstring("1 row with wrong results"));
}

TEST_CASE("OSU: average latencies; sizes of a rank are marked; bandwidths of large messages are times") {
    const auto osu = [](Log& log, const std::string& content) {
        const ForeignFile file = log.file(content);
        REQUIRE(is_osu(file));
        read_osu(file, log.imported);
    };
    Log reduce, gather, latency, bandwidth, both;
    osu(reduce,
        "# OSU MPI-CUDA Allreduce Latency Test v7.5\n# Datatype: MPI_INT.\n# Size  Avg Latency(us)  Min\n"
        "4  3.10  2.88\n1048576  68.64  63.83\n");
    CHECK(reduce.collective("operation") == "allreduce");
    CHECK(reduce.rows() == "4 B: 3.1; 1 MiB: 68.64");
    CHECK_FALSE(reduce.imported.sizes_of_a_rank);
    osu(gather, "# OSU MPI Allgather Latency Test v5.9\n# Size  Avg Latency(us)\n1024  5.00\n");
    CHECK(gather.collective("operation") == "allgather");
    CHECK(gather.imported.sizes_of_a_rank);
    osu(latency, "# OSU MPI Latency Test v7.1\n# Size  Latency (us)\n0  1.00\n8  1.25\n");
    CHECK(latency.collective("ranks") == "2");
    CHECK(latency.rows() == "8 B: 1.25");
    // 1 MiB at 2000 MB/s: 1048576 B / 2000 B/us = 524.288 us.
    osu(bandwidth, "# OSU MPI Bandwidth Test v5.9\n# Size  Bandwidth (MB/s)\n1024  500\n1048576  2000\n");
    CHECK(bandwidth.rows() == "1 MiB: 524.288");
    CHECK_THAT(bandwidth.notes(), ContainsSubstring("1 sizes below 1 MiB left out"));
    osu(both, "# OSU MPI Bi-Directional Bandwidth Test v5.9\n1048576  2000\n");
    CHECK(both.errors() == "1:1: the test 'Bi-Directional Bandwidth' is not read\n");
}

TEST_CASE("training logs: the median of all but the first reported step") {
    Log megatron, titan, trainer, deepspeed;
    const auto line = [](int step, const std::string& ms, int batch) {
        return fmt::format(
            " [2026-05-04 10:12:07] iteration {:8}/ 100 | consumed samples: 128 | elapsed time per iteration (ms): {} "
            "| "
            "learning rate: 1.0E-06 | global batch size: {:5} | lm loss: 1.1E+01 |\n",
            step, ms, batch);
    };
    const ForeignFile file = megatron.file("using world size: 16, data-parallel size: 8\n" + line(1, "60000.0", 64) +
                                           line(10, "900.5", 64) + line(20, "30000.0", 128) + line(30, "1800.0", 128) +
                                           line(40, "1810.0", 128) + line(50, "1790.0", 128));
    REQUIRE(is_megatron_log(file));
    read_megatron_log(file, megatron.imported);
    CHECK(megatron.rows() == "steps 30 to 50: 1800");
    CHECK(megatron.measured("field") == "iteration_time_s");
    CHECK(megatron.measured("unit") == "ms");
    CHECK(megatron.measured("noise") == "0.56 %");  // (1810 - 1790) / 2 / 1800
    CHECK(flow_text(megatron.imported.training) == "{ranks: 16, batch: 128}");
    CHECK_THAT(megatron.notes(), ContainsSubstring("2 lines of other batches left out"));

    const ForeignFile colours =
        titan.file(without_escapes("[rank0]: - step:  1  \x1b[32mloss: 12.1  \x1b[33mgrad_norm: 1.5  \x1b[34mtps: 812  "
                                   "\x1b[35mmfu: 4.75%\x1b[39m\n"
                                   "[rank0]: - step: 10  \x1b[32mloss: 11.2  \x1b[33mgrad_norm: 1.5  \x1b[34mtps: "
                                   "6,021  \x1b[35mmfu: N/A\x1b[39m\n"
                                   "[rank0]: - step: 20  loss: 11.0  grad_norm: 1.5  tps: 6,034  mfu: 35.33%\n"));
    REQUIRE(is_torchtitan_log(colours));
    read_torchtitan_log(colours, titan.imported);
    CHECK(titan.rows() == "steps 10 to 20: 6027.5");
    CHECK(titan.measured("field") == "tokens_per_s_per_device");

    const ForeignFile summary = trainer.file(
        "{'loss': '1.98', 'epoch': '0.2'}\n 10%|#  | 1/10 [00:42<06:20,  4.22s/it]\r"
        "{'train_runtime': '424', 'train_samples_per_second': '60.377'}\n");
    REQUIRE(is_trainer_log(summary));
    read_trainer_log(summary, trainer.imported);
    CHECK(trainer.rows() == "whole run: 60.377");
    CHECK(trainer.measured("field") == "throughput_samples_per_s");

    const ForeignFile timer = deepspeed.file(
        "global_step=10, RunningAvgSamplesPerSec=31.42, CurrSamplesPerSec=8.0\n"
        "global_step=20, RunningAvgSamplesPerSec=31.42, CurrSamplesPerSec=32.0\n");
    REQUIRE(is_deepspeed_log(timer));
    read_deepspeed_log(timer, deepspeed.imported);
    CHECK(deepspeed.rows() == "step 20: 32");
}
