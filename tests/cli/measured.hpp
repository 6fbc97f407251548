#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

/// Ring all-reduces with invented measurements. On the small platform a message takes two latencies and its bytes, so S
/// bytes among N ranks take 2(N-1)(2 α + ⌈S/N⌉ / B).
namespace syncline::test {

inline double ring_s(int ranks, double bytes, double bandwidth_Bps, double latency_s) {
    return 2 * (ranks - 1) * (2 * latency_s + bytes / ranks / bandwidth_Bps);
}

struct RingBench : TempDir {
    RingBench() { write("platform.yaml", tiny_platform); }

    static constexpr double bandwidth_Bps = 2.5e9, latency_s = 3e-6;  ///< unknown to the scenario

    /// Returns a row with the time of such a ring, times `off`.
    static std::string row(int ranks, int bytes, bool calibrates, double off = 1) {
        return fmt::format("        - {{at: [{}, {} B], value: {}{}}}\n", ranks, bytes,
                           off * ring_s(ranks, bytes, bandwidth_Bps, latency_s),
                           calibrates ? ", calibrates: true" : "");
    }

    static std::string series(const std::string& rows, const std::string& more = "") {
        return "    - over: [collective.ranks, collective.bytes]\n" + more + "      rows:\n" + rows;
    }

    static inline const std::string bandwidth =
        "    - {key: platform.fabric.bandwidth, unit: GBps, least: 0.1, most: 50}\n";
    static inline const std::string latency = "    - {key: platform.fabric.latency, unit: us, least: 0.1, most: 50}\n";

    void scenario(const std::string& all_series, const std::string& parameters,
                  const std::string& name = "ring.yaml") const {
        write(name,
              "platform: platform.yaml\n"
              "collective: {operation: allreduce, algorithm: ring, ranks: 2, bytes: 1 MB}\n"
              "measured:\n  source: made up\n  field: completion_time_s\n  series:\n" +
                  all_series + (parameters.empty() ? "" : "  parameters:\n" + parameters));
    }

    nlohmann::json json_of(std::vector<std::string> arguments) const {
        for (const char* more : {"--format", "json"}) arguments.emplace_back(more);
        const Outcome outcome = run_in(*this, std::move(arguments));
        CAPTURE(outcome.err);
        REQUIRE(outcome.status == 0);
        return nlohmann::json::parse(outcome.out);
    }
};

inline bool says(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace syncline::test
