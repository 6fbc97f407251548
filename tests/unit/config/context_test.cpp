#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sim/config/scenario.hpp"
#include "tests/catch.hpp"

// The keys of context parallelism, and what they exclude.

using namespace syncline;

namespace {

config::Scenario load(const std::string& parallelism, const std::string& model = "gpt-2", int ranks = 16,
                      const std::string& rest = "") {
    const auto path = std::filesystem::temp_directory_path() / fmt::format("syncline-context-{}.yaml", getpid());
    std::ofstream(path) << "platform:\n  device: {flops: 1 Tflops, memory_bandwidth: 100 GBps}\n"
                           "  fabric: {bandwidth: 10 Gbps, latency: 1 us}\n"
                        << "workload: " << SYNCLINE_SOURCE_DIR "/workloads/" << model << ".yaml\n"
                        << "training: {ranks: " << ranks << ", batch_per_rank: 4, parallelism: {" << parallelism << "}"
                        << rest << "}\n";
    struct Remove {
        std::filesystem::path path;
        ~Remove() { std::filesystem::remove(path); }
    } remove{path};
    return config::load_scenario(path.string(), {});
}

std::string error_of(const std::string& parallelism, const std::string& model = "gpt-2", int ranks = 16,
                     const std::string& rest = "") {
    try {
        load(parallelism, model, ranks, rest);
    } catch (const ConfigError& error) {
        return error.diagnostics().front().message + " / " + error.diagnostics().front().hint;
    }
    return "";
}

}  // namespace

TEST_CASE("context: a number is the ranks of a ring, and a mapping also chooses the exchange", "[memory]") {
    const Plan number = load("context: 4").variants.front().plan;
    CHECK(number.parallelism.layout.context == 4);
    CHECK(number.parallelism.context_exchange == ContextExchange::ring);
    CHECK(number.replicas() == 4);
    CHECK(number.global_batch() == 16);
    CHECK(!number.parallelism.whole_model());
    const Plan mapping = load("model: 2, context: {ranks: 2, exchange: ulysses}").variants.front().plan;
    CHECK(mapping.parallelism.context_exchange == ContextExchange::ulysses);
    CHECK(mapping.replicas() == 4);
}

TEST_CASE("context: what cannot be divided is refused with what to write instead", "[memory]") {
    CHECK(error_of("context: 3").starts_with("16 ranks cannot be divided into 3 parts of a sequence"));
    CHECK(error_of("context: 3", "gpt-2", 9)
              .starts_with("layer 'embedding': 1024 positions cannot be divided among 3 ranks / write a number of "
                           "ranks that divides"));
    CHECK(error_of("context: {ranks: 16, exchange: ulysses}")
              .starts_with("layer 'layer1.attention': 12 heads cannot be divided among 16 ranks / write "
                           "`exchange: ring`"));
    CHECK(error_of("context: 2", "vgg-16").find("has no sequence positions") != std::string::npos);
    CHECK(error_of("context: 2, domain: 2", "vgg-16").starts_with("'context' divides sequences, and 'domain' images"));
    CHECK(error_of("context: 2", "gpt-2", 16, ", exchange: gossip").empty());
    CHECK(error_of("context: 2, model: 2, layers: [{first: head, model: 4}]")
              .ends_with("with `context` all layers have the same layout; remove `layers`, or `context`"));
    CHECK(error_of("context: {exchange: ring}").find("ranks") != std::string::npos);
    CHECK(error_of("context: {ranks: 2, exchange: rings}").find("rings") != std::string::npos);
}
