#include "sim/lowering/compressed.hpp"

#include "sim/lowering/device_memory.hpp"
#include "sim/lowering/lowered.hpp"
#include "tests/catch.hpp"

// Compressed gradients: bytes and times counted by hand, and the factors that PowerSGD's authors publish.

using namespace syncline;

namespace {

constexpr Codec codec{1e9, 0};

Compression top_k(double ratio) {
    return {.kind = Compression::Kind::top_k, .ratio = ratio};
}

Compression powersgd(std::int64_t rank) {
    return {.kind = Compression::Kind::powersgd, .rank = rank};
}

Layer conv(std::int64_t filters, std::int64_t channels, std::int64_t kernel) {
    return convolution("conv", {.channels = channels,
                                .height = 8,
                                .width = 8,
                                .filters = filters,
                                .kernel = {kernel, kernel},
                                .batch_norm = true});
}

/// ResNet-18 for images of 32×32 and ten classes.
Model resnet_18() {
    Model model;
    model.layers.push_back(conv(64, 3, 3));
    for (int i = 0; i < 4; ++i) model.layers.push_back(conv(64, 64, 3));
    for (const std::int64_t width : {128, 256, 512}) {
        model.layers.push_back(conv(width, width / 2, 3));
        for (int i = 0; i < 3; ++i) model.layers.push_back(conv(width, width, 3));
        model.layers.push_back(conv(width, width / 2, 1));
    }
    model.layers.push_back(dense("fc", 512, 10, true));
    return model;
}

Cluster cluster_of() {
    Cluster cluster = star_cluster(64, 1e9, 1e-6);
    cluster.device.flops_per_s = 1e12;
    cluster.device.memory_Bps = 1e12;
    return cluster;
}

}  // namespace

TEST_CASE("fp16 halves 4-byte gradients, and each cast reads and writes them", "[memory]") {
    const Model model;
    for (const std::int64_t parameters : {0, 1, 7, 1000}) {
        const Layer layer{"layer", parameters, 0, 0, 0};
        const Compressed cast = compress({.kind = Compression::Kind::fp16}, model, layer, 8, codec);
        const auto n = static_cast<double>(parameters);
        CHECK(cast.bytes == static_cast<std::uint64_t>(2 * parameters));
        CHECK(cast.second_bytes == 0);
        CHECK(cast.encode_s == Approx(6 * n / 1e9));
        CHECK(cast.decode_s == Approx(6 * n / 1e9));
        CHECK(cast.between_s == 0);
        const Compression slow{.kind = Compression::Kind::fp16, .codec_Bps = 1e6};
        CHECK(compress(slow, model, layer, 8, codec).encode_s == Approx(6 * n / 1e6));
        const Compressed late = compress({.kind = Compression::Kind::fp16}, model, layer, 8, {1e9, 1e-3});
        CHECK(late.encode_s == (parameters == 0 ? 0 : 1e-3));
    }
}

TEST_CASE("top_k sends k values with indices, at least one of each layer, and decodes those of all ranks", "[memory]") {
    const Model model;
    for (const std::int64_t parameters : {1, 99, 100, 101, 100'000}) {
        const Layer layer{"layer", parameters, 0, 0, 0};
        const std::int64_t k = (parameters + 99) / 100;
        for (const std::uint32_t ranks : {2u, 7u, 64u}) {
            CAPTURE(parameters, ranks);
            const Compressed some = compress(top_k(0.01), model, layer, ranks, codec);
            CHECK(some.bytes == static_cast<std::uint64_t>(8 * k));
            CHECK(some.encode_s == Approx(static_cast<double>(4 * parameters + 8 * k) / 1e9));
            CHECK(some.decode_s == Approx(static_cast<double>(4 * parameters + ranks * 8 * k) / 1e9));
        }
        Compression packed = top_k(0.01);
        packed.index_bytes = 2;  // run lengths, as Lin et al. pack them
        CHECK(compress(packed, model, layer, 2, codec).bytes == static_cast<std::uint64_t>(6 * k));
    }
}

TEST_CASE("PowerSGD compresses ResNet-18 by the factors of its authors", "[memory]") {
    // T. Vogels et al., NeurIPS 2019, table of ResNet-18 in the appendix: 461/r for the last convolutions of 512 × 512
    // × 3 × 3; 243 for the whole network with r = 1, of which vectors are sent whole.
    const Model model = resnet_18();
    const auto sent = [&](const Layer& layer, std::int64_t rank) {
        const Compressed compressed = compress(powersgd(rank), model, layer, 8, codec);
        return static_cast<double>(compressed.bytes + compressed.second_bytes);
    };
    const Layer last = conv(512, 512, 3);
    const double vectors = 4.0 * 2 * 512, matrix = 4.0 * 512 * 4608;
    for (const std::int64_t rank : {1, 2, 4})
        CHECK(matrix / (sent(last, rank) - vectors) == Approx(460.8 / static_cast<double>(rank)).epsilon(1e-3));
    double all = 0;
    for (const Layer& layer : model.layers) all += sent(layer, 1);
    CHECK(static_cast<double>(model.gradient_bytes()) / 1024 / 1024 == Approx(43).epsilon(0.01));
    CHECK(static_cast<double>(model.gradient_bytes()) / all == Approx(243).epsilon(0.002));
}

TEST_CASE("PowerSGD sends P, and what is no matrix, then Q, and leaves small matrices whole", "[memory]") {
    const Model model;
    const Layer layer = dense("fc", 300, 100, true);  // a matrix of 100 × 300, and 100 biases
    const Compressed two = compress(powersgd(2), model, layer, 8, codec);
    CHECK(two.bytes == 4 * (100 * 2 + 100));
    CHECK(two.second_bytes == 4 * 300 * 2);
    const double pass_s = 4 * (100 * 300 + 400 * 2) / 1e9;
    CHECK(two.encode_s == Approx(pass_s));
    CHECK(two.between_s == Approx(pass_s));
    CHECK(two.decode_s == Approx(pass_s));
    // 75 columns are as many elements as the matrix has.
    const Compressed whole = compress(powersgd(75), model, layer, 8, codec);
    CHECK(whole.bytes == 4 * (100 * 300 + 100));
    CHECK(whole.second_bytes == 0);
    CHECK(whole.encode_s == 0);
    CHECK(compress(powersgd(74), model, layer, 8, codec).second_bytes == 4 * 300 * 74);
    CHECK(compress(powersgd(1), model, {"custom", 1000, 0, 0, 0}, 8, codec).bytes == 4000);
}

TEST_CASE("matrices of layers have no more elements than the layers have parameters", "[memory]") {
    const std::vector<Layer> layers{conv(32, 16, 3),
                                    dense("fc", 30, 20, true),
                                    dense("head", {.inputs = 8, .outputs = 9, .tied = true}),
                                    {"attention", 4 * 64 * 64 + 6 * 64, 0, 0, 0, Attention{16, 64, 4}},
                                    {"ffn", 2 * 64 * 256, 0, 0, 0, FeedForward{16, 64, 256}},
                                    {"embedding", 1000 * 64 + 16 * 64, 0, 0, 0, Embedding{1000, 16, 64}},
                                    {"custom", 77, 0, 0, 0}};
    const std::vector<std::int64_t> expected{32 * 16 * 9, 600, 0, 4 * 64 * 64, 2 * 64 * 256, 1016 * 64, 0};
    for (std::size_t i = 0; i < layers.size(); ++i) {
        std::int64_t elements = 0;
        for (const Matrix& matrix : matrices_of(layers[i])) elements += matrix.rows * matrix.columns;
        CAPTURE(layers[i].name);
        CHECK(elements == expected[i]);
        CHECK(elements <= layers[i].parameters);
    }
    CHECK(matrices_of({"pruned", 10, 0, 0, 0, Attention{16, 64, 4}}).empty());
}

TEST_CASE("buckets of compressed gradients: fused by compressed bytes, with every rank's values in an allgather",
          "[memory]") {
    const Model model = resnet_18();
    Plan plan;
    plan.ranks = 8;
    const auto total = [&](std::uint64_t Bucket::*bytes) {
        std::uint64_t sum = 0;
        for (const Bucket& bucket : lower(cluster_of(), model, plan).buckets) sum += bucket.*bytes;
        return sum;
    };
    const std::uint64_t whole = total(&Bucket::bytes);
    CHECK(whole == model.gradient_bytes());
    plan.fusion.threshold_bytes = 8e6;
    const std::size_t buckets = lower(cluster_of(), model, plan).buckets.size();
    plan.compression = {.kind = Compression::Kind::fp16};
    CHECK(total(&Bucket::bytes) == whole / 2);
    CHECK(lower(cluster_of(), model, plan).buckets.size() < buckets);
    plan.compression = top_k(0.001);
    plan.algorithm = {.operation = "allgather", .name = "ring"};
    std::uint64_t values = 0;
    for (const Layer& layer : model.layers) values += static_cast<std::uint64_t>((layer.parameters + 999) / 1000);
    CHECK(total(&Bucket::bytes) == 8 * 8 * values);
    plan.algorithm = {};
    plan.compression = powersgd(2);
    std::uint64_t second = 0;
    for (const Layer& layer : model.layers)
        for (const Matrix& matrix : matrices_of(layer)) second += static_cast<std::uint64_t>(matrix.columns) * 2 * 4;
    CHECK(total(&Bucket::second_bytes) == second);
    const Lowered lowered = lower(cluster_of(), model, plan);
    CHECK(lowered.reductions.size() == lowered.buckets.size());
    for (const auto& exchanges : lowered.reductions) CHECK(exchanges.size() == 2);
}

TEST_CASE("top_k and PowerSGD keep what they leave out, fp16 does not, and one rank compresses nothing", "[memory]") {
    const Model model = resnet_18();
    Plan plan;
    plan.ranks = 8;
    const auto gradients = [&] { return memory_of(lower(cluster_of(), model, plan)).gradients_bytes; };
    const double whole = gradients();
    plan.compression = {.kind = Compression::Kind::fp16};
    CHECK(gradients() == whole);
    plan.compression = powersgd(4);
    CHECK(gradients() == 2 * whole);
    plan.compression = top_k(0.01);
    plan.algorithm = {.operation = "allgather", .name = "ring"};
    CHECK(gradients() == 2 * whole);
    plan.ranks = 1;
    const Lowered alone = lower(cluster_of(), model, plan);
    CHECK(memory_of(alone).gradients_bytes == whole);
    CHECK(alone.buckets.empty());
    for (const PlacedLayer& layer : alone.arrangement.layers) CHECK(layer.compressed.encode_s == 0);
}
