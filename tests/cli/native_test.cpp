#include <fmt/format.h>

#include <filesystem>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

// Platforms in SimGrid's own format: errors in one are reported as for any file, never by SimGrid itself.

using namespace syncline::test;
using nlohmann::json;

namespace {

std::string document(const std::string& content) {
    return "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
           "<platform version=\"4.1\">\n" +
           content + "</platform>\n";
}

const std::string two_hosts = R"(<zone id="z" routing="Full">
  <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
  <link id="l" bandwidth="1GBps" latency="10us"/>
  <route src="a" dst="b"><link_ctn id="l"/></route>
</zone>
)";

Outcome collective(const TempDir& directory, const std::string& platform, const char* ranks = "2") {
    directory.write("platform.yaml", platform);
    return run_in(directory, {"collective", "--platform", "platform.yaml", "--ranks", ranks, "--bytes", "1MB",
                              "--format", "json"});
}

void check_refused(const Outcome& outcome, const std::string& because) {
    CAPTURE(outcome.err);
    CHECK(outcome.status == 3);
    CHECK(outcome.out.empty());
    CHECK((outcome.err.starts_with("platform.yaml:") || outcome.err.starts_with("broken.xml:")));
    CHECK(outcome.err.find(because) != std::string::npos);
    for (const char* inside : {"Backtrace", "xbt", "CRITICAL", "bug in", "terminate called", "out of memory"})
        CHECK(outcome.err.find(inside) == std::string::npos);
}

}  // namespace

TEST_CASE("native: an exchange and a training run on two hosts", "[memory]") {
    TempDir directory;
    directory.write("two.xml", document(two_hosts));
    const Outcome outcome = collective(directory, "simgrid_xml: two.xml\n");
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(outcome.err.empty());
    // There are two steps, in each of which half a megabyte goes each way over a link that has 1 GB/s for both
    // directions.
    CHECK(json::parse(outcome.out)["completion_time_s"].get<double>() == Approx(2 * (10e-6 + 1e-3)).epsilon(1e-9));

    directory.write("workload.yaml", tiny_workload);
    directory.write("scenario.yaml",
                    "platform: platform.yaml\nworkload: workload.yaml\ntraining: {ranks: 2, input_copy: none}\n");
    CHECK(run_in(directory, {"run", "scenario.yaml", "--format", "json"}).status == 0);
    CHECK(run_in(directory, {"check", "platform.yaml"}).status == 0);
}

TEST_CASE("native: a platform that cannot be loaded is refused") {
    TempDir directory;
    directory.write("two.xml", document(two_hosts));
    check_refused(collective(directory, "simgrid_xml: two.xml\nhosts: [a, c]\n"), "no host 'c'");
    check_refused(collective(directory, "simgrid_xml: two.xml\nhosts: [a, a]\n"), "'a' is listed twice");
    check_refused(collective(directory, "simgrid_xml: two.xml\nnodes: 2\n"), "'nodes' is defined by the file");
    check_refused(collective(directory, "simgrid_xml: none.xml\n"), "none.xml");

    const auto refused = [&](const std::string& xml, const std::string& because) {
        directory.write("broken.xml", xml);
        check_refused(collective(directory, "simgrid_xml: broken.xml\n"), because);
    };
    refused("", "broken.xml");
    refused("no XML", "broken.xml");
    refused("<?xml version='1.0'?>\n<graphml/>\n", "broken.xml");
    refused(document("<zone id=\"z\" routing=\"Full\">"), "broken.xml");
    refused(document("<zone id=\"z\" routing=\"Full\"></zone>"), "has no hosts");
    for (const char* link : {"bandwidth=\"0Bps\" latency=\"10us\"", "bandwidth=\"1GBps\" latency=\"-1us\""}) {
        std::string xml = two_hosts;
        const std::string good = "bandwidth=\"1GBps\" latency=\"10us\"";
        xml.replace(xml.find(good), good.size(), link);
        refused(document(xml), "link 'l'");
    }
    refused(document("<zone id=\"z\" routing=\"Magic\"><host id=\"a\" speed=\"1Gf\"/></zone>"), "broken.xml");
    refused(document("<zone id=\"z\" routing=\"Full\"><host id=\"a\" speed=\"fast\"/></zone>"), "fast");
    refused(
        document("<zone id=\"z\" routing=\"Full\"><host id=\"a\" speed=\"1Gf\"/><host id=\"a\" speed=\"1Gf\"/></zone>"),
        "broken.xml");
    refused(document("<zone id=\"z\" routing=\"Full\"><host id=\"a\" speed=\"1Gf\"/><host id=\"b\" speed=\"1Gf\"/>"
                     "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route></zone>"),
            "l");
}

TEST_CASE("native: hosts that exchange messages need a route between them, and others none", "[memory]") {
    TempDir directory;
    directory.write("three.xml", document(R"(<zone id="z" routing="Full">
  <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><host id="c" speed="1Gf"/>
  <link id="l" bandwidth="1GBps" latency="10us"/>
  <route src="a" dst="b"><link_ctn id="l"/></route>
  <route src="a" dst="c"><link_ctn id="l"/></route>
</zone>
)"));
    const auto fails = [&](const std::string& keys, const char* ranks, const std::string& because) {
        const Outcome outcome = collective(directory, keys, ranks);
        CAPTURE(outcome.err);
        CHECK(outcome.status == 1);
        CHECK(outcome.out.empty());
        CHECK(outcome.err.find("error: ") != std::string::npos);
        CHECK(outcome.err.find(because) != std::string::npos);
        for (const char* inside : {"Backtrace", "xbt", "CRITICAL", "bug in", "terminate called", "signal"})
            CHECK(outcome.err.find(inside) == std::string::npos);
    };
    CHECK(collective(directory, "simgrid_xml: three.xml\n").status == 0);
    CHECK(collective(directory, "simgrid_xml: three.xml\nhosts: [c, a]\n").status == 0);
    fails("simgrid_xml: three.xml\n", "3", "no route from 'b' to 'c'");
    fails("simgrid_xml: three.xml\nnetwork: {model: LV08}\n", "3", "no route from 'b' to 'c'");
    fails("simgrid_xml: three.xml\nhosts: [c, b]\n", "2", "no route from 'c' to 'b'");
    directory.write("empty.xml", document("<zone id=\"z\" routing=\"None\"><host id=\"a\" speed=\"1Gf\"/>"
                                          "<host id=\"b\" speed=\"1Gf\"/></zone>\n"));
    fails("simgrid_xml: empty.xml\n", "2", "no route from 'a' to 'b'");
    directory.write("wifi.xml", document(R"(<zone id="z" routing="Wifi">
  <prop id="access_point" value="r"/>
  <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
  <link id="air" sharing_policy="WIFI" bandwidth="54Mbps,36Mbps" latency="0ms"/>
  <router id="r"/>
</zone>
)"));
    fails("simgrid_xml: wifi.xml\n", "2", "WIFI link, 'air'");
    // With latency in the link SimGrid would only look for a route when the message starts.
    directory.write("one-way.xml", document(R"(<zone id="z" routing="Full">
  <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
  <link id="l" bandwidth="1GBps" latency="10us"/>
  <route src="a" dst="b" symmetrical="NO"><link_ctn id="l"/></route>
</zone>
)"));
    for (const char* model : {"exact", "LV08"})
        fails(fmt::format("simgrid_xml: one-way.xml\nnetwork: {{model: {}}}\n", model), "2",
              "no route from 'b' to 'a'");
}

TEST_CASE("native: SimGrid's own fat tree carries an all-to-all at the speed of the hosts' cables", "[memory]") {
    // Each of 16 ranks sends 15/16 of 100 MB to the others at 25 Gb/s: 30 ms, as on our own fat tree.
    TempDir directory;
    directory.write("net.xml",
                    document(R"(<cluster id="c" prefix="n-" suffix="" radical="0-15" speed="1Gf" bw="3.125GBps"
  lat="0us" topology="FAT_TREE" topo_parameters="2;4,4;1,2;1,2"/>
)"));
    directory.write("platform.yaml", "simgrid_xml: net.xml\n");
    const Outcome outcome = run_in(directory, {"collective", "--platform", "platform.yaml", "--ranks", "16",
                                               "--operation", "all-to-all", "--bytes", "100 MB", "--format", "json"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(json::parse(outcome.out)["completion_time_s"].get<double>() == Approx(30e-3).epsilon(1e-6));
}

TEST_CASE("native: a file in SimGrid's format stands where a platform's name may, and is imported") {
    TempDir directory;
    directory.write("two.xml", document(two_hosts));
    const auto seconds = [&](const std::string& platform, const std::string& folder) {
        const Outcome outcome = run_program(
            {.arguments = {"collective", "--platform", platform, "--ranks", "2", "--bytes", "1MB", "--format", "json"},
             .directory = directory.path() / folder});
        CAPTURE(platform, outcome.err);
        REQUIRE(outcome.status == 0);
        return json::parse(outcome.out)["completion_time_s"].get<double>();
    };
    const double two_steps_s = 2 * (10e-6 + 1e-3);
    CHECK(seconds("two.xml", "") == Approx(two_steps_s).epsilon(1e-9));
    std::filesystem::create_directory(directory.path() / "written");
    REQUIRE(run_in(directory, {"import", "two.xml", "--out", "written/platform.yaml"}).status == 0);
    CHECK(seconds("platform.yaml", "written") == Approx(two_steps_s).epsilon(1e-9));

    directory.write("work.dag.dot", "digraph { a [size=1e9]; b [size=2e9]; a -> b [size=1e6]; }\n");
    directory.write("scenario.yaml", "platform: two.xml\ntrace: {files: work.dag.dot, ranks: 2}\n");
    CHECK(run_in(directory, {"run", "scenario.yaml"}).status == 0);
    directory.write("no.xml", "<graphml/>\n");
    CHECK_THAT(run_in(directory, {"collective", "--platform", "no.xml", "--ranks", "2", "--bytes", "1MB"}).err,
               Catch::Matchers::ContainsSubstring("this is not a platform of SimGrid"));
}

TEST_CASE("native: hosts that are off are no nodes, and a link that is off carries nothing") {
    TempDir directory;
    std::string xml = document(two_hosts);
    const auto insert = [&](const std::string& after, const std::string& what) {
        xml.insert(xml.find(after) + after.size(), what);
    };
    insert("<host id=\"b\" speed=\"1Gf\"/>", "<host id=\"c\" speed=\"1Gf\" state_file=\"off.txt\"/>");
    directory.write("off.txt", "0 -1.0\n");
    directory.write("off.xml", xml);
    CHECK(collective(directory, "simgrid_xml: off.xml\n").status == 0);
    CHECK_THAT(collective(directory, "simgrid_xml: off.xml\n", "3").err,
               Catch::Matchers::ContainsSubstring("3 ranks do not fit platform 'cluster', which has 2 nodes"));
    check_refused(collective(directory, "simgrid_xml: off.xml\nhosts: [a, c]\n"), "host 'c' is off from the start");
    insert("bandwidth=\"1GBps\" latency=\"10us\"", " state=\"OFF\"");
    directory.write("off.xml", xml);
    const Outcome outcome = collective(directory, "simgrid_xml: off.xml\n");
    CHECK(outcome.status == 1);
    CHECK_THAT(outcome.err, Catch::Matchers::ContainsSubstring("when a link or a host was switched off"));
}
