#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

// Presets by name on the command line, from the clone's root and from an empty folder.

using namespace syncline::test;
using nlohmann::json;

namespace {

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

Outcome ask(const fs::path& directory, std::vector<std::string> arguments) {
    return run_program({.arguments = std::move(arguments), .directory = directory});
}

/// Checks that the output is the same for a name and a path.
void check_same(const fs::path& directory, const std::vector<std::string>& by_name,
                const std::vector<std::string>& by_path) {
    const Outcome name = ask(directory, by_name), path = ask(directory, by_path);
    CAPTURE(by_name, name.err, path.err);
    CHECK(name.status == 0);
    CHECK(path.status == 0);
    CHECK_FALSE(name.out.empty());
    CHECK(name.out == path.out);
}

}  // namespace

TEST_CASE("preset: every verb accepts names in place of files") {
    const TempDir empty;
    for (const fs::path& folder : {fs::path(SYNCLINE_SOURCE_DIR), empty.path()}) {
        CAPTURE(folder.string());
        check_same(folder, {"run", "vgg-16-overlap", "--dry-run"},
                   {"run", shipped("scenarios/vgg-16-overlap.yaml"), "--dry-run"});
        check_same(folder, {"topology", "tree-4to1"}, {"topology", shipped("topologies/tree-4to1.yaml")});
        const std::vector<std::string> exchange{"--ranks", "8", "--bytes", "1MB", "--dry-run"};
        const auto with = [&](std::vector<std::string> more) {
            more.insert(more.begin(), "collective");
            more.insert(more.end(), exchange.begin(), exchange.end());
            return more;
        };
        check_same(folder, with({"--platform", "p100-25g", "--transport", "cuda-aware-mpi", "--selection", "mpich"}),
                   with({"--platform", shipped("platforms/p100-25g.yaml"), "--transport",
                         shipped("platforms/transports/cuda-aware-mpi.yaml"), "--selection",
                         shipped("platforms/selections/mpich.yaml")}));
        check_same(
            folder,
            {"explain", "vgg-16-overlap", "--no-what-if", "--variant", "wait-free", "--set", "platform=p100-56g"},
            {"explain", shipped("scenarios/vgg-16-overlap.yaml"), "--no-what-if", "--variant", "wait-free", "--set",
             "platform=" + shipped("platforms/p100-56g.yaml")});
    }
    CHECK(ask(SYNCLINE_SOURCE_DIR, {"check", "p100-25g", "allreduce", "mpich"}).out ==
          "platforms/p100-25g.yaml: a correct platform\nscenarios/studies/allreduce.yaml: a correct study\n"
          "platforms/selections/mpich.yaml: a correct selection\n");
    CHECK(holds(ask(empty.path(), {"validate", "m5-nccl-8-bytes", "--no-leave-one-out"}).out, "m5-nccl-8-bytes"));
    CHECK(holds(ask(empty.path(), {"lesson"}).out, "parameter-server"));
}

TEST_CASE("preset: runs have the same identity by name and by path", "[memory]") {
    const TempDir directory;
    const std::string axes = "axes: {platform.device: [k80, v100-sxm2], collective.ranks: [2, 4]}\n";
    const std::string exchange = "collective: {operation: allreduce, bytes: 1 MB}";
    directory.write("name.yaml", "base: {platform: p100-25g, " + exchange + "}\n" + axes);
    const auto file = [](const std::string& path) { return shipped("platforms/" + path + ".yaml"); };
    directory.write("path.yaml", "base: {platform: " + file("p100-25g") + ", " + exchange +
                                     "}\naxes: {platform.device: [" + file("devices/k80") + ", " +
                                     file("devices/v100-sxm2") + "], collective.ranks: [2, 4]}\n");
    const auto points = [&](const std::string& study) {
        const Outcome listed = ask(directory.path(), {"batch", study, "--dry-run", "--format", "json"});
        CAPTURE(listed.err);
        REQUIRE(listed.status == 0);
        std::vector<std::string> ids;
        const json found = json::parse(listed.out);
        for (const json& point : found["points"]) {
            CHECK((point["platform.device"] == "k80" || point["platform.device"] == "v100-sxm2"));
            ids.push_back(point["run_id"]);
        }
        return ids;
    };
    const std::vector<std::string> ids = points("name.yaml");
    CHECK(std::set<std::string>(ids.begin(), ids.end()).size() == 4);
    CHECK(points("path.yaml") == ids);
    const Outcome shipped_one = ask(directory.path(), {"batch", "allreduce", "--dry-run", "--format", "csv"});
    CHECK(shipped_one.status == 0);
    CHECK(holds(shipped_one.err, "500 points"));
}

TEST_CASE("preset: a former name of a key is an error of every verb that reads it", "[memory]") {
    const TempDir directory;
    directory.write("platform.yaml", tiny_platform);
    // This is PyYAML's dump of {on: host}.
    directory.write("old.yaml", "send_overhead: 1 us\nreduction:\n  true: host\n  rate: 5 GBps\n");
    const std::string error =
        "old.yaml:3:3: error: 'true' is now called 'where'\n      true: host\n      ^\n"
        "  hint: write `where: host`; YAML 1.1 reads `on` as true\n";
    const std::vector<std::vector<std::string>> calls{
        {"check", "old.yaml"},
        {"collective", "--platform", "platform.yaml", "--transport", "old.yaml", "--ranks", "4", "--bytes", "1MB"}};
    for (const std::vector<std::string>& arguments : calls) {
        const Outcome refused = ask(directory.path(), arguments);
        CHECK(refused.status == 3);
        CHECK(refused.err == error);
    }
}

TEST_CASE("preset: a key with a dot is in quotes in --set, axes, variants and conditions", "[memory]") {
    const TempDir directory;
    directory.write("platform.yaml", std::string(tiny_platform));
    directory.write("workload.yaml",
                    "name: gpt-3.6b\ninput: [1, 1, 1]\nlayers:\n  - {name: first, kind: custom, parameters: 1000, "
                    "macs: 1000000}\n");
    directory.write("scenario.yaml", R"(platform: platform.yaml
workload: workload.yaml
training: {ranks: 1, batch_per_rank: 8, input_copy: none}
variants:
  a: {platform.device.calibration."gpt-3.6b": {batch: 8, throughput: 1000 /s, source: chosen}}
  b:
    platform.device.calibration."gpt-3.6b": {batch: 8, source: chosen}
    platform.device.calibration."gpt-3.6b".throughput: 2000 /s
)");
    const auto times = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"run", "scenario.yaml", "--format", "json"});
        const Outcome outcome = ask(directory.path(), more);
        CAPTURE(outcome.err);
        REQUIRE(outcome.status == 0);
        std::vector<double> result;
        const json found = json::parse(outcome.out);
        for (const json& one : found["results"]) result.push_back(one["iteration_time_s"]);
        return result;
    };
    // 8 samples at 1000, 2000 and 4000 per second.
    CHECK(times({})[0] == Approx(8e-3));
    CHECK(times({})[1] == Approx(4e-3));
    CHECK(times({"--set", R"(platform.device.calibration."gpt-3.6b".throughput=4000 /s)"})[1] == Approx(2e-3));
    directory.write("study.yaml",
                    "base: scenario.yaml\naxes:\n  platform.device.calibration.\"gpt-3.6b\".throughput: "
                    "[1000 /s, 2000 /s, 4000 /s]\n"
                    "exclude: ['platform.device.calibration.\"gpt-3.6b\".throughput = ''1000 /s''']\n");
    const Outcome points =
        ask(directory.path(), {"batch", "study.yaml", "--dry-run", "--format", "json", "--set", "variant=a"});
    CAPTURE(points.err);
    REQUIRE(points.status == 0);
    const json listed = json::parse(points.out)["points"];
    REQUIRE(listed.size() == 2);
    CHECK(listed[0][R"(platform.device.calibration."gpt-3.6b".throughput)"] == "2000 /s");
    const Outcome set = ask(directory.path(), {"batch", "study.yaml", "--dry-run", "--set",
                                               R"(axes.platform.device.calibration."gpt-3.6b".throughput=[3000 /s])"});
    CAPTURE(set.err);
    CHECK(set.status == 0);
    CHECK(holds(set.err, "2 points"));
    const Outcome open = ask(directory.path(), {"run", "scenario.yaml", "--set", R"(platform."device.flops=1)"});
    CHECK(open.status == 3);
    CHECK(holds(open.err, "--set:1:10: error: unclosed quote in this path\n"));
}

TEST_CASE("preset: on the command line the beginning of a name is enough, if it is that of one") {
    const TempDir folder;
    for (const char* name : {"quick-net", "quick-net-2", "slow-net"})
        folder.write(std::string("platforms/") + name + ".yaml",
                     "name: " + std::string(name) +
                         "\ndevice: k80\nfabric: {topology: star, bandwidth: 1 GBps, latency: 1 us}\n");
    const auto exchange = [&](const std::string& platform, std::vector<std::string> more = {}) {
        more.insert(more.begin(), {"collective", "--platform", platform, "--ranks", "2", "--bytes", "1MB"});
        return ask(folder.path(), more);
    };
    CHECK(ask(folder.path(), {"where", "slow"}).out == (folder / "platforms/slow-net.yaml").string() + "\n");
    const Outcome whole = exchange("slow-net");
    CHECK(whole.status == 0);
    CHECK(exchange("slow").out == whole.out);
    CHECK(exchange("quick-net", {"--set", "platform=slow"}).out == whole.out);
    CHECK(exchange("quick-net").status == 0);  // a name, although another begins with it
    for (const std::vector<std::string>& arguments : {std::vector<std::string>{"where", "quick"}, {"check", "quick"}}) {
        const Outcome several = ask(folder.path(), arguments);
        CHECK(several.status == 3);
        CHECK(holds(several.err, "did you mean 'quick-net' or 'quick-net-2'? "));
    }
    CHECK(holds(exchange("quick").err, "did you mean 'quick-net' or 'quick-net-2'? "));
    CHECK(holds(exchange("slown-et").err, "did you mean 'slow-net'?"));
    // A file names a preset in full: the name means the same when others are added.
    folder.write("own.yaml", "platform: slow\ncollective: {operation: allreduce, ranks: 2, bytes: 1 MB}\n");
    const Outcome file = ask(folder.path(), {"run", "own.yaml"});
    CHECK(file.status == 3);
    CHECK(holds(file.err, "did you mean 'slow-net'?"));
}
