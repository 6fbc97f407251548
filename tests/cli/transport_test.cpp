#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

// Tests transports on the command line.

using namespace syncline::test;
using nlohmann::json;

namespace {

std::vector<std::string> ring_of_four(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"collective", "--platform", shipped("platforms/p100-25g.yaml"),
                                       "--ranks",    "4",          "--bytes",
                                       "4 MB",       "--format",   "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

double seconds(const std::vector<std::string>& more) {
    const Outcome outcome = run_program({.arguments = ring_of_four(more)});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    return json::parse(outcome.out).at("completion_time_s").get<double>();
}

}  // namespace

TEST_CASE("a transport is an option of an exchange alone, or a key of the platform") {
    // 6 steps of 1 MB: α 2 us and 25 Gb/s, reductions at 244 GB/s, and the transport's 20 us for each message.
    const double bare_s = 6 * (2e-6 + 1e6 / 3.125e9) + 3 * 1e6 / 244e9;
    CHECK(seconds({}) == Approx(bare_s).epsilon(1e-9));
    CHECK(seconds({"--transport", "{send_overhead: 20 us}"}) == Approx(bare_s + 6 * 20e-6).epsilon(1e-9));
    CHECK(seconds({"--set", "platform.transport={latency: 20 us}"}) == Approx(bare_s + 6 * 20e-6).epsilon(1e-9));
    const TempDir bench;
    const std::string file = bench.write("slow.yaml", "receive_overhead: 20 us\n").string();
    CHECK(seconds({"--transport", file}) == Approx(bare_s + 6 * 20e-6).epsilon(1e-9));
    CHECK(seconds({"--transport", file, "--set", "platform.transport.receive_overhead=1 us"}) ==
          Approx(bare_s + 6 * 1e-6).epsilon(1e-9));
}

TEST_CASE("errors in a transport are reported at their place") {
    const TempDir bench;
    bench.write("slow.yaml", "send_overhead: 20\nbandwidth: [{size: 4 KiB, bandwith: 1 GBps}]\n");
    const Outcome checked = run_in(bench, {"check", "slow.yaml"});
    CHECK(checked.status == 3);
    CHECK(checked.err.find("slow.yaml:1:16: error: 'send_overhead': 20 has no unit") != std::string::npos);
    CHECK(checked.err.find("slow.yaml:2:27: error: unknown key 'bandwith'") != std::string::npos);
    const Outcome option = run_program({.arguments = ring_of_four({"--transport", "{lattency: 1 us}"})});
    CHECK(option.status == 3);
    CHECK(option.err.find("unknown key 'lattency'") != std::string::npos);
    CHECK(option.err.find("did you mean 'latency'?") != std::string::npos);
    const Outcome absent = run_program({.arguments = ring_of_four({"--transport", "absent.yaml"})});
    CHECK(absent.status == 3);
    CHECK(absent.err.find("absent.yaml") != std::string::npos);
}
