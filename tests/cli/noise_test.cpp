#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

// Jitter and stragglers as users see them: the seed, the notes, and no effect without them.

using namespace syncline::test;
using nlohmann::json;

namespace {

struct Tiny : TinyFiles {
    Outcome run(std::vector<std::string> options) const {
        options.insert(options.begin(), {"run", "scenario.yaml", "--format", "json"});
        const Outcome outcome = run_in(*this, std::move(options));
        CAPTURE(outcome.err);
        REQUIRE(outcome.status == 0);
        return outcome;
    }
};

}  // namespace

TEST_CASE("noise: the same seed gives the same bytes, another seed gives others") {
    const Tiny tiny;
    for (const std::vector<std::string>& noise :
         {std::vector<std::string>{"--set", "training.jitter=20 %", "--set", "training.iterations=12"},
          std::vector<std::string>{"--set", "training.stragglers={ranks: 1, slowdown: 2}", "--set",
                                   "training.placement=random"}}) {
        const auto with_seed = [&](const char* seed) {
            std::vector<std::string> options = noise;
            options.insert(options.end(), {"--seed", seed});
            return tiny.run(options).out;
        };
        CHECK(with_seed("2") == with_seed("2"));
        CHECK(with_seed("1") == tiny.run(noise).out);
    }
    const std::vector<std::string> jitter{"--set", "training.jitter=0.2", "--seed"};
    CHECK(tiny.run({jitter[0], jitter[1], jitter[2], "2"}).out != tiny.run({jitter[0], jitter[1], jitter[2], "3"}).out);
}

TEST_CASE("noise: jitter and stragglers of zero change nothing") {
    const Tiny tiny;
    CHECK(tiny.run({}).out ==
          tiny.run({"--set", "training.jitter=0", "--set", "training.stragglers=none", "--seed", "5"}).out);
    // Stragglers as fast as the others: only the closed form's reason differs.
    json slow = json::parse(tiny.run({"--set", "training.stragglers={ranks: 4, slowdown: 1}"}).out);
    json none = json::parse(tiny.run({}).out);
    for (json* report : {&slow, &none})
        for (json& result : (*report)["results"]) result.erase("closed_form");
    CHECK(slow == none);
}

TEST_CASE("noise: a mean of few iterations is noted, differing iterations are not", "[memory]") {
    const Tiny tiny;
    const Outcome few = tiny.run({"--set", "training.jitter=50 %"});
    CHECK(few.err.find("note: ring: the mean iteration time with jitter has a standard error of ") !=
          std::string::npos);
    CHECK(few.err.find("the last two") == std::string::npos);
    CHECK(tiny.run({"--set", "training.jitter=0.1 %"}).err.empty());
}
