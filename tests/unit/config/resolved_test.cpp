#include "sim/config/resolved.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include "sim/document/reader.hpp"
#include "sim/document/yaml_text.hpp"
#include "sim/study/study.hpp"
#include "tests/catch.hpp"

using namespace syncline;
namespace fs = std::filesystem;

namespace {

const fs::path root = SYNCLINE_SOURCE_DIR;

/// Returns the first text that differs after resolving it again.
std::string again(const std::string& text) {
    config::Library library;
    return resolve(library.parse("resolved", text, ""), {}).text();
}

}  // namespace

TEST_CASE("every shipped variant, resolved, is read back as itself") {
    std::size_t points = 0;
    for (const auto& file : fs::directory_iterator(root / "scenarios")) {
        if (file.path().extension() != ".yaml") continue;
        const config::Study study(file.path().string(), {}, {});
        study.each({}, [&](const config::StudyPoint& point, const config::Variant* variant) {
            INFO(file.path().string() << " " << point.number << " " << point.misfit);
            REQUIRE(variant);
            ++points;
            const std::string text = point.resolved.text();
            CHECK(again(text) == text);
            const config::Variant read = config::load_resolved(text, "resolved", {});
            CHECK(read.cluster.nodes == variant->cluster.nodes);
            CHECK(read.cluster.name == variant->cluster.name);
            CHECK(read.model.layers.size() == variant->model.layers.size());
            CHECK(read.plan.ranks == variant->plan.ranks);
            CHECK(read.plan.batch_per_rank == variant->plan.batch_per_rank);
            CHECK(read.plan.global_batch() == variant->plan.global_batch());
            REQUIRE(read.collective.has_value() == variant->collective.has_value());
            if (!read.collective) return;
            CHECK(read.collective->bytes == variant->collective->bytes);
            CHECK(read.collective->algorithm.name == variant->collective->algorithm.name);
        });
    }
    CHECK(points >= 60);
}

TEST_CASE("values are written as they were", "[memory]") {
    const std::string text =
        "a:\n"
        "  - 1e3\n"
        "  - \"1e3\"\n"
        "  - ~\n"
        "  - []\n"
        "  - {}\n"
        "  -\n"
        "    - x y\n"
        "  - b: \"line\\nbreak: # \\\"\"\n"
        "    c:\n"
        "      - 64 MiB\n"
        "\"k e y\": 'a'\n";
    config::Library library;
    const config::Node node = library.parse("test", text, "");
    const std::string written = config::block_text(node);
    CHECK(config::block_text(library.parse("written", written, "")) == written);
    CHECK(config::flow_text(node) ==
          "{a: [1e3, \"1e3\", ~, [], {}, [x y], {b: \"line\\nbreak: # \\\"\", c: [64 MiB]}], \"k e y\": \"a\"}");
    CHECK(config::flow_text(library.parse("flow", config::flow_text(node), "")) == config::flow_text(node));
}

TEST_CASE("keys are sorted, and names and expectations are left out", "[memory]") {
    config::Library library;
    const auto text = [&](const std::string& yaml) { return resolve(library.parse("t", yaml, ""), {}).text(); };
    CHECK(text("{name: x, training: {ranks: 1, batch: 2}, platform: {name: p}, description: d}") ==
          "platform:\n  name: p\ntraining:\n  batch: 2\n  ranks: 1\n");
    CHECK(text("{a: 64 MiB}") != text("{a: 64MiB}"));
    CHECK(text("{a: {b: 1, c: 2}}") == text("a:\n  c: 2\n  b: 1\n"));
}

TEST_CASE("a resolved scenario has the keys of its framework, whatever they are called", "[memory]") {
    const std::string scenario = (root / "scenarios/llama-3-8b-fsdp.yaml").string();
    const auto resolved = [&](const std::string& framework) {
        const std::vector<std::string> assignments{"training.framework=~", "training.framework=" + framework};
        return config::load_scenario(scenario, assignments).variants.at(0).resolved;
    };
    const std::string shipped = (root / "scenarios/frameworks/pytorch-ddp.yaml").string();
    const std::string written =
        "{fusion: {threshold: 25 MiB, first: 1 MiB, full: after}, overlap: wait-free, gradient_sync: "
        "last-micro-batch, accumulation: separate, elementwise: separate, launches: eager, saved: {gate: true, logits: "
        "12 B}";
    CHECK(resolved("pytorch-ddp") == resolved(shipped));
    CHECK(resolved("pytorch-ddp") == resolved(written + "}"));
    CHECK(resolved("pytorch-ddp") == resolved(written + ", name: another, description: of the same}"));
    CHECK(resolved("pytorch-ddp") != resolved("{base: pytorch-ddp, launches: graph}"));
    CHECK(resolved("{base: pytorch-ddp, elementwise: fused, saved: {gate: false}}") ==
          resolved("pytorch-ddp-compiled"));
}
