#include <map>
#include <numeric>
#include <random>

#include "sim/lowering/buckets.hpp"
#include "tests/catch.hpp"
#include "tests/whole_model_buckets.hpp"

using namespace syncline;

namespace {

/// Layers of the given megabytes, one second of backward and no forward time each.
Model model_of(const std::vector<std::int64_t>& megabytes) {
    Model model;
    for (const std::int64_t size : megabytes) model.layers.push_back({"layer", size * 250'000, 1, 1, 1});
    return model;
}

std::vector<LayerTime> second_each(const Model& model) {
    return std::vector<LayerTime>(model.layers.size(), {0, 1});
}

Plan fused(double threshold_bytes, double cycle_s, Overlap overlap = Overlap::wait_free) {
    Plan plan;
    plan.overlap = overlap;
    plan.fusion = {threshold_bytes, cycle_s};
    return plan;
}

std::vector<std::vector<std::uint32_t>> layers_of(const std::vector<Bucket>& buckets) {
    std::vector<std::vector<std::uint32_t>> layers;
    for (const Bucket& bucket : buckets) layers.push_back(bucket.layers);
    return layers;
}

using Layers = std::vector<std::vector<std::uint32_t>>;

}  // namespace

TEST_CASE("without fusion every layer with parameters is a bucket, from the last to the first", "[memory]") {
    const Model model = model_of({1, 0, 2, 3});
    const auto buckets = make_buckets(model, second_each(model), 0.5, fused(0, 0));
    CHECK(layers_of(buckets) == Layers{{3}, {2}, {0}});
    CHECK(buckets[0].bytes == 3'000'000);
    CHECK(buckets[0].release_s == 1.5);
    CHECK(buckets[1].release_s == 2.5);
    CHECK(buckets[2].release_s == 4.5);  // the layer without parameters computes, and sends nothing
}

TEST_CASE("a threshold closes a bucket before it would be exceeded, and a larger tensor goes alone", "[memory]") {
    const Model model = model_of({1, 1, 9, 2, 2, 1});
    const auto buckets = make_buckets(model, second_each(model), 0, fused(4e6, 0));
    CHECK(layers_of(buckets) == Layers{{5, 4}, {3}, {2}, {1, 0}});
    CHECK(buckets[0].release_s == 2);
    CHECK(buckets[3].release_s == 6);
}

TEST_CASE("buckets negotiated ahead are those without a cycle", "[memory]") {
    std::mt19937 random(7);
    for (int round = 0; round < 50; ++round) {
        std::vector<std::int64_t> megabytes(random() % 12);
        for (std::int64_t& size : megabytes) size = static_cast<std::int64_t>(random() % 5);
        const Model model = model_of(megabytes);
        const double threshold_bytes = 2e6 * static_cast<double>(random() % 4);
        const Overlap overlap = round % 2 == 0 ? Overlap::wait_free : Overlap::none;
        Plan plan = fused(threshold_bytes, 0.7, overlap);
        plan.fusion.negotiation = Negotiation::ahead;
        const auto ahead = make_buckets(model, second_each(model), 0.25, plan);
        const auto without = make_buckets(model, second_each(model), 0.25, fused(threshold_bytes, 0, overlap));
        REQUIRE(layers_of(ahead) == layers_of(without));
        for (std::size_t b = 0; b < ahead.size(); ++b) {
            CHECK(ahead[b].bytes == without[b].bytes);
            CHECK(ahead[b].release_s == ahead[b].ready_s);
            CHECK(ahead[b].release_s == without[b].release_s);
        }
    }
}

TEST_CASE("a cycle releases at each tick the gradients that are ready", "[memory]") {
    const Model model = model_of({1, 1, 1, 1, 1});
    const auto buckets = make_buckets(model, second_each(model), 0, fused(100e6, 2.5));
    CHECK(layers_of(buckets) == Layers{{4, 3}, {2, 1, 0}});
    CHECK(buckets[0].ready_s == 2);
    CHECK(buckets[0].release_s == 2.5);
    CHECK(buckets[1].release_s == 5);
}

TEST_CASE("without overlap all gradients are ready when the backward pass ends", "[memory]") {
    const Model model = model_of({1, 1, 1});
    for (const Bucket& bucket : make_buckets(model, second_each(model), 1, fused(0, 0, Overlap::none))) {
        CHECK(bucket.release_s == 4);
    }
    CHECK(make_buckets(model, second_each(model), 1, fused(100e6, 0, Overlap::none)).size() == 1);
}

TEST_CASE("buckets hold every gradient once, in backward order, with any fusion", "[memory]") {
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        std::vector<std::int64_t> sizes(1 + random() % 30);
        for (std::int64_t& size : sizes) size = random() % 6;
        const Model model = model_of(sizes);
        const double threshold = static_cast<double>(random() % 20) * 1e6;
        const auto buckets =
            make_buckets(model, second_each(model), 0, fused(threshold, static_cast<double>(random() % 3) * 0.7));
        std::uint64_t bytes = 0;
        std::int64_t before = static_cast<std::int64_t>(sizes.size());
        double release = 0;
        for (const Bucket& bucket : buckets) {
            bytes += bucket.bytes;
            for (const std::uint32_t layer : bucket.layers) {
                CHECK(layer < before);
                before = layer;
            }
            CHECK(bucket.release_s >= bucket.ready_s);
            CHECK(bucket.release_s >= release);
            release = bucket.release_s;
            if (bucket.layers.size() > 1) CHECK(static_cast<double>(bucket.bytes) <= threshold);
        }
        CHECK(bytes == model.gradient_bytes());
    }
}

TEST_CASE("placements put every byte on some server", "[memory]") {
    std::mt19937 random(2);
    for (int round = 0; round < 200; ++round) {
        std::vector<Bucket> buckets(1 + random() % 20);
        for (Bucket& bucket : buckets) bucket.bytes = random() % 1'000'000;
        const std::int64_t count = 1 + random() % 9;
        for (const ServerAssignment placement :
             {ServerAssignment::round_robin, ServerAssignment::greedy_bytes, ServerAssignment::sliced}) {
            const auto placed = place(buckets, {count, placement, ServerLocation::dedicated});
            REQUIRE(placed.size() == buckets.size());
            for (std::size_t b = 0; b < buckets.size(); ++b) {
                CHECK(placed[b].size() ==
                      (placement == ServerAssignment::sliced ? static_cast<std::size_t>(count) : 1));
                std::uint64_t bytes = 0;
                for (const ServerPart& part : placed[b]) {
                    CHECK(part.server < count);
                    bytes += part.bytes;
                }
                CHECK(bytes == buckets[b].bytes);
            }
        }
    }
}

TEST_CASE("round-robin follows the model's order, and greedy chooses the server with the fewest bytes", "[memory]") {
    // In backward order: the model's tensors are 8, 1, 1, 1 MB from first to last.
    std::vector<Bucket> buckets(4);
    for (std::size_t i = 0; i < 4; ++i) buckets[i].bytes = i == 3 ? 8 : 1;
    const auto servers_of = [&](ServerAssignment placement) {
        std::vector<std::uint32_t> servers;
        for (const auto& shards : place(buckets, {2, placement, ServerLocation::dedicated})) {
            servers.push_back(shards.front().server);
        }
        return servers;
    };
    CHECK(servers_of(ServerAssignment::round_robin) == std::vector<std::uint32_t>{1, 0, 1, 0});
    CHECK(servers_of(ServerAssignment::greedy_bytes) == std::vector<std::uint32_t>{1, 1, 1, 0});
}
