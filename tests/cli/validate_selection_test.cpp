#include <algorithm>
#include <set>

#include "tests/cli/measured.hpp"

// `validate --series` and `--sample`: predictions of some rows only.

using namespace syncline::test;
using nlohmann::json;

namespace {

struct Selection : RingBench {
    /// Two series with a parameter each, one more whose parameter calibrates in the first, and a second scenario.
    Selection() {
        const auto named = [](const std::string& name, const std::string& rows) {
            return series(rows, "      name: " + name + "\n");
        };
        scenario(named("fast", row(2, 8'000'000, true) + row(4, 16'000'000, false) + row(8, 16'000'000, false)) +
                     named("slow", row(2, 4'000'000, true) + row(4, 32'000'000, false)) +
                     named("late", row(16, 16, false, 0.8) + row(16, 64, false, 0.7)),
                 "    - {key: platform.fabric.bandwidth, unit: GBps, least: 0.1, most: 50, series: [fast, late],\n"
                 "       rows: [fast 2/8000000 B]}\n"
                 "    - {key: platform.fabric.bandwidth, unit: GBps, least: 0.1, most: 50, series: [slow]}\n",
                 "set/one.yaml");
        scenario(named("other", row(4, 800, false) + row(8, 800, false) + row(16, 800, false)), "", "set/two.yaml");
        write("set/platform.yaml", tiny_platform);
    }
    json validated(std::vector<std::string> options) const {
        options.insert(options.begin(), {"validate", "set", "--no-leave-one-out"});
        return json_of(std::move(options));
    }
    static std::vector<std::string> names(const json& report) {
        std::vector<std::string> all;
        for (const json& point : report["points"])
            for (const json& row : point["rows"]) all.push_back(row["name"]);
        return all;
    }
    static std::set<std::string> predicted(const json& report) {
        std::set<std::string> all;
        for (const json& point : report["points"])
            for (const json& row : point["rows"])
                if (row["role"] == "predicted") all.insert(row["name"]);
        return all;
    }
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("validate: --series predicts rows of these series, as all rows together would") {
    const Selection bench;
    const json whole = bench.validated({});
    const json slow = bench.validated({"--series", "slow"});
    CHECK(Selection::names(slow) == Names{"slow 2/4000000 B", "slow 4/32000000 B"});
    REQUIRE(slow["points"].size() == 1);
    CHECK(slow["points"][0]["rows"][1] == whole["points"][0]["rows"][4]);
    // The bandwidth of the other series is not estimated.
    REQUIRE(slow["points"][0]["parameters"].size() == 1);
    CHECK(slow["points"][0]["parameters"][0]["series"] == json{"slow"});
    // A calibration row of another series comes along if the predictions need it.
    const json late = bench.validated({"--series", "late"});
    CHECK(Selection::names(late) == Names{"fast 2/8000000 B", "late 16/16 B", "late 16/64 B"});
    CHECK(late["points"][0]["rows"][2] == whole["points"][0]["rows"][6]);
    CHECK(late["points"][0]["parameters"][0]["rows"] == json{"fast 2/8000000 B"});
    // The name of a scenario means all of its series; without parameters no row calibrates.
    CHECK(Selection::names(bench.validated({"--series", "two"})) ==
          Names{"other 4/800 B", "other 8/800 B", "other 16/800 B"});
    CHECK(Selection::names(bench.validated({"--series", "one", "--series", "other"})) == Selection::names(whole));
    CHECK(Selection::names(bench.validated({"--series", "slow", "--list"})) == Selection::names(slow));
}

TEST_CASE("validate: --series with an unknown name is refused with the name that was meant", "[memory]") {
    const Selection bench;
    const Outcome outcome = run_in(bench, {"validate", "set", "--series", "slwo"});
    CHECK(outcome.status == 2);
    CHECK(says(outcome.err, "--series: there is no series 'slwo'\n  hint: did you mean 'slow'?"));
    CHECK(outcome.out.empty());
    CHECK(run_in(bench, {"validate", "set", "--series", "qqqqqqqq", "--list"}).status == 2);
}

TEST_CASE("validate: --sample predicts that many rows, drawn by the seed in proportion to the scenarios") {
    const Selection bench;
    const json whole = bench.validated({});
    const std::set<std::string> all = Selection::predicted(whole);
    REQUIRE(all.size() == 8);
    std::set<std::string> seen;
    for (int seed = 1; seed <= 20; ++seed) {
        const std::vector<std::string> options{"--sample", "3", "--seed", std::to_string(seed)};
        auto listing = options;
        listing.emplace_back("--list");
        const json listed = bench.validated(listing);
        const std::set<std::string> drawn = Selection::predicted(listed);
        CHECK(drawn.size() == 3);
        CHECK(std::includes(all.begin(), all.end(), drawn.begin(), drawn.end()));
        // 5 and 3 of 8 rows: 1.875 and 1.125 of 3.
        CHECK(std::count_if(drawn.begin(), drawn.end(),
                            [](const std::string& name) { return name.starts_with("other"); }) == 1);
        CHECK(listed["sample"] == json{{"rows", 3}, {"of", 8}, {"seed", seed}});
        seen.insert(drawn.begin(), drawn.end());
        if (seed > 2) continue;
        const json sample = bench.validated(options);
        CHECK(Selection::names(sample) == Selection::names(listed));
        CHECK(sample["rows"] == 3);
        CHECK(sample["sample"] == listed["sample"]);
        CHECK(sample == bench.validated(options));
        for (const json& point : sample["points"])
            for (const json& row : point["rows"])
                CHECK(std::any_of(whole["points"].begin(), whole["points"].end(), [&](const json& other) {
                    return std::find(other["rows"].begin(), other["rows"].end(), row) != other["rows"].end();
                }));
    }
    CHECK(seen == all);  // the probability of a miss is below (2/3)^20 for each row
}

TEST_CASE("validate: --sample says how many rows it has, and combines with --series") {
    const Selection bench;
    const Outcome text = run_in(bench, {"validate", "set", "--series", "fast", "--sample", "1", "--seed", "7"});
    REQUIRE(text.status == 0);
    CHECK(says(text.out, "\nsample: 1 of 2 rows, seed 7\nall: 1 predicted"));
    CHECK(text.out == run_in(bench, {"validate", "set", "--series", "fast", "--sample", "1", "--seed", "7"}).out);
    const Outcome csv = run_in(bench, {"validate", "set", "--sample", "1", "--format", "csv"});
    CHECK(csv.err.ends_with("note: sample: 1 of 8 rows, seed 1\n"));
    CHECK(says(run_in(bench, {"validate", "set", "--list", "--sample", "2"}).out, "\nsample: 2 of 8 rows, seed 1\n"));
    // More rows than there are: all of them.
    const json more = bench.validated({"--sample", "100"});
    CHECK(more["sample"] == json{{"rows", 8}, {"of", 8}, {"seed", 1}});
    CHECK(Selection::names(more) == Selection::names(bench.validated({})));
    CHECK_FALSE(bench.validated({}).contains("sample"));
    for (const char* wrong : {"0", "-1", "2.5", "all"})
        CHECK(run_in(bench, {"validate", "set", "--sample", wrong}).status == 2);
}
