#include "sim/platform/simgrid_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "sim/base/diagnostics.hpp"

#include "tests/catch.hpp"

using namespace syncline;

namespace {

std::string platform(const std::string& content) {
    return "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
           "<platform version=\"4.1\">\n" +
           content + "\n</platform>\n";
}

using Files = std::map<std::string, std::string>;

SimGridFile checked(const std::string& text, const Files& files = {}) {
    return check_simgrid_file("in/p.xml", text, [&](const std::string& name) { return files.at(name); });
}

/// Returns "file:line:column: message" and the hint.
std::pair<std::string, std::string> error_of(const std::string& text, const Files& files = {}) {
    try {
        checked(text, files);
    } catch (const ConfigError& error) {
        const Diagnostic& first = error.diagnostics().at(0);
        return {fmt::format("{}:{}:{}: {}", first.where.file, first.where.line, first.where.column, first.message),
                first.hint};
    }
    return {};
}

std::string zone(const std::string& routing, const std::string& content) {
    return platform("<zone id='z' routing='" + routing + "'>" + content + "</zone>");
}

}  // namespace

TEST_CASE("SimGrid's file: hosts, links, routes and settings of the network pass", "[simgrid-file][memory]") {
    const std::string text = platform(
        "<config><prop id='network/TCP-gamma' value='0'/></config>\n"
        "<zone id='z' routing='Full'><host id='a' speed='1Gf' speed_file='a.txt'><prop id='x' value='y'/></host>"
        "<cluster id='c' prefix='n' suffix='' radical='0-15,20' speed='1Gf' bw='1GBps' lat='1us'/>"
        "<link id='l' bandwidth='1GBps' latency='1us' bandwidth_file='l.txt' latency_file='a.txt'/>"
        "</zone>");
    const SimGridFile file = checked(text, {{"a.txt", "0 0.5\n"}, {"l.txt", "0 1e9\nLOOPAFTER 3\n"}});
    // The same file as a speed and as a latency has different limits.
    CHECK(file.traces == std::vector<std::string>{"0 0.5\n", "0 1000000000\nLOOPAFTER 3\n", "0 0.5\n"});
    CHECK(file.uses == std::vector<std::size_t>{0, 1, 2});
    // SimGrid opens no file of the user's.
    CHECK(file.text.find("txt") == std::string::npos);
    CHECK(file.text.find("bandwidth_file=\"\x01"
                         "1\x01\"") != std::string::npos);
    CHECK(std::count(file.text.begin(), file.text.end(), '\n') == 4);
}

TEST_CASE("SimGrid's file: whatever acts is refused, with its line", "[simgrid-file][memory]") {
    using Error = std::pair<std::string, std::string>;
    CHECK(error_of("\x7f"
                   "ELF")
              .first == "in/p.xml:1:1: this is not XML: not well-formed (invalid token)");
    CHECK(error_of("<graphml/>").first ==
          "in/p.xml:1:1: this is not a platform of SimGrid: it has no <platform> element");
    CHECK(error_of(platform("<config>\n<prop id='cfg/filename' value='/tmp/x'/></config>")) ==
          Error("in/p.xml:5:1: the setting 'cfg/filename' is not allowed", "only settings of the network are read"));
    CHECK(error_of(platform("<config><prop id='network/TCP-gama' value='0'/></config>")).second ==
          "did you mean 'network/TCP-gamma'?");
    CHECK(
        error_of(platform("<actor host='a' function='f'/>")) ==
        Error("in/p.xml:4:1: the element 'actor' is not allowed", "remove it: Syncline starts what runs on the hosts"));
    CHECK(error_of(platform("<include file='x.xml'/>")).first == "in/p.xml:4:1: the element 'include' is not allowed");
    CHECK(error_of("<!DOCTYPE platform [<!ENTITY x 'y'>]><platform/>").first ==
          "in/p.xml:1:32: the entity 'x' is not allowed");
}

TEST_CASE("SimGrid's file: settings without effect here are left out, and named once", "[simgrid-file][memory]") {
    const SimGridFile file = checked(
        platform("<config>\n<prop id='host/model' value='ptask_L07'/><prop id='contexts/stack-size' value='16'/>\n"
                 "<prop id='network/TCP-gamma' value='0'/><prop id='host/model' value='x'><prop id='y'/></prop>\n"
                 "<prop id='network/coordinates' value='yes'/><prop id='network/optim' value='Full'/></config>\n"
                 "<zone id='z' routing='Full'><host id='a' speed='1Gf'><prop id='host/model' value='mine'/></host>"
                 "</zone>"));
    REQUIRE(file.warning);
    CHECK(file.warning->where.file == "in/p.xml");
    CHECK(file.warning->where.line == 5);
    CHECK(file.warning->message ==
          "without effect here: 'host/model', 'contexts/stack-size', 'network/coordinates', 'network/optim'");
    CHECK_THAT(file.text, Catch::Matchers::ContainsSubstring("network/TCP-gamma"));
    for (const char* gone : {"ptask_L07", "contexts", "coordinates", "optim", "\"y\""})
        CHECK_THAT(file.text, !Catch::Matchers::ContainsSubstring(gone));
    CHECK_THAT(file.text, Catch::Matchers::ContainsSubstring("mine"));  // a property of a host, which sets nothing
    CHECK(std::count(file.text.begin(), file.text.end(), '\n') == 7);   // everything else is in its line
    // Wrong values of such settings do not matter; a misspelt setting does.
    CHECK(error_of(platform("<config><prop id='smpi/bw-facto' value='65472:0.94'/></config>")).second ==
          "did you mean 'smpi/bw-factor'?");
    CHECK_FALSE(checked(platform("<config><prop id='network/TCP-gamma' value='0'/></config>")).warning);
}

TEST_CASE("SimGrid's file: errors of traces are in the traces", "[simgrid-file][memory]") {
    const auto link = [](const std::string& trace) {
        return platform("<link id='l' bandwidth='1GBps' latency='1us' " + trace + "/>");
    };
    CHECK(error_of(link("bandwidth_file='t.txt'"), {{"t.txt", "0 1e9\n1  0\n"}}).first ==
          "in/t.txt:2:4: 0 is out of range");
    CHECK(error_of(platform("<trace id='t' periodicity='0'>0 1</trace>")).first ==
          "in/p.xml:4:1: the element 'trace' is not allowed");
    CHECK(error_of(platform("<trace_connect trace='t' kind='SPEED' element='h'/>")).first ==
          "in/p.xml:4:1: the element 'trace_connect' is not allowed");
}

TEST_CASE("SimGrid's file: what is off from the start is said by a trace", "[simgrid-file][memory]") {
    // `state` is of older versions of the format: SimGrid 3.32 does not know it.
    const SimGridFile file =
        checked(zone("Full",
                     "<host id='a' speed='1Gf' state='ON'/><host id='b' speed='1Gf' state='OFF'/>"
                     "<host id='c' speed='1Gf' state_file='later'/><host id='d' speed='1Gf' state_file='never'/>"
                     "<link id='l' bandwidth='1GBps' latency='1us' state='OFF'/>"),
                {{"later", "0 1\n5 -1\n"}, {"never", "0 -1.0\n"}});
    CHECK(file.off == std::set<std::string>{"b", "d"});
    CHECK(file.traces == std::vector<std::string>{"0 0\n", "0 1\n5 0\n", "0 0\n", "0 0\n"});
    CHECK(file.uses == std::vector<std::size_t>{0, 1, 2, 3});
    CHECK_THAT(file.text, !Catch::Matchers::ContainsSubstring("state=") &&
                              Catch::Matchers::ContainsSubstring("<host id=\"a\" speed=\"1Gf\">"));
}

TEST_CASE("SimGrid's file: the model of the network is the user's, and older spellings of settings are known",
          "[simgrid-file][memory]") {
    const SimGridFile file =
        checked(platform("<config><prop id='network/model' value='SMPI'/><prop id='network/sender_gap' value='0'/>"
                         "<prop id='tracing/filename' value='x'/>\n"
                         "<prop id='network/TCP_gamma' value='4194304'/></config>"));
    REQUIRE(file.warning);
    CHECK(file.warning->message == "without effect here: 'network/model', 'network/sender_gap', 'tracing/filename'");
    CHECK(file.warning->hint == "the platform's `network: {model: ...}` chooses the model");
    CHECK_THAT(file.text, Catch::Matchers::ContainsSubstring("<prop id=\"network/TCP-gamma\" value=\"4194304\">"));
}

TEST_CASE("SimGrid's file: traces that many elements share are read once, and points are counted",
          "[simgrid-file][memory]") {
    std::string links, trace;
    for (int i = 0; i < 1000; ++i)
        links += fmt::format("<link id='l{}' bandwidth='1GBps' latency='1us' bandwidth_file='t'/>", i);
    for (int i = 0; i < 1000; ++i) trace += fmt::format("{} 1e9\n", i);
    const SimGridFile file = checked(platform(links), {{"t", trace}});
    CHECK(file.traces.size() == 1);
    CHECK(file.uses == std::vector<std::size_t>(1000, 0));
    CHECK(error_of(platform(links), {{"t", trace + "1000 1e9\n"}})
              .first.ends_with("the traces of all links and hosts have more than 1000000 points"));
}

TEST_CASE("SimGrid's file: hosts are counted before they are built", "[simgrid-file][memory]") {
    const auto with = [](const std::string& radical) {
        return error_of(platform("<cluster id='c' prefix='n' suffix='' radical='" + radical + "'/>")).first;
    };
    CHECK(with("0-99999").empty());
    CHECK(with("0-99998,1").empty());
    CHECK(with("0-100000") == "in/p.xml:4:1: the platform has more than 100000 hosts");
    CHECK(with("0-99999,1") == "in/p.xml:4:1: the platform has more than 100000 hosts");
    CHECK(with("0-2000000000") == "in/p.xml:4:1: the platform has more than 100000 hosts");
    CHECK(with("0-99999999999999999999") ==
          "in/p.xml:4:1: radical of 'c': '0-99999999999999999999' is no range of numbers");
    CHECK(with("0x") == "in/p.xml:4:1: radical of 'c': '0x' is no range of numbers");
    CHECK(with("3-1") == "in/p.xml:4:1: radical of 'c': '3-1' is no range of numbers");
}

TEST_CASE("SimGrid's file: hosts and links of fat trees, tori and dragonflies are counted", "[simgrid-file][memory]") {
    const auto with = [](const std::string& radical, const std::string& topology, const std::string& parameters) {
        return error_of(platform("<cluster id='c' prefix='n' suffix='' radical='" + radical +
                                 "' speed='1Gf' bw='1GBps'"
                                 " lat='1us' topology='" +
                                 topology + "' topo_parameters='" + parameters + "'/>"))
            .first;
    };
    const std::string large = "in/p.xml:4:1: the platform has more than 500000 links";
    CHECK(with("0-3", "FAT_TREE", "2;2,2;1,2;1,2").empty());
    // 4 cables at the hosts, and 2 switches with 2 parents each: 4 * 62,500 cables of two links.
    CHECK(with("0-3", "FAT_TREE", "2;2,2;1,2;1,62498").empty());
    CHECK(with("0-3", "FAT_TREE", "2;2,2;1,2;1,62500") == large);
    CHECK(with("0-3", "FAT_TREE", "2;2,2;1,2;1,4294967295") == large);
    CHECK(with("0-23", "TORUS", "2,3,4").empty());
    CHECK(with("0-23", "TORUS", "2,3,5") == "in/p.xml:4:1: 'c' has 30 hosts, but its radical names 24");
    CHECK(with("0-95", "DRAGONFLY", "3,4;4,3;4,1;2").empty());
    // 800 routers in one chassis: 319,600 pairs.
    CHECK(with("0-799", "DRAGONFLY", "1,1;1,1;800,1;1") == large);
    for (const char* bad : {"", "2", "2;2,2;1,2", "2;2,2;1,2;1,0", "2;2,2;1,2;1,-1", "2;2,2;1,2;1,x", "3;2,2;1,2;1,1",
                            "2;2,2;1,2;1,99999999999999999999"})
        CHECK_THAT(with("0-3", "FAT_TREE", bad), Catch::Matchers::ContainsSubstring("does not describe a FAT_TREE"));
}

TEST_CASE("SimGrid's file: zones are as large as their routing allows", "[simgrid-file][memory]") {
    const auto with = [](const std::string& routing, int members) {
        std::string content;
        for (int i = 0; i < members; ++i) content += fmt::format("<router id='{}'/>", i);
        return error_of(zone(routing, content)).first;
    };
    CHECK(with("Full", 5000).empty());
    CHECK(with("Full", 5001).starts_with("in/p.xml:4:1: zone 'z' is too large for the routing 'full'"));
    CHECK(with("FULL", 5001) != "");
    CHECK(with("Floyd", 1200).empty());
    CHECK(with("Floyd", 1201) != "");
    CHECK(with("Dijkstra", 50'000).empty());
    const auto star = [](int hosts) {
        std::string content = "<router id='r'/>";
        for (int i = 0; i < hosts; ++i)
            content += fmt::format("<host id='{0}'/><link id='l{0}'/><route src='{0}' dst='r'/>", i);
        return error_of(zone("Dijkstra", content)).first;
    };
    CHECK(star(256).empty());
    CHECK(star(2500).empty());
    CHECK_THAT(star(3000), Catch::Matchers::ContainsSubstring("take too long with the routing 'Dijkstra'"));
}
