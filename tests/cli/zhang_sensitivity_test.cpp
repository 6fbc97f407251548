#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <tuple>

#include "tests/catch.hpp"
#include "tests/cli/batch.hpp"

// Simulates the table in the head of scenarios/studies/zhang-2021-sensitivity.yaml again, line by line, and compares it
// with a bound that no parameter server can beat.

using namespace syncline::test;
using nlohmann::json;

namespace {

const std::vector<std::string> placements{"round-robin", "greedy-bytes", "sliced"};
const std::vector<std::string> bandwidths{"10 Gbps", "25 Gbps", "56 Gbps", "100 Gbps"};
const std::vector<int> counts{1, 2, 4, 8, 16, 32, 64};

struct Point {
    std::string placement = "round-robin";
    int servers = 32;
    std::string bandwidth = "25 Gbps";
    int batch = 64;  ///< ResNet-50's batch; AlexNet's is always 512
};

class Study {
public:
    Study() {
        const std::string study = shipped("scenarios/studies/zhang-2021-sensitivity.yaml");
        run({"batch", study, "--out", "out", "--jobs", "2"});
        const std::string columns = "variant,placement,count,bandwidth,batch_per_rank,iteration_time_s,gradient_bytes";
        const json rows = json::parse(run({"results", "out", "--format", "json", "--columns", columns})).at("points");
        for (const json& row : rows)
            rows_[{row["variant"], row["placement"], row["count"], row["bandwidth"], row["batch_per_rank"]}] = row;
    }

    std::size_t size() const { return rows_.size(); }

    /// A ring has no servers, and appears once for each network and batch.
    double ring_s(const std::string& network, const Point& point) const {
        return time_s(network + "ring", {"round-robin", 32, point.bandwidth, point.batch});
    }
    double server_s(const std::string& network, const Point& point) const {
        return time_s(network + "parameter-server", point);
    }
    /// Returns the ring's throughput divided by the parameter server's. `network`: "", or "alexnet-".
    double ratio(const std::string& network, const Point& point = {}) const {
        return server_s(network, point) / ring_s(network, point);
    }
    double gradient_bytes(const std::string& network) const {
        return row(network + "ring", {}).at("gradient_bytes").get<double>();
    }

private:
    std::string run(std::vector<std::string> arguments) const {
        const Outcome outcome =
            run_program({.arguments = std::move(arguments), .directory = directory_.path(), .limit_s = 300});
        CAPTURE(outcome.err);
        REQUIRE(outcome.status == 0);
        return outcome.out;
    }
    const json& row(const std::string& variant, const Point& point) const {
        const int batch = variant.starts_with("alexnet") ? 512 : point.batch;
        CAPTURE(variant, point.placement, point.servers, point.bandwidth, batch);
        const auto found = rows_.find({variant, point.placement, point.servers, point.bandwidth, batch});
        REQUIRE(found != rows_.end());
        return found->second;
    }
    double time_s(const std::string& variant, const Point& point) const {
        return row(variant, point).at("iteration_time_s").get<double>();
    }

    TempDir directory_;
    std::map<std::tuple<std::string, std::string, int, std::string, int>, json> rows_;
};

std::string line_of(const std::string& head, const std::vector<double>& ratios) {
    std::string line = "# " + head;
    for (const double ratio : ratios) line += fmt::format("  {:>8.2f}", ratio);
    return line + "\n";
}

}  // namespace

TEST_CASE("zhang-2021: the ring's advantage depends on the chosen parameters as the study's table says") {
    const Study study;
    CHECK(study.size() == 60);
    const std::string text = read_file(shipped("scenarios/studies/zhang-2021-sensitivity.yaml"));
    const auto stands = [&](const std::string& line) {
        CAPTURE(line);
        CHECK(text.find(line) != std::string::npos);
    };
    for (const int servers : counts) {
        std::vector<double> ratios;
        for (const char* network : {"", "alexnet-"})
            for (const std::string& placement : placements)
                ratios.push_back(study.ratio(network, {placement, servers}));
        stands(line_of(fmt::format("{:<10}", servers), ratios));
    }
    for (const std::string& bandwidth : bandwidths)
        stands(line_of(fmt::format("{:<10}", bandwidth),
                       {study.ratio("", {.bandwidth = bandwidth}), study.ratio("alexnet-", {.bandwidth = bandwidth})}));
    for (const int batch : {32, 64, 128})
        stands(line_of(fmt::format("{:<10}", batch), {study.ratio("", {.batch = batch})}));

    // These figures are in scenarios/papers.md.
    CHECK(study.ratio("") == Approx(1.35).margin(0.005));
    CHECK(study.ratio("", {"round-robin", 1}) == Approx(7.5).margin(0.05));
    CHECK(study.ratio("", {"round-robin", 64}) == Approx(1.34).margin(0.005));
    CHECK(study.ratio("", {"sliced", 32}) == Approx(1.11).margin(0.005));
    CHECK(study.ratio("alexnet-") == Approx(15.6).margin(0.05));

    // One GPU alone processes 64 images at 219 per second, or 512 at 2987. With s balanced servers, all N gradients of
    // S bytes pass s links, or the workers' own links if those are fewer, and the same bytes return: 2·max(N/s, 1)·S/B.
    // At best this overlaps with the computation, at worst it follows it; then come the reductions, N·S/s at 25.6 GB/s,
    // and some latencies.
    for (const std::string network : {"", "alexnet-"}) {
        const double alone_s = network.empty() ? 64 / 219.0 : 512 / 2987.0;
        const double bytes = study.gradient_bytes(network), ranks = 32, Bps = 25e9 / 8;
        CHECK(study.ring_s(network, {}) >= alone_s * (1 - 1e-9));
        CHECK(study.ring_s(network, {}) <= alone_s + 2 * bytes / Bps + 2e-2);
        for (const int servers : counts) {
            const double links = std::max(ranks / servers, 1.0), exchange_s = 2 * links * bytes / Bps;
            const double sums_s = ranks / servers * bytes / 25.6e9;
            const double sliced_s = study.server_s(network, {"sliced", servers});
            CAPTURE(network, servers, sliced_s, exchange_s);
            CHECK(sliced_s >= std::max(alone_s, exchange_s) * (1 - 1e-9));
            CHECK(sliced_s <= alone_s + exchange_s + sums_s + 2e-2);
            // Slices are balanced; whole tensors can only be worse if the servers' links, not the workers', are the
            // bottleneck.
            if (servers <= ranks)
                for (const char* placement : {"round-robin", "greedy-bytes"})
                    CHECK(study.server_s(network, {placement, servers}) >= exchange_s * (1 - 1e-9));
        }
        // The parameter server gains more than the ring from a faster network.
        for (std::size_t i = 1; i < bandwidths.size(); ++i)
            CHECK(study.ratio(network, {.bandwidth = bandwidths[i]}) <=
                  study.ratio(network, {.bandwidth = bandwidths[i - 1]}));
    }
    CHECK(study.ratio("", {.batch = 128}) < study.ratio("", {.batch = 64}));
    CHECK(study.ratio("", {.batch = 64}) < study.ratio("", {.batch = 32}));
}
