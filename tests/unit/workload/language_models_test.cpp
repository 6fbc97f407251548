#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/unit/layers.hpp"

// Workloads of language models, vision transformers and a recommender: totals as published.

using namespace syncline;
using test::shipped_model;

namespace {

struct Published {
    std::string name;
    std::size_t layers;
    std::int64_t parameters;
    std::int64_t active = 0;  ///< 0: all
};

}  // namespace

TEST_CASE("language models have the published parameters", "[memory]") {
    // - llama, mixtral, gpt-neox, t5: parameters of Hugging Face's models of these names (model.num_parameters())
    // - mixtral-8x22b, both numbers: discussion 6 of mistral-community/Mixtral-8x22B-v0.1 there
    // - bloom-176b: model card of bigscience/bloom
    // - mpt: n_params of llm-foundry's benchmark at 2048 tokens
    // - deepseek-v3: arXiv 2412.19437, 671B; the exact number is that of its checkpoint without the second prediction
    const Published all[] = {
        {"llama-2-7b", 66, 6'738'415'616},
        {"llama-2-13b", 82, 13'015'864'320},
        {"llama-2-70b", 162, 68'976'648'192},
        {"llama-3-8b", 66, 8'030'261'248},
        {"llama-3-70b", 162, 70'553'706'496},
        {"llama-3-405b", 254, 405'853'388'800},
        {"mixtral-8x7b", 66, 46'702'792'704, 12'879'925'248},
        {"mixtral-8x22b", 114, 140'620'634'112, 39'152'031'744},
        {"deepseek-v3", 124, 671'026'404'352, 37'552'282'624},
        {"gpt-neox-20b", 46, 20'554'567'680},
        {"bloom-176b", 142, 176'247'271'424},
        {"t5-11b", 123, 11'307'321'344},
        {"mpt-125m", 26, 125'311'488},
        {"mpt-350m", 50, 355'985'408},
        {"mpt-760m", 50, 760'470'528},
        {"mpt-1b", 50, 1'315'950'592},
        {"mpt-3b", 66, 2'651'837'440},
        {"mpt-7b", 66, 6'658'859'008},
        {"mpt-13b", 82, 12'853'954'560},
        {"mpt-30b", 98, 29'975'214'080},
        {"mpt-70b", 162, 64'862'437'376},
    };
    for (const Published& published : all) {
        INFO(published.name);
        const Model model = shipped_model(published.name);
        CHECK(model.name == published.name);
        CHECK(model.layers.size() == published.layers);
        CHECK(model.element_bytes == 2);
        CHECK(model.parameters() == published.parameters);
        CHECK(model.active_parameters() == (published.active > 0 ? published.active : published.parameters));
    }
}

TEST_CASE("the experts' models are as large as their papers say", "[memory]") {
    // A. Jiang et al., 2024: 47B and 13B; Mistral AI, 2024: 141B and 39B. DeepSeek-AI, 2024: 671B and 37B, to which a
    // token's row of the embedding adds nothing.
    const auto billions = [](std::int64_t number) { return std::lround(static_cast<double>(number) / 1e9); };
    const Model small = shipped_model("mixtral-8x7b"), large = shipped_model("mixtral-8x22b");
    CHECK(billions(small.parameters()) == 47);
    CHECK(billions(small.active_parameters()) == 13);
    CHECK(billions(large.parameters()) == 141);
    CHECK(billions(large.active_parameters()) == 39);
    const Model deepseek = shipped_model("deepseek-v3");
    CHECK(billions(deepseek.parameters()) == 671);
    CHECK(billions(deepseek.active_parameters() - deepseek.layers.front().parameters) == 37);
}

TEST_CASE("GPTs of Megatron-LM's weak scaling have its parameters and operations", "[memory]") {
    // D. Narayanan et al., SC 2021, table 1 and equations 2 and 3; V. Korthikanti et al., MLSys 2023, table 3: 22B.
    struct Row {
        std::string name;
        double l, h;
    };
    const Row rows[] = {{"1.7", 24, 2304},     {"3.6", 30, 3072},    {"7.5", 36, 4096},    {"18.4", 40, 6144},
                        {"39.1", 48, 8192},    {"76.1", 60, 10240},  {"145.6", 80, 12288}, {"310.1", 96, 16384},
                        {"529.6", 105, 20480}, {"1008", 128, 25600}, {"22", 48, 6144}};
    const double s = 2048, V = 51200;
    for (const auto& [billions, l, h] : rows) {
        CAPTURE(billions);
        const Model model = shipped_model("megatron-" + billions + "b");
        CHECK(std::abs(static_cast<double>(model.parameters()) / 1e9 - std::stod(billions)) <
              (billions == "22" ? 0.5 : 0.0501));
        CHECK(6 * static_cast<double>(model.macs()) ==
              Approx(72 * s * l * h * h * (1 + s / (6 * h) + V / (12 * l * h))).epsilon(1e-14));
    }
}

TEST_CASE("the operations of Llama-3 405B are about 6 per parameter and token, and those of its scores", "[memory]") {
    // "The Llama 3 herd of models", arXiv 2407.21783, section 3.2.1: 3.8e25 FLOP for 15.6T tokens.
    const Model model = shipped_model("llama-3-405b");
    const double macs = static_cast<double>(model.macs()) / 8192;
    const double weights = static_cast<double>(model.parameters() - model.layers.front().parameters);
    const double scores = 126 * 2.0 * 8192 * 16384;
    CHECK(macs == Approx(weights + scores).epsilon(1e-5));  // normalisations multiply no matrix
    CHECK(6 * static_cast<double>(model.parameters()) * 15.6e12 == Approx(3.8e25).epsilon(0.01));
}

TEST_CASE("the operations of a model of experts are those of the parameters that act on a token", "[memory]") {
    for (const std::string name : {"mixtral-8x7b", "mixtral-8x22b"}) {
        const Model model = shipped_model(name);
        const double scores = name == "mixtral-8x7b" ? 32 * 2.0 * 4096 * 4096 : 56 * 2.0 * 4096 * 6144;
        const auto weights = static_cast<double>(model.active_parameters() - model.layers.front().parameters);
        CHECK(static_cast<double>(model.macs()) / 4096 == Approx(weights + scores).epsilon(1e-4));
    }
}

TEST_CASE("vision transformers have torchvision's parameters and operations", "[memory]") {
    // meta["num_params"] and meta["_ops"] of ViT_L_16_Weights.IMAGENET1K_V1, and of ViT_H_14_Weights' linear
    // classifier.
    const Model large = shipped_model("vit-l-16"), huge = shipped_model("vit-h-14");
    CHECK(large.parameters() == 304'326'632);
    CHECK(std::abs(static_cast<double>(large.macs()) / 1e9 - 61.555) < 0.0005);
    CHECK(huge.parameters() == 632'045'800);
    CHECK(std::abs(static_cast<double>(huge.macs()) / 1e9 - 167.295) < 0.0005);
    CHECK(large.sample_elements == 3 * 224 * 224);
    CHECK(large.layers.front().activations == 197 * 1024);
}

TEST_CASE("MLPerf's recommender has the rows of its tables", "[memory]") {
    // mlcommons/training, recommendation_v2: 26 tables with 204184588 rows of 128 elements; a sample takes 214 rows.
    const Model model = shipped_model("dlrm-dcnv2");
    const auto& tables = std::get<EmbeddingBag>(model.layers[3].shape);
    CHECK(tables.tables == 26);
    CHECK(tables.rows == 204'184'588);
    CHECK(tables.lookups == 214);
    CHECK(model.layers[3].parameters == 26'135'627'264);
    CHECK(model.layers[3].activations + model.layers[2].activations == std::get<Dense>(model.layers[4].shape).inputs);
    std::int64_t dense = 0;
    for (const Layer& layer : model.layers)
        if (layer.name != "tables") dense += layer.parameters;
    const std::int64_t bottom = 13 * 512 + 512 + 512 * 256 + 256 + 256 * 128 + 128;
    const std::int64_t cross = 3 * (2 * 3456 * 512 + 3456);
    const std::int64_t top = 3456 * 1024 + 1024 + 1024 * 1024 + 1024 + 1024 * 512 + 512 + 512 * 256 + 256 + 256 + 1;
    CHECK(dense == bottom + cross + top);
}
