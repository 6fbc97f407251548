#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/batch.hpp"
#include "tests/cli/measured.hpp"

using namespace syncline::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

using Json = nlohmann::json;

/// Returns the data that the charts of a page are drawn from.
Json data_of(const fs::path& page) {
    const std::string text = read_file(page), open = "id=\"data\">";
    REQUIRE(text.find(open) != std::string::npos);
    const auto begin = text.find(open) + open.size();
    return Json::parse(text.substr(begin, text.find("</script>", begin) - begin));
}

}  // namespace

TEST_CASE("run --report writes a page with the printed numbers") {
    const TinyFiles files;
    const Outcome plain = run_in(files, {"run", "scenario.yaml", "--format", "json"});
    const Outcome outcome =
        run_in(files, {"run", "scenario.yaml", "--format", "json", "--report", "pages/a.html", "--seed", "1"});
    CHECK(outcome.status == 0);
    CHECK(outcome.err.empty());
    CHECK(outcome.out == plain.out);
    CHECK(files.list() ==
          std::vector<std::string>{"pages", "pages/a.html", "platform.yaml", "scenario.yaml", "workload.yaml"});
    const Json data = data_of(files / "pages/a.html");
    CHECK(data["report"] == Json::parse(outcome.out));
    REQUIRE(data["variants"].size() == 3);
    CHECK(data["variants"][0]["name"] == "ring");
    // All three are on the same star; the servers use more of its hosts.
    CHECK(data["pictures"].size() == 2);
    CHECK(data["scaling"].empty());

    REQUIRE(run_in(files, {"run", "scenario.yaml", "--report", "b.html"}).status == 0);
    CHECK(read_file(files / "b.html") == read_file(files / "pages/a.html"));
}

TEST_CASE("a report contains a scenario that run accepts, with the same result", "[memory]") {
    const TinyFiles files;
    REQUIRE(run_in(files, {"run", "scenario.yaml", "--set", "training.ranks=2", "--report", "a.html"}).status == 0);
    const Json data = data_of(files / "a.html");
    files.write("again.yaml", data["variants"][2]["scenario"].get<std::string>());
    const Outcome again = run_in(files, {"run", "again.yaml", "--format", "json"});
    REQUIRE(again.status == 0);
    const Json result = Json::parse(again.out)["results"][0];
    CHECK(result["ranks"] == 2);
    CHECK(result["exchange"] == "parameter-server");
    CHECK(result["iteration_time_s"] == data["report"]["results"][2]["iteration_time_s"]);
}

TEST_CASE("run --scaling simulates powers of two up to the scenario's ranks, as run does", "[memory]") {
    const TinyFiles files;
    REQUIRE(run_in(files, {"run", "scenario.yaml", "--set", "training.ranks=6", "--report", "a.html", "--scaling"})
                .status == 0);
    const Json data = data_of(files / "a.html");
    REQUIRE(data["scaling"].size() == 3);
    std::vector<int> ranks;
    for (const Json& point : data["scaling"][1]["points"]) ranks.push_back(point["ranks"]);
    CHECK(ranks == std::vector<int>{1, 2, 4, 6});
    CHECK(data["scaling"][1]["variant"] == "later");
    const Outcome four = run_in(files, {"run", "scenario.yaml", "--set", "training.ranks=4", "--format", "json"});
    const Json results = Json::parse(four.out);
    for (const char* field : {"iteration_time_s", "throughput_samples_per_s", "scaling_efficiency"})
        CHECK(data["scaling"][1]["points"][2][field] == results["results"][1][field]);
}

TEST_CASE("run --scaling skips numbers of ranks that a scenario does not work with, and says so", "[memory]") {
    const TinyFiles files;
    files.write("split.yaml", R"(platform: platform.yaml
workload: workload.yaml
training: {ranks: 8, batch_per_rank: 8, parallelism: {model: 2, data: 4}}
)");
    const Outcome outcome = run_in(files, {"run", "split.yaml", "--report", "a.html", "--scaling"});
    CHECK(outcome.err.empty());
    REQUIRE(outcome.status == 0);
    const Json data = data_of(files / "a.html");
    CHECK_THAT(data["scaling_note"].get<std::string>(), ContainsSubstring("is not valid with 1, 2, 4 ranks"));
    CHECK(data["scaling"][0]["points"].size() == 1);
}

TEST_CASE("explain --report writes the printed explanation, what-if included", "[memory]") {
    const TinyFiles files;
    const Outcome outcome = run_in(files, {"explain", "scenario.yaml", "--variant", "servers", "--what-if",
                                           "link:fabric x2", "--format", "json", "--report", "a.html"});
    REQUIRE(outcome.status == 0);
    const Json printed = Json::parse(outcome.out)["explanations"][0];
    const Json data = data_of(files / "a.html");
    REQUIRE(data["variants"].size() == 1);
    const Json& shown = data["variants"][0]["explanation"];
    for (const char* part : {"window_s", "ranks", "layers", "buckets", "critical_path_shares", "links", "theory"})
        CHECK(shown[part] == printed[part]);
    REQUIRE(shown["what_if"].size() == 1);
    CHECK(shown["what_if"] == printed["what_if"]);
    CHECK(data["report"]["results"][0]["iteration_time_s"] == printed["iteration_time_s"]);
    CHECK(data["variants"][0]["timeline"]["lanes"].size() > 4);
}

TEST_CASE("a report of exchanges alone has their curves", "[memory]") {
    const TinyFiles files;
    files.write("exchange.yaml", R"(platform: platform.yaml
collective: {operation: allreduce, ranks: 4, algorithm: ring, sweep: {bytes: 1 kB..4 kB}}
)");
    const Outcome outcome = run_in(files, {"run", "exchange.yaml", "--format", "json", "--report", "a.html"});
    REQUIRE(outcome.status == 0);
    CHECK(data_of(files / "a.html")["report"] == Json::parse(outcome.out));
}

TEST_CASE("results --report writes the printed points, with readable column names", "[memory]") {
    const StudyBench bench(3);
    REQUIRE(run_program(bench.batch()).status == 0);
    for (const char* format : {"table", "json", "jsonl"}) {
        const Outcome outcome =
            run_in(bench, {"results", "out", "--where", "bytes > 1000", "--format", format, "--report", "a.html"});
        CHECK(outcome.status == 0);
        CHECK_FALSE(outcome.out.empty());
        const Json data = data_of(bench / "a.html");
        CHECK(data["name"] == "out");
        CHECK(data["rows"].size() == 2);
        CHECK(data["columns"][0]["name"] == "bytes");
        CHECK(data["rows"][0][0] == "2 kB");
        CHECK(data["numbers"][0][0] == 2000);
        // Tables list the columns of the printed table; charts have every result that is a number.
        std::vector<std::string> listed, others;
        for (const Json& column : data["columns"]) {
            (column["listed"] ? listed : others).push_back(column["name"]);
            CHECK((column["listed"] || column["figure"] || column["name"] == "limited_by"));
        }
        CHECK(listed.size() < 10);
        CHECK(std::count(others.begin(), others.end(), "messages") == 1);
        CHECK(std::count(others.begin(), others.end(), "algorithm") == 0);
    }
}

TEST_CASE("a report that cannot be written is an output error, and --report needs results", "[memory]") {
    const TinyFiles files;
    const Outcome folder = run_in(files, {"run", "scenario.yaml", "--report", "."});
    CHECK(folder.status == 4);
    CHECK_THAT(folder.err, StartsWith("error: cannot write "));
    CHECK(run_in(files, {"run", "scenario.yaml", "--report", ""}).status == 2);
    CHECK(run_in(files, {"run", "scenario.yaml", "--report", "a.html", "--dry-run"}).status == 2);
    CHECK(run_in(files, {"run", "scenario.yaml", "--scaling"}).status == 2);
    CHECK(files.list() == std::vector<std::string>{"platform.yaml", "scenario.yaml", "workload.yaml"});
}

TEST_CASE("validate --report writes the printed numbers, even if --check finds them too low") {
    const RingBench bench;
    bench.scenario(RingBench::series(RingBench::row(2, 8'000'000, true) + RingBench::row(4, 8'000'000, false, 2)),
                   RingBench::bandwidth);
    const Outcome plain = run_in(bench, {"validate", "ring.yaml", "--format", "json"});
    REQUIRE(plain.status == 0);
    const Outcome low =
        run_in(bench, {"validate", "ring.yaml", "--format", "json", "--check", "--report", "pages/a.html"});
    CHECK(low.status == 1);
    CHECK(low.out == plain.out);
    const Json data = data_of(bench / "pages/a.html");
    CHECK(data["kind"] == "validation");
    CHECK(data["report"] == Json::parse(plain.out));
    REQUIRE(run_in(bench, {"validate", "ring.yaml", "--report", "b.html", "--jobs", "3"}).status == 0);
    CHECK(read_file(bench / "b.html") == read_file(bench / "pages/a.html"));
    CHECK(run_in(bench, {"validate", "ring.yaml", "--report", "."}).status == 4);
    CHECK(run_in(bench, {"validate", "ring.yaml", "--report", ""}).status == 2);
}
