#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "sim/check/check.hpp"
#include "sim/config/scenario.hpp"
#include "sim/document/size_range.hpp"
#include "tests/catch.hpp"

// Selections, sweeps and exchanges alone in files. Mistakes are in tests/cases/selection.cases.

using namespace syncline;

namespace {

/// A scenario file that is removed at the end.
class File {
public:
    explicit File(const std::string& text)
        : path_(std::filesystem::temp_directory_path() / ("syncline-selection-" + std::to_string(getpid()) + ".yaml")) {
        std::ofstream(path_) << text;
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() { std::filesystem::remove(path_); }
    std::string path() const { return path_.string(); }

private:
    std::filesystem::path path_;
};

const std::string platform = "platform: " SYNCLINE_SOURCE_DIR "/platforms/p100-56g.yaml\n";
const std::string training = platform + "workload: " SYNCLINE_SOURCE_DIR "/workloads/vgg-16.yaml\n";
const std::string rows =
    "{name: mine, rows: [{operation: allreduce, below: 1 kB, algorithm: recursive-doubling}, {operation: allreduce, "
    "algorithm: ring}]}";

}  // namespace

TEST_CASE("selection files: rows are read with conditions, candidates and protocols", "[memory]") {
    const File file(platform +
                    "collective:\n  ranks: 4\n  bytes: 1 MB\n  selection:\n    name: mine\n    rows:\n"
                    "      - {operation: allreduce, below: 2 KiB, block_below: 100 B, ranks_below: 9, ranks_from: 2, "
                    "even_ranks: true, power_of_two: false, algorithm: pipelined-tree, segment: 1 KiB, overlay: ring}\n"
                    "      - operation: allreduce\n        least_time:\n"
                    "          - {algorithm: ring, protocol: {name: LL, launch: 6.6 us, latency: {inside: 0.6 us, "
                    "between: 2.7 us}, bandwidth_factor: 0.5}}\n"
                    "          - {algorithm: double-binary-tree}\n");
    const config::Scenario scenario = config::load_scenario(file.path(), {});
    const Selection& selection = *scenario.variants.at(0).collective->selection;
    CHECK(selection.name == "mine");
    REQUIRE(selection.rows.size() == 2);
    const SelectionCondition& condition = selection.rows[0].condition;
    CHECK(condition.below_bytes == 2048);
    CHECK(condition.block_below_bytes == 100);
    CHECK(condition.ranks_below == 9u);
    CHECK(condition.ranks_from == 2u);
    CHECK(condition.even_ranks == true);
    CHECK(condition.power_of_two == false);
    CHECK(selection.rows[0].candidates.at(0).algorithm.name == "pipelined-tree");
    CHECK(selection.rows[0].candidates.at(0).algorithm.segment_bytes == 1024);
    CHECK(selection.rows[0].candidates.at(0).algorithm.overlay->shape == Shape::ring);
    CHECK(selection.rows[1].condition.always());
    REQUIRE(selection.rows[1].candidates.size() == 2);
    const ProtocolTerms& ll = selection.rows[1].candidates[0].protocol;
    CHECK(ll.name == "LL");
    CHECK(ll.launch_s == Approx(6.6e-6));
    CHECK(ll.inside_latency_s == Approx(0.6e-6));
    CHECK(ll.between_latency_s == Approx(2.7e-6));
    CHECK(ll.bandwidth_factor == 0.5);
    CHECK(selection.rows[1].candidates[1].protocol.name.empty());
}

TEST_CASE("selection files: a variant's selection or algorithm replaces the base's", "[memory]") {
    const auto with = [](const std::string& keys, const std::string& variants) {
        return training + "training: {ranks: 4, " + keys + "}\n" + variants;
    };
    const File later(
        with("algorithm: recursive-doubling", "variants:\n  named: {}\n  table: {training.selection: " + rows + "}\n"));
    const auto variants = config::load_scenario(later.path(), {}).variants;
    CHECK_FALSE(variants.at(0).plan.selection);
    CHECK(variants.at(1).plan.selection->name == "mine");
    CHECK(config::load_scenario(later.path(), {"training.algorithm=ring"}).variants.at(1).plan.algorithm.name ==
          "ring");
    CHECK_FALSE(config::load_scenario(later.path(), {"training.algorithm=ring"}).variants.at(1).plan.selection);

    const File earlier(with("selection: " + rows,
                            "variants:\n  table: {}\n  named: {training.algorithm: recursive-doubling}\n  none: "
                            "{training.selection: ~}\n"));
    const auto back = config::load_scenario(earlier.path(), {}).variants;
    CHECK(back.at(0).plan.selection);
    CHECK_FALSE(back.at(1).plan.selection);
    CHECK(back.at(1).plan.algorithm.name == "recursive-doubling");
    CHECK_FALSE(back.at(2).plan.selection);
    CHECK(back.at(2).plan.algorithm.name == "ring");
}

TEST_CASE("an exchange alone has a size or a sweep", "[memory]") {
    const File file(platform +
                    "collective: {ranks: 4, bytes: 1 MB}\nvariants: {a: {}, b: {collective.sweep: {bytes: "
                    "4B..64B*4}}, c: {collective: {sweep: {bytes: [8 B, 3 B]}}}}\n");
    const auto variants = config::load_scenario(file.path(), {}).variants;
    CHECK(variants.at(0).collective->bytes == 1'000'000);
    CHECK(variants.at(0).collective->sweep.empty());
    CHECK(variants.at(1).collective->sweep == std::vector<std::uint64_t>{4, 16, 64});
    CHECK(variants.at(2).collective->sweep == std::vector<std::uint64_t>{8, 3});
}

TEST_CASE("size ranges grow by their factor up to their end", "[memory]") {
    const auto sizes = [](const std::string& text) { return config::parse_size_range(text).sizes; };
    CHECK(sizes("4B..32B") == std::vector<std::uint64_t>{4, 8, 16, 32});
    CHECK(sizes("4 B .. 31 B") == std::vector<std::uint64_t>{4, 8, 16});
    CHECK(sizes("1kB..1MB*10") == std::vector<std::uint64_t>{1000, 10'000, 100'000, 1'000'000});
    CHECK(sizes("7B..7B") == std::vector<std::uint64_t>{7});
    CHECK(sizes("1B..6B*1.5") == std::vector<std::uint64_t>{1, 2, 3, 5});
    CHECK(sizes("4B..512MiB").size() == 28);
    CHECK(sizes("4B..512MiB").back() == 512u << 20);
    for (const char* wrong :
         {"..", "4B..", "..4B", "8B..4B", "0B..4B", "4..8B", "4B..8", "4B..8B*", "4B..8B*1", "4B..8B*x", "4B..8B*2x",
          "4B..8B*nan", "4B..8B*-2", "1.5B..8B", "4B..1e300B", "4B..1PB*1.01", "-4B..8B"}) {
        CAPTURE(wrong);
        CHECK(config::is_size_range(wrong));
        const config::SizeRange range = config::parse_size_range(wrong);
        CHECK(range.sizes.empty());
        CHECK_FALSE(range.error.empty());
    }
}
