#include <cmath>
#include <random>

#include "sim/iteration/exchange.hpp"
#include "tests/catch.hpp"
#include "tests/whole_model_buckets.hpp"

// Fusion and partition as in frameworks: PyTorch's buckets, first buckets, pieces, requests and urgency.

using namespace syncline;

namespace {

Model model_of(const std::vector<std::int64_t>& bytes) {
    Model model;
    for (const std::int64_t size : bytes) model.layers.push_back({"layer", size / 4, 1, 1, 1});
    return model;
}

std::vector<Bucket> buckets_of(const Model& model, const Plan& plan) {
    return make_buckets(model, std::vector<LayerTime>(model.layers.size(), {0, 1}), 0, plan);
}

Plan fused(const Fusion& fusion, double partition_bytes = 0) {
    Plan plan;
    plan.fusion = fusion;
    plan.partition_bytes = partition_bytes;
    return plan;
}

using Layers = std::vector<std::vector<std::uint32_t>>;

Layers layers_of(const std::vector<Bucket>& buckets) {
    Layers layers;
    for (const Bucket& bucket : buckets) layers.push_back(bucket.layers);
    return layers;
}

}  // namespace

TEST_CASE("PyTorch's buckets end with the gradient that reaches the limit, and the first bucket has its own limit",
          "[memory]") {
    // From the last layer on, 400 reach 400; 300 + 300 + 600 reach 1000; 1000 reach it alone; the rest is a bucket.
    const Model model = model_of({100, 0, 200, 1000, 600, 300, 300, 400});
    CHECK(layers_of(buckets_of(model, fused({1000, 0, 400, Full::after}))) == Layers{{7}, {6, 5, 4}, {3}, {2, 0}});
    // Without a first limit 400 + 300 + 300 reach 1000.
    CHECK(layers_of(buckets_of(model, fused({1000, 0, 0, Full::after}))) == Layers{{7, 6, 5}, {4, 3}, {2, 0}});
    // With a threshold before the limit, 300 more would exceed 400; 300 + 300 + 600 would exceed 1000, and so would 600
    // + 1000.
    CHECK(layers_of(buckets_of(model, fused({1000, 0, 400, Full::before}))) == Layers{{7}, {6, 5}, {4}, {3}, {2, 0}});
}

TEST_CASE("a bucket reaches its limit only with its last gradient, for any sizes", "[memory]") {
    std::mt19937 random(43);
    for (int round = 0; round < 300; ++round) {
        std::vector<std::int64_t> sizes(1 + random() % 30);
        for (std::int64_t& size : sizes) size = 4 * static_cast<std::int64_t>(random() % 700);
        const Model model = model_of(sizes);
        const double limit = 1.0 + static_cast<double>(random() % 5000), first = static_cast<double>(random() % 2000);
        const auto buckets = buckets_of(model, fused({limit, 0, first, Full::after}));
        std::uint64_t bytes = 0;
        for (std::size_t b = 0; b < buckets.size(); ++b) {
            const Bucket& bucket = buckets[b];
            const double own = b == 0 && first > 0 ? first : limit;
            const auto held = static_cast<double>(bucket.bytes);
            CHECK(held - static_cast<double>(gradient_bytes(model, model.layers[bucket.layers.back()])) < own);
            if (b + 1 < buckets.size()) CHECK(held >= own);
            bytes += bucket.bytes;
        }
        CHECK(bytes == model.gradient_bytes());
    }
}

TEST_CASE("pieces of a bucket are full except for the last, in order, and are released with it", "[memory]") {
    std::mt19937 random(47);
    for (int round = 0; round < 300; ++round) {
        std::vector<std::int64_t> sizes(1 + random() % 8);
        for (std::int64_t& size : sizes) size = 4 * static_cast<std::int64_t>(random() % 700);
        const Model model = model_of(sizes);
        Plan plan = fused({static_cast<double>(random() % 2000), round % 3 == 0 ? 1.5 : 0, 0, Full::before});
        const auto whole = buckets_of(model, plan);
        plan.partition_bytes = 1 + static_cast<double>(random() % 999) + (round % 2 == 0 ? 0.5 : 0);
        const auto most = static_cast<std::uint64_t>(plan.partition_bytes);
        const auto pieces = buckets_of(model, plan);
        std::size_t next = 0;
        for (const Bucket& bucket : whole) {
            const std::uint64_t count = (bucket.bytes + most - 1) / most;
            for (std::uint64_t part = 0; part < count; ++part, ++next) {
                REQUIRE(next < pieces.size());
                CHECK(pieces[next].piece == part);
                CHECK(pieces[next].bytes == (part + 1 < count ? most : bucket.bytes - (count - 1) * most));
                CHECK(pieces[next].layers == bucket.layers);
                CHECK(pieces[next].release_s == bucket.release_s);
            }
        }
        CHECK(next == pieces.size());
    }
}

TEST_CASE("without a partition buckets stay whole, and an empty bucket is one empty piece", "[memory]") {
    const std::vector<Bucket> buckets{{10, {1}, 0, 0}, {0, {0}, 0, 0}};
    CHECK(cut(buckets, 0).size() == 2);
    const auto pieces = cut(buckets, 4);
    REQUIRE(pieces.size() == 4);
    CHECK(pieces[2].bytes == 2);
    CHECK(pieces[3].bytes == 0);
}

TEST_CASE("the most urgent bucket is that of the lowest layer, and each bucket is negotiated once", "[memory]") {
    const std::vector<Bucket> buckets{{10, {5, 4}, 0, 0}, {10, {5, 4}, 0, 0, 1}, {5, {2}, 0, 0}, {5, {0}, 0, 0}};
    Plan plan;
    CHECK(coordinate(buckets, plan).urgency.empty());
    CHECK(coordinate(buckets, plan).request_bytes.empty());
    plan.schedule = Schedule::priority;
    CHECK(coordinate(buckets, plan).urgency == std::vector<std::uint32_t>{4, 4, 2, 0});
    plan.fusion.negotiation = Negotiation::on_ready;
    CHECK(coordinate(buckets, plan).request_bytes == std::vector<std::uint64_t>{256, 0, 128, 128});
    CHECK(!coordinate(buckets, plan).ahead);
    plan.fusion.negotiation = Negotiation::ahead;
    CHECK(coordinate(buckets, plan).request_bytes == std::vector<std::uint64_t>{512, 0, 0, 0});
    CHECK(coordinate(buckets, plan).ahead);
}
