#include "sim/platform/simgrid_file.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "tests/catch.hpp"

using namespace syncline;

namespace {

std::string platform(const std::string& content) {
    return "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
           "<platform version=\"4.1\">\n" +
           content + "\n</platform>\n";
}

std::pair<std::string, std::string> error_of(const std::string& text) {
    try {
        check_simgrid_file(text);
    } catch (const SimGridFileError& error) {
        return {error.what(), error.hint};
    }
    return {};
}

}  // namespace

TEST_CASE("SimGrid's file: hosts, links, routes and settings of the network pass", "[simgrid-file]") {
    const std::string text = platform(
        "<config><prop id='network/TCP-gamma' value='0'/></config>\n"
        "<zone id='z' routing='Full'><host id='a' speed='1Gf' speed_file='a.txt'><prop id='x' value='y'/></host>"
        "<cluster id='c' prefix='n' suffix='' radical='0-15,20' speed='1Gf' bw='1GBps' lat='1us'/>"
        "<link id='l' bandwidth='1GBps' latency='1us' bandwidth_file='l.txt' latency_file='a.txt'/>"
        "<trace id='t' file='t.txt'/></zone>");
    const SimGridFile file = check_simgrid_file(text);
    CHECK(file.files == std::vector<std::string>{"a.txt", "l.txt", "t.txt"});
    CHECK(check_simgrid_file(file.text).text == file.text);
    CHECK(std::count(file.text.begin(), file.text.end(), '\n') == 4);
}

TEST_CASE("SimGrid's file: whatever acts is refused, with its line", "[simgrid-file]") {
    using Error = std::pair<std::string, std::string>;
    CHECK(error_of("\x7f"
                   "ELF")
              .first == "line 1: this is not XML: not well-formed (invalid token)");
    CHECK(error_of("<graphml/>").first == "line 1: this is not a platform of SimGrid: it has no <platform> element");
    CHECK(error_of(platform("<config>\n<prop id='tracing/filename' value='/tmp/x'/></config>")) ==
          Error("line 5: the setting 'tracing/filename' is not allowed", "only settings of the network are read"));
    CHECK(error_of(platform("<config><prop id='network/TCP-gama' value='0'/></config>")).second ==
          "did you mean 'network/TCP-gamma'?");
    CHECK(error_of(platform("<actor host='a' function='f'/>")) ==
          Error("line 4: the element 'actor' is not allowed", "remove it: Syncline starts what runs on the hosts"));
    CHECK(error_of(platform("<include file='x.xml'/>")).first == "line 4: the element 'include' is not allowed");
    CHECK(error_of(
              platform("<zone id='z' routing='Full'><link id='l' bandwidth='1GBps' latency='1us' state='OFF'/></zone>"))
              .first == "line 4: link 'l' is off");
    CHECK(error_of("<!DOCTYPE platform [<!ENTITY x 'y'>]><platform/>").first ==
          "line 1: the entity 'x' is not allowed");
}

TEST_CASE("SimGrid's file: hosts are counted before they are built", "[simgrid-file]") {
    const auto with = [](const std::string& radical) {
        return error_of(platform("<cluster id='c' prefix='n' suffix='' radical='" + radical + "'/>")).first;
    };
    CHECK(with("0-99999").empty());
    CHECK(with("0-99998,1").empty());
    CHECK(with("0-100000") == "line 4: the platform has more than 100000 hosts");
    CHECK(with("0-99999,1") == "line 4: the platform has more than 100000 hosts");
    CHECK(with("0-2000000000") == "line 4: the platform has more than 100000 hosts");
    CHECK(with("0-99999999999999999999") == "line 4: radical of 'c': '0-99999999999999999999' is no range of numbers");
    CHECK(with("0x") == "line 4: radical of 'c': '0x' is no range of numbers");
    CHECK(with("3-1") == "line 4: radical of 'c': '3-1' is no range of numbers");
}
