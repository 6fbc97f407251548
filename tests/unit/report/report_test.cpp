#include "sim/report/report.hpp"
#include "sim/query/table.hpp"

#include "sim/output/writers.hpp"
#include "sim/report/html.hpp"
#include "sim/report/parts.hpp"
#include "tests/catch.hpp"
#include "tests/page/sample.hpp"
#include "tests/unit/stores.hpp"

using namespace syncline;
using namespace syncline::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Returns the block of data in a page.
Json data_of(const std::string& page) {
    const std::string open = "id=\"data\">";
    const auto begin = page.find(open) + open.size();
    return Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
}

std::size_t bars(const Json& timeline) {
    std::size_t values = 0;
    for (const Json& lane : timeline["lanes"]) values += lane["bars"].size();
    return values / 5;
}

}  // namespace

TEST_CASE("report: names with markup end no script and make no element", "[report][memory]") {
    const std::string json = script_json({{"name", "</script><!--<script>"}});
    CHECK(json.find('<') == std::string::npos);
    CHECK(Json::parse(json)["name"] == "</script><!--<script>");

    const std::string page = report_page(sample_report(2));
    CHECK_THAT(page, ContainsSubstring("<title>sample &lt;b&gt;page&lt;/b&gt;"));
    CHECK_THAT(page, !ContainsSubstring("<b>page"));
    // There are three scripts: the data, Chart.js, and the page's own.
    CHECK(count(page, "</script>") == 3);
    CHECK(data_of(page)["variants"][0]["name"] == "sample </script><!-- \"ring\" & 'tree'");
}

TEST_CASE("report: the page has the numbers of the JSON result", "[report][memory]") {
    const ReportData data = sample_report(4);
    CHECK(data_of(report_page(data))["report"] == Json::parse(to_json(data.report)));
    CHECK(report_page(data) == report_page(sample_report(4)));
}

TEST_CASE("report: the page names no address that could be fetched", "[report][memory]") {
    const std::string page = report_page(sample_report(4));
    CHECK_THAT(page, ContainsSubstring("default-src 'none'"));
    for (const char* fetched : {"src=\"", "@import", "<link"}) CHECK_THAT(page, !ContainsSubstring(fetched));
    CHECK(count(page, "url(") == count(page, "url(#"));  // parts of the same picture
}

TEST_CASE("report: pages of 64 ranks are below 3 MB, and of 1024 ranks not much larger", "[report][memory]") {
    CHECK(report_page(sample_report(64)).size() < 3'000'000);
    CHECK(report_page(sample_report(1024)).size() < 3'000'000);
}

TEST_CASE("report: ranks are picked evenly, with both ends and the wanted one", "[report][memory]") {
    CHECK(picked(3, 5, 1) == std::vector<std::uint32_t>{0, 1, 2});
    const std::vector<std::uint32_t> some = picked(1000, 5, 700);
    CHECK(some == std::vector<std::uint32_t>{0, 249, 700, 749, 999});
    CHECK(picked(1000, 5, 3) == std::vector<std::uint32_t>{0, 3, 499, 749, 999});
    CHECK(picked(1000, 5, 998) == std::vector<std::uint32_t>{0, 249, 499, 998, 999});
    CHECK(picked(7, 1, 4) == std::vector<std::uint32_t>{4});
    CHECK(picked(0, 4, 0).empty());
}

TEST_CASE("report: a timeline of few ranks has every task at its place", "[report][memory]") {
    const TimelineView view = sample_view(2);
    const Json timeline = page_timeline(view, 2, 1, {});
    REQUIRE(timeline["lanes"].size() == 4);
    CHECK(timeline["notes"].empty());
    CHECK(bars(timeline) == 2 * (2 * sample_layers + sample_buckets));
    const Json& compute = timeline["lanes"][0];
    CHECK(compute["process"] == "rank 0");
    const double tick_s = timeline["tick_s"];
    // The second of the forward passes: kind 0, from 1 to 2 ms.
    CHECK(compute["bars"][5] == 0);
    CHECK(compute["bars"][6].get<double>() * tick_s == Approx(0.001).margin(tick_s));
    CHECK(compute["bars"][7].get<double>() * tick_s == Approx(0.002).margin(tick_s));
    CHECK(timeline["names"][compute["bars"][8].get<std::size_t>()] == "forward of layer-1");
}

TEST_CASE("report: a timeline of many ranks says what it omits", "[report][memory]") {
    PageLimits limits;
    limits.bars = 300;
    const TimelineView view = sample_view(100);
    const Json timeline = page_timeline(view, 100, 42, limits);
    CHECK(timeline["lanes"].size() == 2 * limits.processes);
    CHECK(bars(timeline) <= limits.bars);
    const std::string notes = timeline["notes"].dump();
    CHECK_THAT(notes, ContainsSubstring("16 of 100 processes") && ContainsSubstring("rank 42"));
    CHECK_THAT(notes, ContainsSubstring("drawn as one"));
    bool wanted = false;
    for (const Json& lane : timeline["lanes"]) wanted = wanted || lane["process"] == "rank 42";
    CHECK(wanted);
    // Joined bars keep their tasks.
    std::int64_t tasks = 0;
    for (const Json& lane : timeline["lanes"])
        for (std::size_t i = 4; i < lane["bars"].size(); i += 5) tasks += lane["bars"][i].get<std::int64_t>();
    CHECK(tasks == 16 * (2 * sample_layers + sample_buckets));
}

TEST_CASE("report: servers are drawn beside ranks", "[report][memory]") {
    const TimelineView view = sample_view(40);
    const Json timeline = page_timeline(view, 30, 0, {});
    std::set<std::string> processes;
    for (const Json& lane : timeline["lanes"]) processes.insert(lane["process"]);
    CHECK(processes.size() == 16);
    CHECK(processes.count("server 0") == 1);
    CHECK(processes.count("rank 29") == 1);
}

TEST_CASE("report: additions of gradients are bars of their own kind, apart from updates of weights",
          "[report][memory]") {
    TimelineView view;
    view.timeline.recorded.emplace_back();
    const StreamId stream = view.graph.add_stream(view.graph.add_process({.place = {0, 0}}), StreamKind::compute);
    for (const Phase phase : {Phase::aggregate, Phase::update}) {
        const double start_s = static_cast<double>(view.names.size());
        view.graph.add_task({.stream = stream, .phase = phase, .subject = 0, .seconds = 1});
        view.timeline.recorded.back().push_back({start_s, start_s + 1});
        view.names.emplace_back("task");
    }
    view.graph.seal();
    view.window = {0, 2};
    const Json lane = page_timeline(view, 1, 0, {})["lanes"][0];
    REQUIRE(lane["bars"].size() == 10);
    CHECK(lane["bars"][0] == 9);  // "reduction" in timeline.js
    CHECK(lane["bars"][5] == 2);  // "update"
}

TEST_CASE("report: each cable has the utilisation of its busier direction", "[report][memory]") {
    const TimelineView view = sample_view(4);
    const Explanation explanation = sample_explanation(4, view);
    std::string picture;
    const Json links = page_links(sample_cluster(4), explanation.result, &view, {}, picture);
    CHECK(links["cables"] == Json({0.25, 0.5, 0.75, 1.0}));
    CHECK(count(picture, "class=\"cable\"") == 4);
    CHECK(links["links"].size() == 8);
    CHECK(links["links"][0]["link"] == "host-3->switch-0");
    // No two links of a direction have the same utilisation.
    CHECK(links["groups"].size() == 8);
    CHECK(links["groups"][0]["links"] == "host-3->switch-0");
    CHECK(links["groups"][0]["count"] == 1);
    CHECK(links["groups"][0]["bytes"] == links["links"][0]["bytes"]);

    PageLimits small;
    small.picture_bytes = 100;
    small.links = 3;
    const Json less = page_links(sample_cluster(4), explanation.result, &view, small, picture);
    CHECK(picture.empty());
    CHECK(less["cables"].is_null());
    CHECK(less["links"].size() == 3);
    CHECK_THAT(less["notes"].dump(),
               ContainsSubstring("4 hosts, 1 switches and 4 cables") && ContainsSubstring("of 8"));
}

TEST_CASE("report: equal links are one group with their number", "[report][memory]") {
    TimelineView view = sample_view(4);
    for (LinkUse& link : view.timeline.links) link.bytes = link.name.starts_with("host") ? 400 : 100;
    const Explanation explanation = sample_explanation(4, view);
    std::string picture;
    const Json groups = page_links(sample_cluster(4), explanation.result, &view, {}, picture)["groups"];
    REQUIRE(groups.size() == 2);
    CHECK(groups[0]["links"] == "host-*->switch-*");
    CHECK(groups[0]["count"] == 4);
    CHECK(groups[1]["links"] == "switch-*->host-*");
    CHECK(groups[1]["bytes"] == 100);
}

TEST_CASE("report: the critical path as a strip has what takes most of each place, neighbours as one",
          "[report][memory]") {
    Explanation explanation = sample_explanation(4, sample_view(4));
    explanation.window_s = 10;
    explanation.path = {{PathKind::compute, "forward of a", "rank 1", "", 0, 3, "forward"},
                        {PathKind::compute, "forward of b", "rank 1", "", 3, 4, "forward"},
                        {PathKind::transfer, "bucket 0", "rank 1 -> rank 2", "link", 4, 9.9999, "exchange"},
                        {PathKind::waiting, "bucket 0", "rank 2", "", 9.9999, 10, "exchange"}};
    const Json path = page_path(explanation, nullptr);
    // The wait is shorter than a thousandth of the window.
    CHECK(path["what"] == Json{{{"name", "forward"}, {"start_s", 0.0}, {"end_s", 4.0}},
                               {{"name", "exchange"}, {"start_s", 4.0}, {"end_s", 10.0}}});
    CHECK(path["where"] == Json{{{"name", "rank 1"}, {"start_s", 0.0}, {"end_s", 4.0}},
                                {{"name", "rank 2"}, {"start_s", 4.0}, {"end_s", 10.0}}});
    CHECK(path["places"][0]["name"] == "rank 2");
    CHECK(path["places"][0]["share"] == Approx(0.6));
}

TEST_CASE("report: a critical path with too many segments keeps the longest, in order", "[report][memory]") {
    Explanation explanation = sample_explanation(4, sample_view(4));
    PageLimits limits;
    limits.path_pieces = 2;
    const Json json = page_explanation(explanation, limits);
    REQUIRE(json["critical_path"].size() == 2);
    CHECK(json["critical_path"][0]["what"] == "forward of layer-0");
    CHECK(json["critical_path"][1]["what"] == "backward of layer-0");
    CHECK(json["path_note"] == "Only the 2 longest of 3 segments are listed.");
}

TEST_CASE("report: without a recording the page has the result alone", "[report][memory]") {
    Explanation explanation;
    explanation.result = sample_explanation(4, sample_view(4)).result;
    const TimelineView empty;
    const PageVariant variant = page_variant(sample_cluster(4), nullptr, explanation, &empty, "", {});
    CHECK(variant.explanation.is_null());
    CHECK(variant.timeline.is_null());
    CHECK(variant.links["links"].size() == 4);
    CHECK_THAT(variant.links["notes"].dump(), ContainsSubstring("Only the 4 most utilised links"));
}

TEST_CASE("report: a batch's page has its points, and settings as numbers and as written", "[report][memory]") {
    const Scratch scratch;
    batch::Store store(scratch.path, batch::Store::Mode::create);
    store.begin_study("s");
    for (const char* bandwidth : {"25 Gbps", "10 Gbps", "100 Gbps"}) {
        config::StudyPoint each = point(static_cast<int>(std::string(bandwidth).size()) * 10 + *bandwidth);
        each.settings = {{"platform.fabric.bandwidth", bandwidth}};
        store.add(each);
    }
    store.end_study();
    for (const std::string& id : store.to_run("s", false))
        store.finish({{id, batch::Status::done, R"({"iteration_time_s":0.5,"throughput_samples_per_s":7})", 0.1}});
    batch::Table table(store);
    const Json data = data_of(report_page("s", table, table.select({}), 100, 2));
    REQUIRE(data["rows"].size() == 2);
    CHECK_THAT(data["note"].get<std::string>(), ContainsSubstring("first 2 of 3"));
    CHECK(data["columns"][0]["name"] == "bandwidth");
    CHECK(data["columns"][0]["setting"] == true);
    const std::string written = data["rows"][0][0];
    CHECK(data["numbers"][0][0].get<double>() == Approx(std::stod(written) * 1e9 / 8));
    CHECK(data["columns"][1] == Json({{"name", "iteration_time_s"},
                                      {"setting", false},
                                      {"figure", true},
                                      {"unit", "s"},
                                      {"most_is_best", false},
                                      {"listed", true}}));
    CHECK(data["columns"][2]["unit"] == "per_s");
    CHECK(data["columns"][2]["most_is_best"] == true);
}
