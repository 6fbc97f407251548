#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "sim/config/scenario.hpp"
#include "sim/explain/explain.hpp"
#include "sim/replay/native.hpp"
#include "tests/catch.hpp"

// The parts of an explanation must add up, in every scenario of the repository.

using namespace syncline;

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> scenarios() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(fs::path(SYNCLINE_SOURCE_DIR) / "scenarios"))
        if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

void check_sums(const Explanation& e) {
    const auto near = [&](double value) { return Approx(value).epsilon(1e-9).margin(1e-9 * e.window_s); };
    CHECK(e.window_s / e.iterations == near(e.result.time.iteration_s));
    for (const RankParts& parts : e.ranks) {
        // Where blocks differ by a byte, or documents, so do the times of ranks and iterations.
        CHECK(parts.sum_s() == Approx(e.window_s).epsilon(1e-5));
        CHECK(parts.compute_s >= 0);
        // None of the others is a residue of rounding.
        for (const double part : {parts.exposed_communication_s, parts.reduction_s, parts.copies_s, parts.waiting_s,
                                  parts.idle_s, parts.hidden_communication_s})
            CHECK((part == 0 || part > 1e-9 * e.window_s));
        CHECK(parts.hidden_communication_s <= parts.compute_s * (1 + 1e-9));
    }
    const RankParts& last = e.ranks[e.last_rank];
    const double iterations = e.iterations;
    CHECK(last.compute_s / iterations == near(e.result.time.compute_s));
    // The result counts waiting for peers and reductions as parts of an exchange, and nothing else differently.
    CHECK(last.idle_s / iterations == near(e.result.time.idle_s));
    CHECK((last.exposed_communication_s + last.reduction_s + last.copies_s + last.waiting_s) / iterations ==
          near(e.result.time.exposed_communication_s + e.result.time.waiting_s));
    double exposed_s = 0, under_way_s = 0, layers_s = 0;
    for (const BucketParts& bucket : e.buckets) {
        exposed_s += bucket.exposed_s;
        under_way_s = std::max(under_way_s, bucket.communication_s);
        CHECK(bucket.exposed_s <= bucket.communication_s * (1 + 1e-9));
    }
    CHECK(exposed_s / iterations == near(e.result.time.exposed_communication_s));
    CHECK(under_way_s / iterations <= e.result.time.communication_s * (1 + 1e-9));
    layers_s += e.optimizer_step_s;
    for (const LayerParts& layer : e.layers) layers_s += layer.forward_s + layer.backward_s;
    CHECK(layers_s == near(last.compute_s));

    // Every piece of the path begins where the previous one ends, and together they cover the window.
    double at_s = 0, shares_s = 0;
    for (const PathPiece& piece : e.path) {
        CHECK(std::abs(piece.start_s - at_s) <= 1e-12 * e.window_s);
        CHECK(piece.end_s > piece.start_s);
        CHECK(piece.what != "before the window");
        at_s = piece.end_s;
    }
    CHECK(at_s == near(e.window_s));
    for (const PathShare& share : e.shares) shares_s += share.seconds;
    CHECK(shares_s == near(e.window_s));
    for (const LinkParts& link : e.links) {
        CHECK(link.utilisation <= 1 + 1e-9);
        if (e.level == "tasks") continue;  // only bytes and utilisation are known
        CHECK(link.busy_s <= e.window_s * (1 + 1e-9));
        CHECK(link.busy_s >= link.utilisation * e.window_s * (1 - 1e-9));
        double mean = 0, bytes = 0;
        for (const double part : link.profile) mean += part / static_cast<double>(link.profile.size());
        CHECK(mean == near(link.utilisation));
        for (const LinkShare& share : link.shares) bytes += static_cast<double>(share.bytes);
        CHECK(std::abs(bytes - static_cast<double>(link.bytes)) <= static_cast<double>(link.shares.size()));
    }
    CHECK(e.theory.lower_bound_s <= e.result.time.iteration_s * (1 + 1e-9));
}

void explain_all(const std::vector<fs::path>& files, std::uint64_t most_messages) {
    std::size_t explained = 0;
    for (const fs::path& file : files) {
        const config::Scenario scenario = config::load_scenario(file.string(), {}, inspect);
        for (const config::Variant& variant : scenario.variants) {
            // Workers with updates of their own have no iteration in common.
            if (!variant.is_training() || variant.plan.ranks > 512 || variant.plan.independent_updates()) continue;
            CAPTURE(file.string(), variant.name);
            ExplainOptions options;
            options.most_messages = most_messages;
            options.uncontended = false;
            check_sums(explain(lower(variant.cluster, variant.model, variant.plan), options));
            ++explained;
        }
    }
    CHECK(explained > 20);
}

}  // namespace

TEST_CASE("explain: parts, path, exchanges and links add up to the iteration in every scenario, message by message",
          "[sweep]") {
    explain_all(scenarios(), 4'000'000);
}

TEST_CASE("explain: parts, path and exchanges add up to the iteration in every scenario, task by task") {
    explain_all(scenarios(), 0);
}
