#include "sim/document/old_keys.hpp"

#include "sim/document/override.hpp"
#include "sim/document/yaml_text.hpp"
#include "sim/study/study.hpp"
#include "tests/catch.hpp"
#include "tests/unit/stores.hpp"

// The key `reduction.on` of earlier versions, and what writers of YAML 1.1 make of it, is read as `reduction.where`.

using namespace syncline;
using namespace syncline::config;

namespace {

std::string read(const std::string& text) {
    Library library;
    return flow_text(library.parse("old.yaml", text, "."));
}

}  // namespace

TEST_CASE("keys of earlier versions are renamed wherever they are written", "[memory]") {
    CHECK(read("reduction: {on: host, rate: 5 GBps}") == "{reduction: {where: host, rate: 5 GBps}}");
    CHECK(read("reduction: {\"on\": host}") == "{reduction: {where: host}}");
    CHECK(read("reduction:\n  true: device\n") == "{reduction: {where: device}}");
    CHECK(read("variants: {a: {platform: {transport: {reduction: {on: host}}}}}") ==
          "{variants: {a: {platform: {transport: {reduction: {where: host}}}}}}");
    CHECK(read("[{reduction: {on: host}}]") == "[{reduction: {where: host}}]");
    // It is not renamed if it means something else, or if both are given, which is an error.
    CHECK(read("on: host") == "{on: host}");
    CHECK(read("reduction: {where: host, on: device}") == "{reduction: {where: host, on: device}}");
}

TEST_CASE("an old key in a path, or in an assignment, replaces the new one", "[memory]") {
    Library library;
    Node transport = library.parse("t.yaml", "platform: {transport: {reduction: {where: host}}}", ".");
    merge(transport, parse_assignment(library, "platform.transport.reduction.on=device"));
    CHECK(flow_text(transport) == "{platform: {transport: {reduction: {where: device}}}}");
}

TEST_CASE("an axis under an old key is the axis of the current one, which an assignment replaces", "[memory]") {
    const std::string path = "platform.transport.reduction.", root = SYNCLINE_SOURCE_DIR;
    const test::Scratch directory;
    test::write_bytes(directory.path / "base.yaml",
                      "platform:\n  device: " + root + "/platforms/devices/p100-sxm2.yaml\n  transport: " + root +
                          "/platforms/transports/horovod-mpi.yaml\n"
                          "  fabric: {topology: star, bandwidth: 25 Gbps, latency: 1 us}\n"
                          "collective: {operation: allreduce, algorithm: ring, ranks: 4, bytes: 1 MB}\n");
    const auto points = [&](const std::string& key, const std::vector<std::string>& assignments) {
        const std::string file = directory.path / "study.yaml";
        test::write_bytes(file, "base: base.yaml\naxes: {" + path + key + ": [host, device]}\n");
        std::vector<std::string> seen;
        Study(file, assignments, {})
            .each([](const std::vector<Setting>&) { return true; },
                  [&](const StudyPoint& point, const Variant*) {
                      for (const Setting& setting : point.settings) seen.push_back(setting.key + "=" + setting.value);
                      seen.push_back(point.resolved.text());
                  });
        return seen;
    };
    const std::vector<std::string> varied = points("where", {});
    CHECK(varied.size() == 4);  // two points, each with a setting and its document
    CHECK(points("on", {}) == varied);
    const std::vector<std::string> replaced = points("where", {path + "where=device"});
    CHECK(replaced.size() == 2);
    CHECK(points("on", {path + "on=device"}) == replaced);
    CHECK(points("on", {path + "where=device"}) == replaced);
    CHECK(points("where", {"axes." + path + "on=[device]"}) == points("where", {"axes." + path + "where=[device]"}));
}

TEST_CASE("an old key that is set for a study changes all of its points", "[memory]") {
    const std::string study = SYNCLINE_SOURCE_DIR "/scenarios/studies/allreduce.yaml";
    const auto first = [&](const std::string& key) {
        const Study of(study, {"platform.transport=horovod-mpi", "platform.transport.reduction." + key + "=device"},
                       {});
        std::string text;
        of.each([&](const std::vector<Setting>&) { return text.empty(); },
                [&](const StudyPoint& point, const Variant*) { text = point.resolved.text(); });
        return text;
    };
    CHECK(first("on") == first("where"));
    CHECK(first("where").find("where: device") != std::string::npos);
}
