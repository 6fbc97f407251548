#include "tests/smpi/smpi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace syncline::test {

namespace {

std::string platform(const SmpiStar& star, std::uint32_t ranks) {
    return fmt::format(R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="star" prefix="host-" suffix="" radical="0-{}" speed="1Gf" bw="{}Bps" lat="{}s" sharing_policy="SPLITDUPLEX"/>
</platform>
)",
                       ranks - 1, star.bandwidth_Bps, star.latency_s);
}

std::string host_file(std::uint32_t ranks) {
    std::string text;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) text += fmt::format("host-{}\n", rank);
    return text;
}

}  // namespace

namespace {

/// An invocation of smpirun on a star, without what SMPI models in addition to the links.
Invocation on_star(const TempDir& directory, const SmpiStar& star, std::uint32_t ranks) {
    Invocation smpirun{.arguments = {"-platform", directory.write("star.xml", platform(star, ranks)), "-hostfile",
                                     directory.write("hosts", host_file(ranks)), "-np", fmt::to_string(ranks)},
                       .program = SYNCLINE_SMPIRUN,
                       .directory = directory.path(),
                       .limit_s = 60};
    for (const char* neutral :
         {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0", "surf/precision:1e-12",
          // A message to oneself would take seconds, and so be noticed.
          "network/loopback-bw:1",
          // No send ends before its message is delivered.
          "smpi/send-is-detached-thresh:0", "smpi/async-small-thresh:0",
          // Calls take no time.
          "smpi/os:0:0:0:0:0", "smpi/or:0:0:0:0:0", "smpi/ois:0:0:0:0:0", "smpi/init:0", "smpi/wtime:0", "smpi/test:0",
          "smpi/iprobe:0", "smpi/host-speed:1Gf",
          // These are factors of the network model SMPI, which CM02 does not use.
          "smpi/bw-factor:0:1", "smpi/lat-factor:0:1"})
        smpirun.arguments.push_back(std::string("--cfg=") + neutral);
    return smpirun;
}

Outcome run_well(const Invocation& smpirun) {
    Outcome outcome = run_program(smpirun);
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.status == 0);
    return outcome;
}

}  // namespace

std::vector<double> smpi_seconds(const SmpiStar& star, std::uint32_t ranks, const std::string& operation,
                                 const std::string& algorithms, const std::vector<std::uint64_t>& sizes) {
    const TempDir directory;
    Invocation smpirun = on_star(directory, star, ranks);
    std::istringstream words(algorithms);
    for (std::string algorithm; words >> algorithm;) smpirun.arguments.push_back("--cfg=smpi/" + algorithm);
    smpirun.arguments.insert(
        smpirun.arguments.end(),
        {"--log=xbt_cfg.thres:warning", "--cfg=smpi/simulate-computation:no", SYNCLINE_SMPI_COLLECTIVE, operation});
    for (const std::uint64_t bytes : sizes) smpirun.arguments.push_back(fmt::to_string(bytes));
    const Outcome outcome = run_well(smpirun);

    std::vector<double> seconds(sizes.size(), 0);
    std::vector<std::uint32_t> reported(sizes.size(), 0);
    std::istringstream lines(outcome.out);
    std::uint64_t bytes = 0;
    for (double rank_s = 0; lines >> bytes >> rank_s;) {
        const auto found = std::find(sizes.begin(), sizes.end(), bytes);
        REQUIRE(found != sizes.end());
        const auto i = static_cast<std::size_t>(found - sizes.begin());
        seconds[i] = std::max(seconds[i], rank_s);
        ++reported[i];
    }
    REQUIRE(lines.eof());
    for (const std::uint32_t count : reported) REQUIRE(count == ranks);
    return seconds;
}

double smpi_replay_seconds(const SmpiStar& star, const std::vector<std::string>& actions,
                           const std::string& algorithms) {
    const TempDir directory;
    std::string list;
    for (std::size_t rank = 0; rank < actions.size(); ++rank)
        list += directory.write(fmt::format("actions.{}", rank), actions[rank]).string() + "\n";
    Invocation smpirun = on_star(directory, star, static_cast<std::uint32_t>(actions.size()));
    std::istringstream words(algorithms);
    for (std::string algorithm; words >> algorithm;) smpirun.arguments.push_back("--cfg=smpi/" + algorithm);
    smpirun.arguments.insert(smpirun.arguments.end(), {"-replay", directory.write("all", list)});
    const Outcome outcome = run_well(smpirun);
    const std::string all = outcome.out + outcome.err, says = "Simulation time ";
    const std::size_t at = all.find(says);
    REQUIRE(at != std::string::npos);
    return std::stod(all.substr(at + says.size()));
}

}  // namespace syncline::test
