#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/config/scenario.hpp"
#include "sim/serve/knob_values.hpp"
#include "sim/serve/knobs.hpp"
#include "tests/catch.hpp"

// Knobs of the live page: texts of values, those of a scenario, and those that are made for any.

using namespace syncline;
namespace fs = std::filesystem;

namespace {

const std::string root = SYNCLINE_SOURCE_DIR;

config::Scenario loaded(const std::string& text) {
    const fs::path file = fs::temp_directory_path() / ("syncline-knobs-" + std::to_string(getpid()) + ".yaml");
    std::ofstream(file) << text;
    try {
        config::Scenario scenario = config::load_scenario(file.string(), {});
        fs::remove(file);
        return scenario;
    } catch (...) {
        fs::remove(file);
        throw;
    }
}

/// Returns the knobs of a scenario's first variant, by key.
std::map<std::string, Json> knobs_by_key(const std::string& text, const std::map<std::string, std::string>& set = {}) {
    const config::Scenario scenario = loaded(text);
    std::map<std::string, Json> result;
    for (const Json& knob : serve::knobs_of(scenario, scenario.variants.front(), set))
        result[knob.at("key").get<std::string>()] = knob;
    return result;
}

std::vector<std::string> values_of(const Json& knob) {
    return knob.at("values").get<std::vector<std::string>>();
}

const std::string star =
    "platform: {device: {flops: 1 Tflops, memory_bandwidth: 1 TBps}, fabric: {bandwidth: 1 GBps, "
    "latency: 25 us}}\n";
const std::string layers =
    "workload: {name: two, input: [1, 1, 1], layers: [{name: a, kind: custom, parameters: 1000, "
    "macs: 10}, {name: b, kind: custom, parameters: 1000, macs: 10}]}\n";

/// Returns the YAML files of a folder of scenarios.
std::vector<std::string> files_in(const std::string& folder) {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(root + "/scenarios/" + folder))
        if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace

TEST_CASE("Values of knobs are the same if they mean the same", "[knobs]") {
    CHECK(serve::same_value("1 GBps", "1000 MBps"));
    CHECK(serve::same_value("1 GBps", "8 Gbps"));
    CHECK(serve::same_value("25us", "25 us"));
    CHECK(serve::same_value("16", "16.0"));
    CHECK(serve::same_value("5 %", "0.05"));
    CHECK(serve::same_value("[0, 4, 1]", "[0,4,1]"));
    CHECK(serve::same_value("[1 GBps, 4 GBps]", "[1000 MBps, 4 GBps]"));
    CHECK(serve::same_value("{ranks: [3], slowdown: 2}", "{slowdown: 2.0, ranks: [3]}"));
    CHECK(serve::same_value("ring", "{topology: ring}"));
    CHECK_FALSE(serve::same_value("1 GBps", "1 Gbps"));
    CHECK_FALSE(serve::same_value("1 MB", "1 MiB"));
    CHECK_FALSE(serve::same_value("8", "8 s"));
    CHECK_FALSE(serve::same_value("none", "0"));
    CHECK_FALSE(serve::same_value("[0, 4, 1]", "[0, 4]"));
    CHECK_FALSE(serve::same_value("ring", "{topology: ring, hosts: 4}"));
}

TEST_CASE("Quantities are multiplied in units that keep numbers short", "[knobs]") {
    CHECK(serve::times("1 GBps", 0.5) == "500 MBps");
    CHECK(serve::times("25 Gbps", 4) == "100 Gbps");
    CHECK(serve::times("25 Gbps", 0.5) == "12.5 Gbps");
    CHECK(serve::times("25 us", 10) == "250 us");
    CHECK(serve::times("500 us", 10) == "5 ms");
    CHECK(serve::times("1 ms", 0.5) == "500 us");
    CHECK(serve::times("400 ms", 10) == "4 s");
    CHECK(serve::times("64 MiB", 0.25) == "16 MiB");
    CHECK(serve::times("512 KiB", 4) == "2 MiB");
    CHECK(serve::times("100 MB", 100) == "10 GB");
    CHECK(serve::times("1 B", 10) == "10 B");
    CHECK(serve::times("[1 GBps, 500 MBps]", 2) == "[2 GBps, 1 GBps]");
    CHECK(serve::times("[1 us, none]", 10) == "[10 us, none]");
    CHECK_FALSE(serve::times("none", 2));
    CHECK_FALSE(serve::times("8", 2));
    CHECK_FALSE(serve::times("5 %", 2));
    CHECK_FALSE(serve::times("ring", 2));
    CHECK_FALSE(serve::times("5 days", 2));
}

TEST_CASE("A missing value is put where numbers ascend", "[knobs]") {
    std::vector<std::string> numbers{"2", "4", "16"};
    CHECK(serve::put_in(numbers, "4") == 1);
    CHECK(serve::put_in(numbers, "8") == 2);
    CHECK(serve::put_in(numbers, "32") == 4);
    CHECK(numbers == std::vector<std::string>{"2", "4", "8", "16", "32"});
    std::vector<std::string> latencies{"none", "1 us", "1 ms"};
    CHECK(serve::put_in(latencies, "1000 us") == 2);
    CHECK(serve::put_in(latencies, "25 us") == 2);
    CHECK(latencies == std::vector<std::string>{"none", "1 us", "25 us", "1 ms"});
    std::vector<std::string> words{"ring", "pat"};
    CHECK(serve::put_in(words, "direct") == 0);
    CHECK(words == std::vector<std::string>{"direct", "ring", "pat"});
}

TEST_CASE("The knobs of a scenario are its own, at their present values", "[knobs]") {
    const std::string text = star + layers +
                             "training: {ranks: 4, batch: 32, algorithm: ring}\n"
                             "variants: {one: {}, two: {training.ranks: 8}}\n"
                             "knobs:\n"
                             "  platform.fabric.bandwidth: [500 MBps, 1000 MBps, 2 GBps]\n"
                             "  training.ranks: 2^1..2^3\n"
                             "  training: {overlap: [none, wait-free], algorithm: [rabenseifner]}\n"
                             "  training.servers.count: [1, 2]\n"
                             "  training.jitter: [none, 5 %]\n";
    const config::Scenario scenario = loaded(text);
    REQUIRE(scenario.knobs.size() == 6);
    CHECK(scenario.knobs[1].key == "training.ranks");
    CHECK(scenario.knobs[1].values == std::vector<std::string>{"2", "4", "8"});
    CHECK(scenario.knobs[1].at.line == 7);
    const Json knobs = serve::knobs_of(scenario, scenario.variants[1]);
    // In the order written, after the variants.
    std::vector<std::string> keys;
    for (const Json& knob : knobs) keys.push_back(knob.at("key").get<std::string>());
    CHECK(keys == std::vector<std::string>{"variant", "platform.fabric.bandwidth", "training.ranks", "training.overlap",
                                           "training.algorithm", "training.servers.count", "training.jitter"});
    CHECK(knobs[0] ==
          Json({{"key", "variant"}, {"label", "variant"}, {"values", {"one", "two"}}, {"at", 1}, {"kind", "choice"}}));
    CHECK(knobs[1] == Json({{"key", "platform.fabric.bandwidth"},
                            {"label", "bandwidth"},
                            {"values", {"500 MBps", "1000 MBps", "2 GBps"}},
                            {"at", 1},
                            {"kind", "number"}}));
    CHECK(knobs[2].at("at") == 2);
    CHECK(knobs[3].at("at") == 1);  // the default of overlap, which is not written
    CHECK(knobs[4].at("values") == Json({"ring", "rabenseifner"}));
    CHECK(knobs[4].at("at") == 0);
    CHECK(knobs[5].at("at") == 0);
    CHECK(knobs[6].at("at") == 0);
    const Json turned = serve::knobs_of(scenario, scenario.variants[0],
                                        {{"training.ranks", "16"}, {"platform.fabric.bandwidth", "0.5 GBps"}});
    CHECK(turned[1].at("at") == 0);
    CHECK(turned[2].at("values") == Json({"2", "4", "8", "16"}));
    CHECK(turned[2].at("at") == 3);
}

TEST_CASE("Any training has knobs whose values divide each other", "[knobs]") {
    const auto knobs = knobs_by_key(star + layers +
                                    "training: {ranks: 8, batch: 48, parallelism: {model: 2, pipeline: {stages: 2, "
                                    "micro_batches: 3}}}\n");
    // A replica has 2·2 ranks, and replicas must divide 48 samples into 3 microbatches.
    CHECK(values_of(knobs.at("training.ranks")) == std::vector<std::string>{"4", "8", "16", "32"});
    CHECK(knobs.at("training.ranks").at("at") == 1);
    CHECK(values_of(knobs.at("training.parallelism.model")) == std::vector<std::string>{"1", "2", "4"});
    // There are only two layers.
    CHECK(values_of(knobs.at("training.parallelism.pipeline.stages")) == std::vector<std::string>{"1", "2"});
    // Each of two replicas has 24 samples.
    CHECK(values_of(knobs.at("training.parallelism.pipeline.micro_batches")) ==
          std::vector<std::string>{"3", "6", "12"});
    CHECK(values_of(knobs.at("training.batch")) == std::vector<std::string>{"12", "24", "48", "96", "192"});
    CHECK(values_of(knobs.at("platform.fabric.bandwidth")) ==
          std::vector<std::string>{"500 MBps", "1 GBps", "2 GBps", "4 GBps", "8 GBps"});
    CHECK(values_of(knobs.at("platform.fabric.latency")) ==
          std::vector<std::string>{"none", "12.5 us", "25 us", "50 us", "250 us"});
    CHECK(knobs.at("platform.fabric.latency").at("at") == 2);
    CHECK(knobs.size() == 8);
    CHECK_FALSE(knobs.contains("variant"));

    // Without `fusion` there are no buckets, which is one of the values.
    const auto plain = knobs_by_key(star + layers + "training: {ranks: 8}\n");
    CHECK(values_of(plain.at("training.fusion.threshold")).front() == "none");
    CHECK(plain.at("training.fusion.threshold").at("at") == 0);
    // Ranks that train alone for some steps need all weights.
    const std::string large = "workload: " + root + "/workloads/llama-3-8b.yaml\n";
    CHECK(knobs_by_key(star + large + "training: {ranks: 8}\n").contains("training.parallelism.sharding"));
    CHECK_FALSE(knobs_by_key(star + large + "training: {ranks: 8, local_steps: 4}\n")
                    .contains("training.parallelism.sharding"));
}

TEST_CASE("Knobs of servers, exchanges and fixed clusters", "[knobs]") {
    const auto served = knobs_by_key(star + layers + "training: {ranks: 4, exchange: parameter-server}\n");
    CHECK(values_of(served.at("training.servers.count")) == std::vector<std::string>{"1", "2", "4", "8"});
    CHECK(served.at("training.servers.placement").at("values").size() == 3);
    CHECK(served.at("training.batch_per_rank").at("label") == "batch per rank");
    CHECK_FALSE(served.contains("training.algorithm"));

    const auto exchange = knobs_by_key(star + "collective: {operation: all-to-all, ranks: 16, bytes: 1 MB}\n");
    CHECK(values_of(exchange.at("collective.ranks")) == std::vector<std::string>{"2", "4", "8", "16", "32"});
    CHECK(values_of(exchange.at("collective.bytes")) == std::vector<std::string>{"10 kB", "100 kB", "1 MB", "10 MB"});
    CHECK(values_of(exchange.at("collective.algorithm")) == std::vector<std::string>{"direct", "pairwise", "bruck"});
    CHECK(values_of(exchange.at("platform.fabric.topology")).size() == 5);

    // The algorithm of an exchange that names none, unless a table chooses it.
    const std::string nvswitch = "platform: " + root + "/platforms/a100-nvswitch.yaml\n";
    const std::string all_reduce = "collective: {ranks: 8, bytes: 1 MB}\n", of_two = "training: {ranks: 2}\n";
    CHECK(knobs_by_key(star + all_reduce).at("collective.algorithm").at("at") == 0);
    CHECK(knobs_by_key(nvswitch + all_reduce).at("collective.algorithm").at("at").is_null());
    CHECK(knobs_by_key(star + layers + of_two).at("training.algorithm").at("at") == 0);
    CHECK(knobs_by_key(nvswitch + layers + of_two).at("training.algorithm").at("at").is_null());

    const auto fixed = knobs_by_key(
        "platform: {nodes: 4, device: {flops: 1 Tflops, memory_bandwidth: 1 TBps}, fabric: "
        "{bandwidth: 25 Gbps, latency: none}}\n" +
        layers + "training: {ranks: 4}\n");
    CHECK(values_of(fixed.at("training.ranks")) == std::vector<std::string>{"2", "4"});
    CHECK(values_of(fixed.at("platform.fabric.bandwidth")).front() == "12.5 Gbps");
    CHECK(fixed.at("platform.fabric.latency").at("at") == 0);
}

TEST_CASE("Every value of the knobs of the lessons fits every variant", "[knobs]") {
    std::size_t knobs = 0, values = 0, loads = 0;
    for (const std::string& file : files_in("lessons")) {
        CAPTURE(file);
        const config::Scenario scenario = config::load_scenario(file, {});
        REQUIRE_FALSE(scenario.knobs.empty());
        CHECK(scenario.knobs.size() <= 4);
        for (const config::Knob& knob : scenario.knobs) {
            ++knobs;
            values += knob.values.size();
            for (const std::string& value : knob.values) {
                CAPTURE(knob.key, value);
                config::Scenario changed;
                REQUIRE_NOTHROW(changed = config::load_scenario(file, {knob.key + "=" + value}));
                REQUIRE(changed.variants.size() == scenario.variants.size());
                loads += changed.variants.size();
                // What the page sets is what the plan then has.
                for (std::size_t i = 0; i < scenario.variants.size(); ++i) {
                    CHECK(changed.variants[i].name == scenario.variants[i].name);
                    for (const Json& one : serve::knobs_of(scenario, changed.variants[i]))
                        if (one.at("key") == knob.key) {
                            REQUIRE(one.at("at").is_number());
                            CHECK(serve::same_value(one.at("values").at(one.at("at").get<std::size_t>()), value));
                        }
                }
            }
        }
    }
    CHECK(files_in("lessons").size() == 20);
    CHECK(knobs >= 60);
    WARN(knobs << " knobs of 20 lessons have " << values << " values, which " << loads << " variants were read with");
}

TEST_CASE("Any shipped scenario has knobs, whose values load or are refused", "[knobs]") {
    std::size_t scenarios = 0, values = 0, refused = 0;
    for (const char* folder : {".", "lessons", "published"})
        for (const std::string& file : files_in(folder)) {
            CAPTURE(file);
            config::Scenario scenario;
            try {
                scenario = config::load_scenario(file, {});
            } catch (const ConfigError&) {
                continue;  // a platform that only SimGrid reads
            }
            ++scenarios;
            for (const config::Variant& variant : scenario.variants)
                CHECK(serve::knobs_of(scenario, variant).is_array());
            // Reading every variant with every value takes minutes: one of them is, and of measurements with the ends
            // only.
            const config::Variant& variant = scenario.variants[scenarios % scenario.variants.size()];
            scenario.knobs.clear();
            const Json knobs = serve::knobs_of(scenario, variant);
            CHECK(knobs.size() <= 9);
            std::set<std::string> keys;
            for (const Json& knob : knobs) {
                const auto key = knob.at("key").get<std::string>();
                CAPTURE(key);
                CHECK(keys.insert(key).second);
                CHECK_FALSE(knob.at("label").get<std::string>().empty());
                CHECK(values_of(knob).size() > 1);
                if (key == "variant") continue;
                for (const std::string& value : values_of(knob)) {
                    const bool end = value == values_of(knob).front() || value == values_of(knob).back();
                    if (!end && folder == std::string("published")) continue;
                    ++values;
                    try {
                        config::load_scenario(file, {key + "=" + value}, {}, 1, {variant.name});
                    } catch (const ConfigError& error) {
                        INFO(error.what());
                        ++refused;
                        CHECK(
                            (knob.at("at").is_null() || values_of(knob).at(knob.at("at").get<std::size_t>()) != value));
                    }
                }
            }
        }
    CHECK(scenarios > 50);
    CHECK(100 * refused <= values);
    WARN(values << " values of usual knobs of " << scenarios << " scenarios were read, " << refused << " were refused");
}
