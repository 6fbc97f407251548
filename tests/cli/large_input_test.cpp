#include <sys/stat.h>

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

// Files that describe very much, in many words or in few, are read or refused in little time and memory.

using namespace syncline::test;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

namespace {

constexpr double most_kib = 500e3;

std::string cluster(const std::string& radical, const std::string& more) {
    return simgrid("<cluster id='c' prefix='n' suffix='' radical='" + radical + "' speed='1Gf' bw='1GBps' lat='1us' " +
                   more + "/>\n");
}

/// Returns one text for each number below `count`.
template <class Write>
std::string each(int count, const Write& write) {
    std::string text;
    for (int i = 0; i < count; ++i) text += write(i);
    return text;
}

std::string star(const std::string& routing, int hosts) {
    return simgrid(
        fmt::format("<zone id='z' routing='{}'><router id='r'/>\n", routing) +
        each(hosts, [](int i) { return fmt::format("<host id='h{}' speed='1Gf'/>\n", i); }) +
        each(hosts, [](int i) { return fmt::format("<link id='l{}' bandwidth='1GBps' latency='1us'/>\n", i); }) +
        each(hosts, [](int i) { return fmt::format("<route src='h{0}' dst='r'><link_ctn id='l{0}'/></route>\n", i); }) +
        "</zone>\n");
}

Outcome limited(const TempDir& folder, std::vector<std::string> arguments) {
    const Outcome outcome = run_program({.arguments = std::move(arguments), .directory = folder.path(), .limit_s = 60});
    CAPTURE(outcome.err);
    CHECK(static_cast<double>(outcome.peak_kib) < most_kib * patience);
    CHECK_THAT(outcome.err, !ContainsSubstring("CRITICAL"));
    CHECK((outcome.status == 0 || outcome.status == 3));
    return outcome;
}

std::string dot(const std::string& body) {
    return "graph {\n" + body + "}\n";
}

}  // namespace

TEST_CASE("large: platforms in SimGrid's format are built or refused in little time and memory") {
    const TempDir folder;
    folder.write("platform.yaml", "simgrid_xml: p.xml\n");
    const auto status = [&](const std::string& xml) {
        folder.write("p.xml", xml);
        return limited(folder, {"check", "platform.yaml"}).status;
    };
    CHECK(status(cluster("0-99999", "")) == 0);
    status(cluster("0-99999", "loopback_bw='1GBps' loopback_lat='0s' limiter_link='1GBps'"));
    CHECK(status(cluster("0-2000000000", "")) == 3);
    CHECK(status(cluster("0-3", "topology='FAT_TREE' topo_parameters='2;2,2;1,2;1,100000'")) == 3);
    CHECK(status(cluster("0-999", "topology='DRAGONFLY' topo_parameters='1,1;1,1;1000,1;1'")) == 3);
    CHECK(status(cluster("0-9999", "topology='TORUS' topo_parameters='10000'")) == 0);
    status(cluster("0-99999", "topology='TORUS' topo_parameters='100000'"));
    CHECK(status(star("Full", 8000)) == 3);
    status(star("Full", 4999));
    CHECK(status(star("Floyd", 3000)) == 3);
    CHECK(status(star("Floyd", 1100)) == 0);
    CHECK(status(star("Dijkstra", 3000)) == 3);
    CHECK(status(star("Dijkstra", 2000)) == 0);
    CHECK(status(simgrid("<zone id='z' routing='Full'>" +
                         each(300'000, [](int i) { return fmt::format("<host id='h{}' speed='1Gf'/>\n", i); }) +
                         "</zone>\n")) == 3);
    CHECK(status(
              simgrid("<zone id='z' routing='Full'>" +
                      each(1'000'000,
                           [](int i) { return fmt::format("<link id='l{}' bandwidth='1GBps' latency='1us'/>\n", i); }) +
                      "</zone>\n")) == 3);
    // 128 × 128 pairs of hosts whose route crosses 100,000 links
    std::string zones;
    for (const char* zone : {"a", "b"})
        zones +=
            fmt::format("<zone id='{0}' routing='Full'><router id='r{0}'/>\n", zone) +
            each(128, [&](int i) { return fmt::format("<host id='{}{}' speed='1Gf'/>\n", zone, i); }) + "<link id='" +
            zone + "' bandwidth='1GBps' latency='1us'/>\n" +
            [&] {
                std::string routes;
                for (int i = 0; i < 128; ++i) {
                    routes += fmt::format("<route src='{0}{1}' dst='r{0}'><link_ctn id='{0}'/></route>\n", zone, i);
                    for (int j = 0; j < i; ++j)
                        routes +=
                            fmt::format("<route src='{0}{1}' dst='{0}{2}'><link_ctn id='{0}'/></route>\n", zone, i, j);
                }
                return routes;
            }() +
            "</zone>\n";
    status(simgrid("<zone id='z' routing='Full'>\n" + zones +
                   "<link id='l' bandwidth='1GBps' latency='1us'/>\n"
                   "<zoneRoute src='a' dst='b' gw_src='ra' gw_dst='rb'>" +
                   each(100'000, [](int) { return std::string("<link_ctn id='l'/>\n"); }) + "</zoneRoute></zone>\n"));
}

TEST_CASE("large: traces") {
    const TempDir folder;
    folder.write("platform.yaml", "simgrid_xml: p.xml\n");
    folder.write("long.txt", each(2'000'000, [](int i) { return fmt::format("{} 1e9\n", i); }));
    folder.write("p.xml", simgrid("<zone id='z' routing='Full'><host id='a' speed='1Gf'/><host id='b' speed='1Gf'/>"
                                  "<link id='l' bandwidth='1GBps' latency='1us' bandwidth_file='long.txt'/>"
                                  "<route src='a' dst='b'><link_ctn id='l'/></route></zone>\n"));
    const Outcome outcome = limited(folder, {"check", "platform.yaml"});
    CHECK(outcome.status == 3);
    CHECK_THAT(outcome.err, ContainsSubstring("long.txt:1000001:"));
    folder.write("p.xml",
                 simgrid("<zone id='z' routing='Full'><host id='a' speed='1Gf'/><host id='b' speed='1Gf'/>" +
                         each(100'000,
                              [](int i) {
                                  return fmt::format(
                                      "<link id='l{}' bandwidth='1GBps' latency='1us' bandwidth_file='short.txt'/>\n",
                                      i);
                              }) +
                         "<route src='a' dst='b'><link_ctn id='l1'/></route></zone>\n"));
    folder.write("short.txt", each(10, [](int i) { return fmt::format("{} 1e9\n", i); }));
    CHECK(limited(folder, {"check", "platform.yaml"}).status == 0);
}

TEST_CASE("large: graphs of a hundred thousand hosts are measured and written in all formats") {
    const TempDir folder;
    constexpr int n = 100'000;
    folder.write("chain.dot", dot(each(n - 1, [](int i) {
                     return fmt::format("h{} -- h{} [bandwidth=\"1 Gbps\", latency=\"1 us\"]\n", i, i + 1);
                 })));
    folder.write("ring.graphml", "<graphml><graph edgedefault='undirected'>" + each(n, [](int i) {
                                     return fmt::format("<node id='h{}'/>", i);
                                 }) + each(n, [](int i) {
                                     return fmt::format("<edge source='h{}' target='h{}'/>", i, (i + 1) % n);
                                 }) + "</graph></graphml>");
    folder.write("tree.dot", dot(each(2500, [](int i) { return fmt::format("s{} [kind=switch]\n", i); }) +
                                 each(2499, [](int i) { return fmt::format("s{} -- s{}\n", i + 1, i / 2); }) +
                                 each(n, [](int i) { return fmt::format("h{} -- s{}\n", i, i % 2500); })));
    for (const std::string file : {"chain.dot", "ring.graphml", "tree.dot"})
        for (const std::string format : {"table", "json", "dot", "graphml", "svg"}) {
            CAPTURE(file, format);
            const Outcome outcome = limited(
                folder, {"topology", file, "--set", "bandwidth=1 Gbps", "--set", "latency=1 us", "--format", format});
            CHECK(outcome.status == 0);
            if (format != "json") continue;
            const json result = json::parse(outcome.out);
            CHECK(result["hosts"] == n);
            CHECK(result["distances_exact"] == (file != "ring.graphml"));
            if (file == "chain.dot") CHECK(result["diameter_hops"] == n - 1);
        }
}

TEST_CASE("large: graph files that are too large or too deep are refused") {
    const TempDir folder;
    const auto status = [&](const std::string& name, const std::string& text) {
        folder.write(name, text);
        CAPTURE(name);
        return limited(folder, {"topology", name, "--set", "bandwidth=1 Gbps"}).status;
    };
    const std::string million = each(1'000'000, [](int i) { return fmt::format("n{};\n", i); });
    CHECK(status("million.dot", dot(million)) == 3);
    CHECK(status("edges.dot", dot(each(1'000'000, [](int i) { return fmt::format("n{} -- n{};\n", i, i + 1); }))) == 3);
    CHECK(status("million.graphml", "<graphml><graph>" + each(1'000'000, [](int i) {
                                        return fmt::format("<node id='{}'/>", i);
                                    }) + "</graph></graphml>") == 3);
    CHECK(status("deep.dot", dot(std::string(1'000'000, '{') + "a" + std::string(1'000'000, '}'))) == 3);
    CHECK(status("deep.graphml", each(100'000, [](int) { return std::string("<graphml>"); })) == 3);
    CHECK(status("long.dot", dot("\"" + std::string(10'000'000, 'x') + "\" -- b\n")) == 3);
    CHECK(status("long.graphml",
                 "<graphml><graph><node id='" + std::string(10'000'000, 'x') + "'/></graph></graphml>") == 3);
    CHECK(status("twice.dot", dot("a -- b\nb -- a\n")) == 3);
    CHECK(status("loop.dot", dot("a -- a\n")) == 3);
    CHECK(status("nul.dot", dot(std::string("a -- b\0c\n", 9))) == 3);
    CHECK(status("nul.graphml", std::string("<graphml>\0</graphml>", 20)) == 3);
    CHECK(status("bytes.dot", dot("a -- \"\xff\"\n")) == 3);
    CHECK(status("utf16.dot", std::string("\xff\xfeg\0r\0a\0p\0h\0", 12)) == 3);
    CHECK(status("utf16.graphml", std::string("\xff\xfe<\0g\0/\0>\0", 10)) == 3);
    CHECK(status("deep.yaml", "topology: graph\nedges: " + std::string(100'000, '[')) == 3);
    CHECK(status("nul.yaml", std::string("topology: ring\0\n", 16)) == 3);
    CHECK(status("name.yaml", "topology: graph\nedges: [{from: ' a', to: b}]\n") == 3);
    CHECK(status("million.yaml", "topology: graph\nedges:\n" + each(300'000, [](int i) {
                                     return fmt::format("- {{from: n{}, to: n{}}}\n", i, i + 1);
                                 })) == 3);
}
