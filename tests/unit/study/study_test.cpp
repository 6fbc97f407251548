#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/scenario.hpp"
#include "sim/explore/plans.hpp"
#include "sim/study/study.hpp"
#include "tests/catch.hpp"

using namespace syncline;
using config::Study;
using config::StudyPoint;
namespace fs = std::filesystem;

namespace {

const std::string root = SYNCLINE_SOURCE_DIR;
const std::string p100 = root + "/platforms/p100-25g.yaml";

/// A base that fits any number of ranks.
const std::string base = "base: {platform: " + p100 + ", collective: {ranks: 4, bytes: 1 MB}}\n";

/// A point without its documents, and whether it fits.
struct Seen {
    std::int64_t number, repeat;
    std::uint64_t seed;
    std::string settings, misfit, text;
};

Study study(const std::string& text, const std::vector<std::string>& assignments = {}) {
    const fs::path directory = fs::temp_directory_path() / fmt::format("syncline-study-{}", getpid());
    fs::create_directories(directory);
    std::ofstream(directory / "test.yaml") << text;
    try {
        Study result((directory / "test.yaml").string(), assignments, {});
        fs::remove_all(directory);
        return result;
    } catch (...) {
        fs::remove_all(directory);
        throw;
    }
}

std::vector<Seen> points(const Study& study, const Study::Wanted& wanted = {},
                         const std::vector<std::string>& changes = {}) {
    std::vector<Seen> seen;
    study.each(
        wanted,
        [&](const StudyPoint& point, const config::Variant* variant) {
            CHECK((variant == nullptr) == !point.misfit.empty());
            std::string settings;
            for (const config::Setting& setting : point.settings)
                settings += fmt::format("{}{}={}", settings.empty() ? "" : " ", setting.key, setting.value);
            seen.push_back({point.number, point.repeat, point.seed, settings, point.misfit, point.resolved.text()});
        },
        changes);
    return seen;
}

std::vector<std::string> settings(const Study& study) {
    std::vector<std::string> all;
    for (const Seen& point : points(study)) all.push_back(point.settings);
    return all;
}

std::vector<Diagnostic> errors(const std::string& text, const std::vector<std::string>& assignments = {}) {
    try {
        study(text, assignments);
    } catch (const ConfigError& error) {
        return error.diagnostics();
    }
    return {};
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("points are the product of the axes, the last one fastest, repetitions innermost", "[memory]") {
    const Study made = study(base +
                             "axes: {collective.ranks: [2, 4], collective.bytes: [1 B, 2 B, 3 B]}\n"
                             "repeat: 2\nseed: 7\n");
    std::size_t at = 0;
    const auto seen = points(made);
    REQUIRE(seen.size() == 12);
    for (const int ranks : {2, 4})
        for (const int bytes : {1, 2, 3})
            for (const int repeat : {1, 2}) {
                const Seen& point = seen[at++];
                CHECK(point.number == static_cast<std::int64_t>(at));
                CHECK(point.repeat == repeat);
                CHECK(point.seed == static_cast<std::uint64_t>(6 + repeat));
                CHECK(point.settings == fmt::format("collective.ranks={} collective.bytes={} B", ranks, bytes));
                CHECK(contains(point.text, fmt::format("  ranks: {}\n", ranks)));
            }
    CHECK(made.repeats() == 2);
    CHECK(made.keys() == Texts{"collective.ranks", "collective.bytes"});
    CHECK(made.name() == "test");
}

TEST_CASE("ranges, powers and single values are read", "[memory]") {
    const auto values = [](const std::string& range) {
        const Study made = study(base + "axes: {collective.ranks: " + range + "}\n");
        std::string text;
        for (const auto& value : made.axes().at(0).values) text += (text.empty() ? "" : " ") + value.at(0);
        return text;
    };
    CHECK(values("2..5") == "2 3 4 5");
    CHECK(values("2..64 step 20") == "2 22 42 62");
    CHECK(values("2..64 step 31") == "2 33 64");
    CHECK(values("5..5") == "5");
    CHECK(values("2^1..2^5") == "2 4 8 16 32");
    CHECK(values("3^0..3^4 step 2") == "1 9 81");
    CHECK(values("8") == "8");
    CHECK(values("[8, 2]") == "8 2");
}

TEST_CASE("axes that vary together do so value by value", "[memory]") {
    const auto seen = settings(study(base + "axes: {platform.fabric.bandwidth: [1 Gbps, 2 Gbps]}\n"
                                            "zip: [{collective.ranks: [2, 4], collective.bytes: [8 B, 4 B]}]\n"));
    CHECK(seen == Texts{"platform.fabric.bandwidth=1 Gbps collective.ranks=2 collective.bytes=8 B",
                        "platform.fabric.bandwidth=1 Gbps collective.ranks=4 collective.bytes=4 B",
                        "platform.fabric.bandwidth=2 Gbps collective.ranks=2 collective.bytes=8 B",
                        "platform.fabric.bandwidth=2 Gbps collective.ranks=4 collective.bytes=4 B"});
}

TEST_CASE("excluded points have no number, and points that do not fit have one", "[memory]") {
    const Study made =
        study(base + "axes: {platform.fabric.topology: [star, hypercube], collective.ranks: [2, 3, 4]}\n");
    const auto all = points(made);
    REQUIRE(all.size() == 6);
    for (std::size_t i = 0; i < 6; ++i) CHECK(all[i].misfit.empty() == (i != 4));
    CHECK(all[4].number == 5);
    // The error is at the place of the axis.
    CHECK(contains(all[4].misfit, "test.yaml:2:"));
    CHECK(contains(all[4].text, "  ranks: 3\n"));
    const auto some = points(made, [](const auto& settings) { return settings[1].value != "2"; });
    REQUIRE(some.size() == 4);
    CHECK(some.back().number == 4);
    CHECK(some.back().settings == all.back().settings);
}

TEST_CASE("files are named without directory and extension if that distinguishes them", "[memory]") {
    const auto platforms = [](const std::string& list) {
        return settings(study(base + "axes: {platform: " + list + "}\n"));
    };
    CHECK(platforms(fmt::format("[{0}/p100-25g.yaml, {0}/p100-56g.yaml]", root + "/platforms")) ==
          Texts{"platform=p100-25g", "platform=p100-56g"});
    CHECK(platforms(fmt::format("[{0}/p100-25g.yaml, {0}/../platforms/p100-25g.yaml]", root + "/platforms")).size() ==
          2);
    CHECK(settings(study(base + "axes: {platform.fabric: [{bandwidth: 1 Gbps}, {latency: 2 us, bandwidth: 3 Gbps}]}"))
              .back() == "platform.fabric={latency: 2 us, bandwidth: 3 Gbps}");
}

TEST_CASE("variants are an axis, the first one unless it is written elsewhere", "[memory]") {
    const std::string two =
        "base:\n  platform: " + p100 +
        "\n  collective: {ranks: 4, bytes: 1 MB}\n"
        "  variants: {ring: {collective.algorithm: ring}, direct: {collective.algorithm: direct}}\n";
    CHECK(settings(study(two)) == Texts{"variant=ring", "variant=direct"});
    CHECK(settings(study(two + "axes: {collective.ranks: [2], variant: [direct]}")) ==
          Texts{"collective.ranks=2 variant=direct"});
    CHECK(settings(study(two, {"variant=direct"})) == Texts{"variant=direct"});
    CHECK(contains(points(study(two, {"variant=direct"}))[0].text, "algorithm: direct\n"));
    const auto wrong = errors(two + "axes: {variant: [rings]}");
    REQUIRE(wrong.size() == 1);
    CHECK(wrong[0].hint == "did you mean 'ring'?");
    CHECK(settings(study(base)) == Texts{""});
}

TEST_CASE("a sweep is one point for each size", "[memory]") {
    const Study made = study("base: {platform: " + p100 +
                             ", collective: {ranks: 4, sweep: {bytes: 4B..16B}}}\n"
                             "axes: {collective.algorithm: [ring, direct]}\nrepeat: 2\n");
    CHECK(made.keys() == Texts{"collective.algorithm", "collective.bytes"});
    const auto seen = points(made);
    REQUIRE(seen.size() == 12);
    CHECK(seen[0].settings == "collective.algorithm=ring collective.bytes=4 B");
    CHECK(seen[1].settings == seen[0].settings);
    CHECK(seen[11].settings == "collective.algorithm=direct collective.bytes=16 B");
    for (const Seen& point : seen) CHECK(!contains(point.text, "sweep"));
    // A scenario that lists the sizes gives the same points.
    const auto sizes = points(study("base: {platform: " + p100 +
                                    ", collective: {ranks: 4, algorithm: ring}}\n"
                                    "axes: {collective.bytes: [4 B, 8 B]}\n"));
    CHECK(sizes[1].text == seen[2].text);
}

TEST_CASE("an open grid is one point for each choice that fits", "[memory]") {
    const auto seen = points(study("base:\n  platform: " + p100 + "\n  workload: " + root +
                                   "/workloads/alexnet-tf.yaml\n"
                                   "  training: {ranks: 8, batch: 64, parallelism: {model: auto}}\n"));
    REQUIRE(seen.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(seen[i].misfit.empty());
        CHECK(seen[i].settings == fmt::format("training.parallelism.model={}", 1 << i));
        const config::Variant variant = config::load_resolved(seen[i].text, "resolved", {});
        CHECK(variant.plan.parallelism.layout.rows == 1 << i);
        CHECK(variant.plan.replicas() == 8 >> i);
        CHECK(variant.plan.global_batch() == 64);
    }
}

TEST_CASE("repetitions of a combination are one plan, whichever of them a condition keeps", "[memory]") {
    const Study made = study(base + "axes: {collective.ranks: [2, 4], collective.bytes: [1 B, 2 B]}\nrepeat: 3\n");
    const auto plans = [&](const std::set<std::pair<std::int64_t, std::int64_t>>& wanted) {
        std::vector<StudyPoint> kept;
        made.each({}, [&](const StudyPoint& point, const config::Variant*) {
            if (wanted.empty() || wanted.count({point.combination, point.repeat}) > 0) kept.push_back(point);
        });
        std::vector<std::size_t> sizes;
        for (const batch::Candidate& plan : batch::plans_of(kept)) sizes.push_back(plan.points.size());
        return sizes;
    };
    CHECK(plans({}) == std::vector<std::size_t>{3, 3, 3, 3});
    CHECK(plans({{1, 1}, {2, 2}, {3, 3}, {4, 1}}) == std::vector<std::size_t>{1, 1, 1, 1});
    CHECK(plans({{1, 1}, {1, 3}, {3, 2}, {3, 3}}) == std::vector<std::size_t>{2, 2});
}

TEST_CASE("draws depend on the seed and the key alone", "[memory]") {
    const std::string latency = "platform.fabric.latency: {distribution: uniform, least: 800 ns, most: 5 us}";
    const std::string more =
        "platform.host.loopback_bandwidth: {distribution: normal, mean: 30 GBps, deviation: 1 GBps}";
    const auto drawn = [&](const std::string& text) {
        std::vector<double> values;
        for (const Seen& point : points(study(base + text))) {
            const std::string key = "platform.fabric.latency=";
            const auto from = point.settings.find(key) + key.size();
            const std::string value = point.settings.substr(from, point.settings.find(" ns") + 3 - from);
            CHECK(contains(point.text, "latency: " + value + "\n"));
            values.push_back(parse_quantity(value, Dimension::seconds).value.value());
        }
        return values;
    };
    const auto values = drawn("repeat: 50\ndraw: {" + latency + "}\n");
    CHECK(std::set<double>(values.begin(), values.end()).size() == 50);
    for (const double value : values) CHECK((value >= 800e-9 && value <= 5e-6));
    CHECK(drawn("repeat: 50\ndraw: {" + more + ", " + latency + "}\n") == values);
    // The second repetition's seed is the first one's with the next seed.
    const auto next = drawn("repeat: 49\nseed: 2\ndraw: {" + latency + "}\n");
    CHECK(next == std::vector<double>(values.begin() + 1, values.end()));
    // Points of one repetition have the same value.
    const auto twice = drawn("axes: {collective.ranks: [2, 4]}\nrepeat: 2\ndraw: {" + latency + "}\n");
    CHECK(twice == std::vector<double>{values[0], values[1], values[0], values[1]});
}

TEST_CASE("distributions have the stated mean and spread") {
    const auto moments = [](const std::string& distribution) {
        double sum = 0, squares = 0;
        constexpr int count = 2000;
        for (const Seen& point : points(study(
                 base + fmt::format("repeat: {}\ndraw: {{platform.fabric.latency: {}}}\n", count, distribution)))) {
            const auto from = point.settings.find('=') + 1;
            const double value = parse_quantity(point.settings.substr(from), Dimension::seconds).value.value() * 1e6;
            sum += value;
            squares += value * value;
        }
        return std::pair(sum / count, std::sqrt(squares / count - sum / count * (sum / count)));
    };
    const auto uniform = moments("{distribution: uniform, least: 1 us, most: 5 us}");
    CHECK(uniform.first == Approx(3).margin(0.1));
    CHECK(uniform.second == Approx(4 / std::sqrt(12)).margin(0.05));
    const auto normal = moments("{distribution: normal, mean: 50 us, deviation: 2000 ns}");
    CHECK(normal.first == Approx(50).margin(0.2));
    CHECK(normal.second == Approx(2).margin(0.15));
    const auto lognormal = moments("{distribution: lognormal, median: 2 us, sigma: 0.5}");
    CHECK(lognormal.first == Approx(2 * std::exp(0.125)).margin(0.15));
}

TEST_CASE("assignments replace axes, change the study, or every point", "[memory]") {
    const std::string text = base + "axes: {collective.ranks: [2, 4], collective.bytes: [1 B, 2 B]}\n";
    CHECK(settings(study(text, {"collective.ranks=8"})) ==
          Texts{"collective.ranks=8 collective.bytes=1 B", "collective.ranks=8 collective.bytes=2 B"});
    CHECK(settings(study(text, {"collective.ranks=[8]", "axes.collective.bytes=~"})) == Texts{"collective.ranks=8"});
    CHECK(points(study(text, {"repeat=3"})).size() == 12);
    CHECK(points(study(text, {"axes.platform.fabric.bandwidth=[1 Gbps, 2 Gbps]"})).size() == 8);
    for (const Seen& point : points(study(text, {"platform.fabric.bandwidth=9 Gbps"})))
        CHECK(contains(point.text, "bandwidth: 9 Gbps\n"));
    for (const Seen& point : points(study(text), {}, {"collective.bytes=5 B"}))
        CHECK(contains(point.text, "bytes: 5 B\n"));
}

TEST_CASE("a study's errors are reported at their place", "[memory]") {
    const auto error = [](const std::string& text, const std::vector<std::string>& assignments = {}) {
        const auto found = errors(base + text, assignments);
        INFO(text);
        REQUIRE(found.size() == 1);
        return fmt::format("{}:{}: {}", found[0].where.line, found[0].where.column, found[0].message);
    };
    std::string many = "axes:\n";
    for (int i = 0; i <= 500; ++i) many += fmt::format("  collective.k{}: [1]\n", i);
    CHECK(error(many) == "503:3: the study varies more than 500 keys");
    CHECK(error("axes: {collective.ranks: [2]}", {"collective={}"}) ==
          "1:1: 'collective' would hide 'collective.ranks', which the study varies");
}

TEST_CASE("a scenario is a study without axes", "[memory]") {
    const Study made(root + "/scenarios/zhang-2021.yaml", {}, {});
    CHECK(made.name() == "zhang-2021");
    CHECK(settings(made) == Texts{"variant=ring", "variant=parameter-server", "variant=alexnet-ring",
                                  "variant=alexnet-parameter-server"});
}

TEST_CASE("the shipped study has 500 points, all of which fit", "[memory]") {
    const Study made(root + "/scenarios/studies/allreduce.yaml", {}, {});
    const auto seen = points(made);
    CHECK(seen.size() == 500);
    for (const Seen& point : seen) CHECK(point.misfit == "");
    std::set<std::string> texts;
    for (const Seen& point : seen) texts.insert(point.text);
    CHECK(texts.size() == 500);
}
