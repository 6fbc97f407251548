#include "sim/query/table.hpp"

#include <cmath>
#include <set>

#include "tests/catch.hpp"
#include "tests/unit/stores.hpp"

using namespace syncline;
using namespace syncline::batch;
using namespace syncline::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Three bandwidths by four ranks; the time is ranks divided by bandwidth, and the last point has no result.
struct Example {
    Example() : store(scratch.path, Store::Mode::create) {
        store.begin_study("s");
        std::int64_t number = 0;
        for (const char* bandwidth : {"9 Gbps", "10 Gbps", "25 Gbps"})
            for (const int ranks : {2, 4, 8, 16}) {
                config::StudyPoint point;
                point.number = ++number;
                point.settings = {{"platform.fabric.bandwidth", bandwidth},
                                  {"training.ranks", std::to_string(ranks)},
                                  {"variant", ranks > 4 ? "ring" : "parameter-server"}};
                point.resolved.sections = {{"training", std::to_string(number) + "\n"}};
                const std::string id = store.add(point);
                times[id] = ranks / *number_of(std::string(bandwidth)) * 1e6;
                ids.push_back(id);
            }
        store.end_study();
        for (std::size_t i = 0; i + 1 < ids.size(); ++i)
            store.finish(
                {{ids[i], Status::done,
                  R"({"variant":"x","ranks":1,"iteration_time_s":)" + std::to_string(times[ids[i]]) +
                      R"(,"throughput_samples_per_s":)" + std::to_string(1 / times[ids[i]]) +
                      R"(,"best":true,"limited_by":"ports","closed_form":{"time_s":null},"links":[{"link":"a"}]})",
                  1}});
    }
    Scratch scratch;
    Store store;
    std::map<std::string, double> times;
    std::vector<std::string> ids;
};

std::size_t matching(Table& table, const std::string& condition) {
    return table.select({{condition}, {}, {}, {"point"}}).rows.size();
}

std::string error_of(Table& table, const std::string& condition) {
    try {
        table.select({{condition}, {}, {}, {"point"}});
    } catch (const SqlError& error) {
        return std::string(error.what()) + " / " + error.hint();
    }
    return "";
}

}  // namespace

TEST_CASE("settings with units compare by value, and numbers as numbers") {
    Example example;
    Table table(example.store);
    CHECK(matching(table, "bandwidth > '9 Gbps'") == 8);
    CHECK(matching(table, "bandwidth >= '10000 Mbps'") == 8);
    CHECK(matching(table, "bandwidth in ('9 Gbps', '25Gbps')") == 8);
    CHECK(matching(table, "platform.fabric.bandwidth between '1.2 GB/s' and '2 GB/s'") == 4);
    CHECK(matching(table, "ranks > 2 and ranks < 16") == 6);
    CHECK(matching(table, "ranks = '16'") == 3);
    CHECK(matching(table, "ranks-2=training.ranks-2") == 12);
    CHECK(matching(table, "variant = 'parameter-server'") == 6);
    CHECK(matching(table, "status = 'pending'") == 1);
    CHECK(matching(table, "iteration_time_s is null") == 1);
    CHECK(matching(table, "iteration_time_s < '100 s'") == 11);
    CHECK(matching(table, "best") == 11);
    CHECK(matching(table, "closed_form_time_s is null and closed_form.time_s is null") == 12);
}

TEST_CASE("an error in an expression has a hint") {
    Example example;
    Table table(example.store);
    CHECK_THAT(error_of(table, "rank > 2"),
               ContainsSubstring("no column 'rank'") && ContainsSubstring("did you mean 'ranks'?"));
    CHECK_THAT(error_of(table, "\"ringg\" = variant"), ContainsSubstring("no column 'ringg'"));
    CHECK_THAT(error_of(table, "variant = ring"), ContainsSubstring("single quotes"));
    CHECK_THAT(error_of(table, "ranks >"), !ContainsSubstring("single quotes"));
    CHECK_THAT(error_of(table, "ranks = 4 -- x"), ContainsSubstring("must not end with a comment"));
    CHECK_THROWS_WITH(table.select({{}, {"99"}, {}, {"point"}}), ContainsSubstring("nothing can be sorted"));
    CHECK_THROWS_WITH(table.select({{}, {"-(1) desc"}, {}, {"point"}}), ContainsSubstring("nothing can be sorted"));
    for (const char* bad :
         {"1; drop table points", "1) or (1", "ranks >", "'open", "(1", "1 -- x", "1 /* x", "", "1 2"})
        CHECK_FALSE(error_of(table, bad).empty());
}

TEST_CASE("expressions of strangers read columns, and do nothing else") {
    Example example;
    Table table(example.store);
    for (const char* query :
         {"(select 1)", "exists (select 1)", "point in (select point from points)",
          "point in (with recursive r(x) as (select 1 union all select x + 1 from r) select x from r)",
          "point in pragma_page_count", "1 in sqlite_schema"})
        CHECK_THAT(error_of(table, query), ContainsSubstring("must not contain a query"));
    for (const char* function : {"randomblob(1000000000)", "zeroblob(9)", "hex(variant)", "quote(variant)",
                                 "load_extension('x')", "random()", "current_time", "sqlite_version()"})
        CHECK_THAT(error_of(table, function), ContainsSubstring("is not allowed"));
    for (const char* clause : {"1 union select 1", "1 limit 0", "1, 2", "point desc", "1; attach 'x' as y",
                               "1; pragma page_count", "1 --", "1 /*"})
        CHECK_FALSE(error_of(table, clause).empty());
    CHECK_THROWS_AS(table.select({{"1 /*", "'*/) or (1' = ''"}, {}, {}, {"point"}}), SqlError);
    CHECK_THROWS_AS(table.select({{}, {"(select 1)"}, {"ranks"}, {"point"}}), SqlError);
    for (const char* several : {"avg(ranks) > 1", "max(ranks) > 1", "count(*) > 1", "printf('%5000000d', 1)"})
        CHECK_THAT(error_of(table, several), ContainsSubstring("is about one point"));
    CHECK_THAT(error_of(table, "lowr(variant) = 'x'"), ContainsSubstring("did you mean 'lower'?"));
    for (const char* parameter : {"ranks > ?", "ranks > ?1", "ranks > :a", "ranks > @a", "ranks > $a"})
        CHECK_THAT(error_of(table, parameter), ContainsSubstring("must not have parameters"));
    const std::string half = "'" + std::string(600'000, 'x') + "'";
    CHECK_FALSE(error_of(table, "variant || " + half + " || variant || " + half + " = 1").empty());
    CHECK(matching(table, "round(sqrt(ranks), 1) = 2 /* of 4 */") == 3);
    CHECK(matching(table, "max(ranks, 8) = 8 and ranks*1e-9<1.6e-8") == 9);
}

TEST_CASE("groups are sorted by their own columns only") {
    Example example;
    Table table(example.store);
    CHECK(table.select({{}, {"points desc", "-ranks_mean"}, {"variant"}, {"ranks"}}).rows.size() == 2);
    CHECK_THROWS_WITH(table.select({{}, {"ranks_maen"}, {"variant"}, {"ranks"}}),
                      ContainsSubstring("no column 'ranks_maen'"));
    CHECK_THROWS_WITH(table.select({{}, {}, {"STATUS"}, {"point"}}), ContainsSubstring("no column 'STATUS'"));
}

TEST_CASE("a hint that lists the columns names each once") {
    Example example;
    Table table(example.store);
    const std::string hint = error_of(table, "zzzzzzzzzzzz > 2");
    const auto names = split_list(hint.substr(hint.find("columns are ") + 12));
    CHECK(names.size() > 10);
    CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
}

TEST_CASE("rows are sorted by value, empty ones last, and short names are expanded") {
    Example example;
    Table table(example.store);
    const Rows rows =
        table.select({{}, {"bandwidth desc", "throughput DESC"}, {}, {"bandwidth", "throughput", "point"}});
    CHECK(rows.columns == std::vector<std::string>{"bandwidth", "throughput_samples_per_s", "point"});
    REQUIRE(rows.rows.size() == 12);
    CHECK(rows.rows.front()[0] == Value(std::string("25 Gbps")));
    CHECK(rows.rows.back()[0] == Value(std::string("9 Gbps")));
    CHECK(rows.rows[3][1] == Value{});
    CHECK(rows.rows[3][2] == Value(std::int64_t{12}));
    const Rows all = table.select({{"point = 1"}, {}, {}, {}});
    CHECK(all.columns.empty() == false);
}

TEST_CASE("by default a table has what varies, the status if a point is not done, and the main figures") {
    Example example;
    Table table(example.store);
    CHECK(table.select({}).columns == std::vector<std::string>{"bandwidth", "ranks", "variant", "status",
                                                               "iteration_time_s", "throughput_samples_per_s",
                                                               "limited_by"});
    CHECK(table.select({{"point < 3"}, {}, {}, {}}).columns ==
          std::vector<std::string>{"ranks", "iteration_time_s", "throughput_samples_per_s", "limited_by"});
    // A text has no mean.
    for (const std::string& column : table.select({{}, {}, {"ranks"}, {}}).columns)
        CHECK_FALSE(column.starts_with("limited_by"));
}

TEST_CASE("groups have mean, extremes and sample deviation, figure by figure") {
    Example example;
    Table table(example.store);
    const Rows rows = table.select({{}, {"ranks_mean desc"}, {"bandwidth"}, {"ranks"}});
    CHECK(rows.columns == std::vector<std::string>{"bandwidth", "points", "ranks_mean", "ranks_least", "ranks_most",
                                                   "ranks_deviation"});
    REQUIRE(rows.rows.size() == 3);
    CHECK(rows.rows[0][0] == Value(std::string("9 Gbps")));
    CHECK(rows.rows[0][1] == Value(std::int64_t{4}));
    CHECK(rows.rows[0][2] == Value(7.5));
    CHECK(rows.rows[0][3] == Value(std::int64_t{2}));
    CHECK(rows.rows[0][4] == Value(std::int64_t{16}));
    // The squares of -5.5, -3.5, 0.5 and 8.5, for 2, 4, 8 and 16, add up to 115.
    CHECK(std::get<double>(rows.rows[0][5]) == Approx(std::sqrt(115.0 / 3)));
    CHECK(table.select({{"point = 1"}, {}, {"ranks"}, {"bandwidth"}}).rows[0].back() == Value{});
}

TEST_CASE("columns have the units of results, also in groups, and settings and expressions have none") {
    Example example;
    Table table(example.store);
    const std::vector<std::string> columns{"bandwidth", "throughput", "iteration_time_s", "iteration_time_s * 2"};
    const Rows rows = table.select({{}, {}, {}, columns});
    CHECK(rows.units == std::vector{Unit::number, Unit::samples_per_s, Unit::seconds, Unit::number});
    const Rows groups = table.select({{}, {}, {"bandwidth"}, {"iteration_time_s"}});
    CHECK(groups.units ==
          std::vector{Unit::number, Unit::number, Unit::seconds, Unit::seconds, Unit::seconds, Unit::seconds});
    CHECK(groups.columns.size() == groups.units.size());
}

TEST_CASE("a condition can be evaluated on settings alone", "[memory]") {
    Table table(std::vector<std::string>{"training.algorithm", "training.ranks", "platform.fabric.bandwidth"});
    table.set({{"training.algorithm", "ring"}, {"training.ranks", "64"}, {"platform.fabric.bandwidth", "25 Gbps"}});
    CHECK(table.holds("algorithm = 'ring' and ranks > 32"));
    CHECK(table.holds("bandwidth > '9 Gbps'"));
    table.set({{"training.algorithm", "ring"}, {"training.ranks", "4"}});
    CHECK_FALSE(table.holds("algorithm = 'ring' and ranks > 32"));
    CHECK_FALSE(table.holds("bandwidth > '9 Gbps'"));
    CHECK_THROWS_AS(table.holds("algorithms = 'ring'"), SqlError);
}

TEST_CASE("separators inside a quoted part of a name end no name", "[memory]") {
    Table table(std::vector<std::string>{R"(device.calibration."gpt-3.6b".batch)"});
    table.set({{R"(device.calibration."gpt-3.6b".batch)", "4"}});
    CHECK(table.holds(R"(device.calibration."gpt-3.6b".batch > 1)"));
    CHECK(table.holds(R"(device.calibration."gpt-3.6b".batch-2 > 1)"));
    for (const char* wrong : {R"(calibration."gpt-3.6b".bacth > 1)", R"(device.calibration."gpt-3.6b".bacth-1 > 1)",
                              R"(device.calibration."gpt-3.6".batch > 1)"})
        CHECK_THROWS_WITH(table.holds(wrong),
                          ContainsSubstring("there is no column") && ContainsSubstring("calibration"));
}

TEST_CASE("a last part that two settings share is not a name", "[memory]") {
    Table table(std::vector<std::string>{"a.size", "b.size", "b.other"});
    CHECK(table.settings() == std::vector<std::string>{"a.size", "b.size", "other"});
    CHECK_THROWS_AS(table.holds("size > 1"), SqlError);
}

TEST_CASE("texts with units are numbers, and other texts are not", "[memory]") {
    CHECK(number_of(std::string("25 Gbps")) == 3.125e9);
    CHECK(number_of(std::string("1.5 us")) == 1.5 * 1e-6);
    CHECK(number_of(std::string("64 MiB")) == 64.0 * 1024 * 1024);
    CHECK(number_of(std::string("4")) == 4);
    CHECK(number_of(std::string("-.5")) == -0.5);
    CHECK(number_of(std::int64_t{4}) == 4);
    for (const char* text : {"", "ring", "p100-25g", "nan", "inf", "4 x", "1x2"})
        CHECK_FALSE(number_of(std::string(text)));
    CHECK_FALSE(number_of(Value{}));
}

TEST_CASE("an error's caret is under the wrong word", "[memory]") {
    const ConfigError error = located(SqlError("no", "", "rank"), {"--where", 1, 1, "1 or rank > 2"});
    CHECK(error.diagnostics().at(0).where.column == 6);
}
