#include <cstdlib>
#include <string>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

// SimGrid and its forty libraries are loaded by simulations with its models, and by nothing else.

using namespace syncline::test;

namespace {

/// Returns true if the program looked for SimGrid's library, according to the dynamic linker.
bool loads_simgrid(const std::vector<std::string>& arguments, int status) {
    const TinyFiles files;
    const TempDir said;
    setenv("LD_DEBUG", "libs", 1);
    setenv("LD_DEBUG_OUTPUT", (said / "libraries").c_str(), 1);
    const Outcome outcome = run_program({.arguments = arguments, .directory = files.path()});
    unsetenv("LD_DEBUG");
    unsetenv("LD_DEBUG_OUTPUT");
    CAPTURE(outcome.err);
    CHECK(outcome.status == status);
    REQUIRE(!said.list().empty());
    bool found = false;
    for (const std::string& file : said.list())
        found = found || read_file(said / file).find("libsimgrid") != std::string::npos;
    return found;
}

}  // namespace

TEST_CASE("start-up: a command that needs no model of SimGrid does not load it", "[memory]") {
    CHECK_FALSE(loads_simgrid({"--help"}, 0));
    CHECK_FALSE(loads_simgrid({"--version"}, 0));
    CHECK_FALSE(loads_simgrid({"rnu"}, 2));
    CHECK_FALSE(loads_simgrid({"run", "no-such-file.yaml"}, 3));
    CHECK_FALSE(loads_simgrid({"check", "scenario.yaml"}, 0));
    CHECK_FALSE(loads_simgrid({"run", "scenario.yaml", "--dry-run"}, 0));
    CHECK_FALSE(loads_simgrid({"schema", "scenario"}, 0));
    CHECK_FALSE(loads_simgrid({"run", "scenario.yaml"}, 0));
    CHECK(loads_simgrid({"run", "scenario.yaml", "--set", "platform.network.model=LV08"}, 0));
}
