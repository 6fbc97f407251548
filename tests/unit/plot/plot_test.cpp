#include "sim/plot/plot.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>

#include "sim/base/xml_reader.hpp"
#include "sim/output/written_files.hpp"
#include "sim/plot/palette.hpp"
#include "tests/catch.hpp"
#include "tests/unit/stores.hpp"

using namespace syncline;
using namespace syncline::batch;
using namespace syncline::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// The settings and the outcome of a point: a JSON object, "failed", or nothing yet.
struct Case {
    std::vector<config::Setting> settings;
    std::string ending;
};

/// Returns a store of these points, as a table.
struct Points {
    explicit Points(const std::vector<Case>& cases) : store(scratch.path, Store::Mode::create) {
        store.begin_study("fabrics");
        std::vector<std::string> ids;
        for (const Case& each : cases) {
            config::StudyPoint point;
            point.number = static_cast<std::int64_t>(ids.size()) + 1;
            point.settings = each.settings;
            point.resolved.sections = {{"training", fmt::format("training: {}\n", point.number)}};
            ids.push_back(store.add(point));
        }
        store.end_study();
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const bool failed = cases[i].ending == "failed";
            if (!cases[i].ending.empty())
                store.finish({{ids[i], failed ? Status::failed : Status::done, cases[i].ending, 1}});
        }
        table.emplace(store);
    }

    std::string script(const PlotOptions& options) {
        notes.clear();
        drawn_last = plot_script(*table, options, Picture::svg, notes);
        return drawn_last.text;
    }

    Scratch scratch;
    Store store;
    std::optional<Table> table;
    std::vector<std::string> notes;
    PlotScript drawn_last;
};

PlotOptions options(const std::string& x, const std::string& y, std::vector<std::string> series = {}) {
    return {x, y, std::move(series), {}, false, false, "", "", ""};
}

std::string time_of(double seconds) {
    return fmt::format(R"({{"iteration_time_s":{}}})", seconds);
}

/// Two algorithms by three ranks by three bandwidths. The second algorithm takes twice the time.
Points grid() {
    std::vector<Case> cases;
    for (const int slower : {1, 2})
        for (const int ranks : {2, 4, 8})
            for (const int gbps : {25, 10, 100})
                cases.push_back({{{"training.algorithm", slower == 1 ? "ring" : "tree"},
                                  {"training.ranks", std::to_string(ranks)},
                                  {"platform.fabric.bandwidth", fmt::format("{} Gbps", gbps)}},
                                 time_of(0.001 * slower * ranks * (100.0 / gbps))});
    return Points(cases);
}

}  // namespace

TEST_CASE("points at one place are drawn as mean, minimum and maximum, and the axes behind them are named") {
    Points points = grid();
    const std::string script = points.script(options("ranks", "iteration_time_s", {"algorithm"}));
    // At 100, 25 and 10 Gbps it takes 1, 4 and 10 ms for each rank; their mean is 5.
    CHECK_THAT(script, ContainsSubstring("$curve0 << END\n2 10 2 20\n4 20 4 40\n8 40 8 80\nEND\n"));
    CHECK_THAT(script, ContainsSubstring("$curve1 << END\n2 20 4 40\n4 40 8 80\n8 80 16 160\nEND\n"));
    CHECK_THAT(script, ContainsSubstring("title 'ring'"));
    CHECK_THAT(script, ContainsSubstring("title 'tree'"));
    CHECK_THAT(script, ContainsSubstring("yerrorbars"));
    CHECK_THAT(script, ContainsSubstring("set ylabel 'iteration time (ms)'"));
    REQUIRE(points.notes.size() == 1);
    CHECK_THAT(points.notes[0],
               ContainsSubstring("the mean over 3 values of 'bandwidth'") && !ContainsSubstring("ranks"));
    CHECK(script == points.script(options("ranks", "iteration_time_s", {"algorithm"})));
}

TEST_CASE("conditions of --where are not averaged over") {
    Points points = grid();
    PlotOptions fixed = options("ranks", "iteration_time_s", {"algorithm"});
    fixed.where = {"bandwidth = '25 Gbps'"};
    const std::string script = points.script(fixed);
    CHECK_THAT(script, ContainsSubstring("$curve0 << END\n2 8 8 8\n4 16 16 16\n8 32 32 32\nEND\n"));
    CHECK_THAT(script, !ContainsSubstring("yerrorbars"));
    CHECK_THAT(script,
               ContainsSubstring(R"(set title 'Iteration time by ranks' . "\n" . 'fabrics: bandwidth = ''25 Gbps''')"));
    CHECK(points.notes.empty());
}

TEST_CASE("quantities are placed by their value and labelled as written") {
    Points points = grid();
    PlotOptions fixed = options("bandwidth", "iteration_time_s");
    fixed.where = {"ranks = 2", "algorithm = 'ring'"};
    const std::string script = points.script(fixed);
    CHECK_THAT(script, ContainsSubstring("'10 Gbps' 1.25, '25 Gbps' 3.125, '100 Gbps' 12.5"));
    CHECK_THAT(script, ContainsSubstring("1.25 20 20 20\n3.125 8 8 8\n12.5 2 2 2\n"));
    CHECK_THAT(script, ContainsSubstring("set xlabel 'bandwidth'\n"));
}

TEST_CASE("texts are categories in order of appearance, with bars from zero, side by side") {
    Points points = grid();
    const std::string script = points.script(options("algorithm", "iteration_time_s", {"ranks"}));
    CHECK_THAT(script, ContainsSubstring("('ring' 0, 'tree' 1)"));
    CHECK_THAT(script, ContainsSubstring("set yrange [0:"));
    CHECK_THAT(script, ContainsSubstring("with boxes"));
    CHECK_THAT(script, ContainsSubstring("set key") && ContainsSubstring("title '8'"));
}

TEST_CASE("a logarithmic axis has its ticks at powers of two if the values are powers of two") {
    Points points = grid();
    PlotOptions logarithmic = options("ranks", "iteration_time_s", {"algorithm"});
    logarithmic.log_x = logarithmic.log_y = true;
    const std::string script = points.script(logarithmic);
    CHECK_THAT(script, ContainsSubstring("set logscale x") && ContainsSubstring("set xtics ('2' 2, '4' 4, '8' 8)"));
    // The values are from 2 to 160 ms.
    CHECK_THAT(script, ContainsSubstring("set yrange [2:200]") && ContainsSubstring("'2' 2, '5' 5, '10' 10"));

    logarithmic.x = "algorithm";
    CHECK_THROWS_AS(points.script(logarithmic), SqlError);
}

TEST_CASE("points that failed, are pending or have no number are left out, and counted", "[memory]") {
    const auto with = [](int ranks, const std::string& ending) {
        return Case{{{"training.ranks", std::to_string(ranks)}}, ending};
    };
    Points points({with(2, time_of(1)), with(4, "failed"), with(8, ""), with(16, R"({"iteration_time_s":null})"),
                   with(32, time_of(3))});
    const std::string script = points.script(options("ranks", "iteration_time_s"));
    CHECK_THAT(script, ContainsSubstring("$curve0 << END\n2 1 1 1\n32 3 3 3\nEND\n"));
    CHECK(points.notes.size() == 3);
    CHECK_THAT(points.notes.at(0), ContainsSubstring("1 failed point"));

    PlotOptions none = options("ranks", "iteration_time_s");
    none.where = {"ranks = 4"};
    CHECK_THROWS_WITH(points.script(none), ContainsSubstring("1 failed point"));
    none.where = {"ranks = 5"};
    CHECK_THROWS_AS(points.script(none), NothingToDraw);
    none = options("ranks", "no_such_figure");
    CHECK_THROWS_AS(points.script(none), SqlError);
}

TEST_CASE("units are those of the fields of results, with a suitable prefix", "[memory]") {
    const auto [figure, value, label] = GENERATE(table<std::string, double, std::string>({
        {"iteration_time_s", 20e-6, "iteration time (us)"},
        {"iteration_time_s", 20, "iteration time (s)"},
        {"bus_bandwidth_Bps", 2.5e9, "bus bandwidth (GB/s)"},
        {"throughput_samples_per_s", 700, "throughput (samples/s)"},
        {"throughput_samples_per_s", 7e6, "throughput (million samples/s)"},
        {"most_bytes_sent_by_rank", 7e6, "most bytes sent by rank (MB)"},
        {"tokens_per_s", 700, "tokens (tokens/s)"},
        {"somebody_s", 700, "somebody s"},
        {"scaling_efficiency", 0.9, "scaling efficiency"},
    }));
    Points points({{{{"training.ranks", "2"}}, fmt::format(R"({{"{}":{}}})", figure, value)}});
    CHECK_THAT(points.script(options("ranks", figure)), ContainsSubstring(fmt::format("set ylabel '{}'\n", label)));
}

TEST_CASE("several series make a line for each combination of their values") {
    Points points = grid();
    const std::string script = points.script(options("ranks", "iteration_time_s", {"algorithm", "bandwidth"}));
    // In the order of the algorithms' appearance, then of the bandwidths.
    std::size_t last = 0;
    for (const char* name :
         {"ring, 10 Gbps", "ring, 25 Gbps", "ring, 100 Gbps", "tree, 10 Gbps", "tree, 25 Gbps", "tree, 100 Gbps"}) {
        CAPTURE(name);
        const std::size_t here = script.find(fmt::format("title '{}'", name));
        REQUIRE(here != std::string::npos);
        CHECK(here > last);
        last = here;
    }
    CHECK_THAT(script, ContainsSubstring("title 'algorithm, bandwidth' left"));
    CHECK(points.notes.empty());
    CHECK(points.drawn_last.lines == 6);
    CHECK(points.drawn_last.points == 18);

    // Plain numbers say nothing alone.
    CHECK_THAT(points.script(options("bandwidth", "iteration_time_s", {"algorithm", "ranks"})),
               ContainsSubstring("title 'ring, ranks 2'"));
}

TEST_CASE("the first of several series has the colours, the second dashes and marks") {
    Points points = grid();
    const std::string script = points.script(options("ranks", "iteration_time_s", {"algorithm", "bandwidth"}));
    const auto drawn_as = [&](const char* dash, int mark, std::size_t colour, const char* name) {
        return ContainsSubstring(fmt::format("dashtype {} pointtype {} pointsize 0.9 linecolor '{}' title '{}'", dash,
                                             mark, palette[colour], name));
    };
    CHECK_THAT(script, drawn_as("solid", 7, 0, "ring, 10 Gbps") && drawn_as("(12,4)", 5, 0, "ring, 25 Gbps"));
    CHECK_THAT(script, drawn_as("solid", 7, 1, "tree, 10 Gbps") && drawn_as("(3,4)", 9, 1, "tree, 100 Gbps"));
}

TEST_CASE("lines have the colours of variants on pages") {
    std::ifstream file(SYNCLINE_SOURCE_DIR "/sim/report/page/page.css");
    const std::string css(std::istreambuf_iterator<char>(file), {});
    for (std::size_t i = 0; i < palette.size(); ++i)
        CHECK_THAT(css, ContainsSubstring(fmt::format("--series-{}: {};", i, palette[i])));
    CHECK_THAT(css, !ContainsSubstring(fmt::format("--series-{}:", palette.size())));
}

TEST_CASE("facets are panels with the same axes, one legend, and each value's own curves") {
    Points points = grid();
    PlotOptions how = options("ranks", "iteration_time_s", {"algorithm"});
    how.facet = "bandwidth";
    const std::string script = points.script(how);
    for (const char* name : {"bandwidth = 10 Gbps", "bandwidth = 25 Gbps", "bandwidth = 100 Gbps"})
        CHECK_THAT(script, ContainsSubstring(fmt::format("set title '{}'", name)));
    CHECK(points.drawn_last.lines == 6);
    CHECK(points.notes.empty());
    // The tree's curve at 100 Gbps: 2 ms per rank.
    CHECK_THAT(script, ContainsSubstring("\n2 4 4 4\n4 8 8 8\n8 16 16 16\nEND"));
    const auto times = [&](const std::string& part) {
        std::size_t count = 0;
        for (auto at = script.find(part); at != std::string::npos; at = script.find(part, at + 1)) ++count;
        return count;
    };
    CHECK(times("set yrange [0:164.8]") == 3);  // 160 ms, the longest of all, and a margin of 3 %
    CHECK(times("keyentry") == 2);
    CHECK(times("set ylabel 'iteration time (ms)'") == 1);
    CHECK_THAT(drawn(script), ContainsSubstring("bandwidth = 25 Gbps") && ContainsSubstring(">tree<"));

    how.facet = "algorithm";
    how.series = {};
    CHECK_THAT(points.script(how), ContainsSubstring("set title 'algorithm = ring'") && !ContainsSubstring("keyentry"));
    REQUIRE(points.notes.size() == 1);
    CHECK_THAT(points.notes[0], ContainsSubstring("3 values of 'bandwidth'"));
}

TEST_CASE("pictures have the size that is wanted, in each format") {
    Points points = grid();
    PlotOptions how = options("ranks", "iteration_time_s", {"algorithm"});
    how.where = {"bandwidth = '10 Gbps'"};
    how.width_px = 480;
    how.height_px = 300;
    std::vector<std::string> notes;
    const auto script = [&](Picture picture) { return plot_script(*points.table, how, picture, notes).text; };
    CHECK_THAT(script(Picture::svg), ContainsSubstring("svg size 480,300"));
    CHECK_THAT(script(Picture::png), ContainsSubstring("pngcairo size 960,600"));
    const std::string pdf = drawn(script(Picture::pdf));
    CHECK(pdf.starts_with("%PDF"));
    CHECK_THAT(pdf, ContainsSubstring("/MediaBox [ 0 0 360 225 ]"));  // 480 and 300 of 96 to the inch, in 1/72 inch
    CHECK_THAT(pdf, ContainsSubstring("/CreationDate (D:19700101000000"));
    CHECK(pdf == drawn(script(Picture::pdf)));
}

TEST_CASE("values of the legend have units", "[memory]") {
    std::vector<Case> cases;
    for (const int i : {1, 4})
        cases.push_back({{{"training.ranks", std::to_string(i)}},
                         fmt::format(R"({{"iteration_time_s":{},"bytes_sent":{},"bus_bandwidth_Bps":{}}})", 0.002 * i,
                                     65536 * i, 12.5e9 * i)});
    Points points(cases);
    CHECK_THAT(points.script(options("ranks", "iteration_time_s", {"bytes_sent"})),
               ContainsSubstring("title '64 KiB'") && ContainsSubstring("title '256 KiB'"));
    CHECK_THAT(points.script(options("ranks", "iteration_time_s", {"bus_bandwidth_Bps"})),
               ContainsSubstring("title '12.5 GB/s'") && ContainsSubstring("title '50 GB/s'"));
    CHECK_THAT(points.script(options("ranks", "bytes_sent", {"iteration_time_s"})), ContainsSubstring("title '2 ms'"));
}

TEST_CASE("labels that are given keep the unit of the axis") {
    Points points = grid();
    PlotOptions labelled = options("ranks", "iteration_time_s");
    labelled.x_label = "GPUs";
    labelled.y_label = "time";
    const std::string script = points.script(labelled);
    CHECK_THAT(script, ContainsSubstring("set xlabel 'GPUs'\n") && ContainsSubstring("set ylabel 'time (ms)'\n"));
    // A setting on the vertical axis has the unit that it is written with.
    CHECK_THAT(points.script(options("ranks", "bandwidth")), ContainsSubstring("set ylabel 'bandwidth (GB/s)'\n"));
}

TEST_CASE("a logarithmic axis over many decades has a unit at each tick", "[memory]") {
    std::vector<Case> cases;
    for (const int ranks : {2, 4, 8})
        cases.push_back({{{"training.ranks", std::to_string(ranks)}}, time_of(2e-6 * std::pow(ranks, 6))});
    Points points(cases);
    PlotOptions logarithmic = options("ranks", "iteration_time_s");
    logarithmic.log_y = true;  // from 128 us to 0.52 s
    CHECK_THAT(points.script(logarithmic),
               ContainsSubstring("'100 us' 0.0001, '1 ms' 0.001, '10 ms' 0.01, '100 ms' 0.1, '1 s' 1)") &&
                   ContainsSubstring("set ylabel 'iteration time'\n"));
}

TEST_CASE("lines that coincide are told") {
    std::vector<Case> cases;
    for (const auto& [name, factor] : {std::pair{"ring", 1.0}, {"tree", 2.0}, {"segmented", 1.004}, {"star", 2.1}})
        for (const int ranks : {2, 4})
            cases.push_back(
                {{{"training.algorithm", name}, {"training.ranks", std::to_string(ranks)}}, time_of(factor * ranks)});
    Points points(cases);
    points.script(options("ranks", "iteration_time_s", {"algorithm"}));
    CHECK(points.notes == std::vector<std::string>{"lines that coincide within 0.5 %: ring = segmented"});
}

TEST_CASE("a long legend is below the curves") {
    Points points = grid();
    CHECK_THAT(points.script(options("ranks", "iteration_time_s", {"algorithm"})),
               ContainsSubstring("set key outside right"));
    CHECK_THAT(points.script(options("ranks", "iteration_time_s", {"algorithm", "'a long text about ' || bandwidth"})),
               ContainsSubstring("set key outside below") &&
                   ContainsSubstring("size 960,700"));  // 6 lines, and two for the title
}

TEST_CASE("more curves than a reader can distinguish are drawn with a note") {
    std::vector<Case> cases;
    for (int i = 0; i < 20; ++i)
        cases.push_back(
            {{{"training.ranks", "2"}, {"training.batch_per_rank", std::to_string(i + 1)}}, time_of(i + 1)});
    Points points(cases);
    CHECK_THAT(points.script(options("ranks", "iteration_time_s", {"batch_per_rank"})), ContainsSubstring("$curve19 "));
    REQUIRE(points.notes.size() == 1);
    CHECK_THAT(points.notes[0], ContainsSubstring("20 curves"));
}

TEST_CASE("no text is interpreted by gnuplot", "[memory]") {
    const std::string evil = "it's 100% `touch pwned` @x {a}_b^c \"q\" \\ \n$curve0 <&>\xff";
    Points points({{{{"training.algorithm", evil}, {"training.ranks", "2"}}, time_of(1)}});
    PlotOptions titled = options("algorithm", "iteration_time_s", {"algorithm"});
    titled.title = evil;
    const std::string picture = drawn(points.script(titled));
    CHECK_THAT(picture, ContainsSubstring("it's 100% `touch pwned` @x {a}_b^c") && ContainsSubstring("&lt;&amp;>"));
    CHECK_FALSE(fs::exists("pwned"));
    titled.title = "'quoted' ''twice''";
    CHECK_THAT(drawn(points.script(titled)), ContainsSubstring(">'quoted' ''twice''<"));
}

TEST_CASE("a picture is XML, whatever its texts", "[memory]") {
    struct Texts : XmlHandler {
        std::string all;
        void open(const XmlTag&) override {}
        void close(std::string_view, std::string_view text) override { all += std::string(text) + '\n'; }
    };
    // Ends of sections, an entity, a control character, one that changes directions, and a code that XML cannot hold.
    const std::string evil =
        "a]]>b]]]]>> <![CDATA[x]]> &amp; <!-- \x1b[1m\x7f \xe2\x80\xae \xef\xbf\xbe \xf0\x9f\x98\x80";
    const std::string shown = "a]]>b]]]]>> <![CDATA[x]]> &amp; <!--  [1m  ? ? \xf0\x9f\x98\x80";
    Points points({{{{"training.algorithm", evil}, {"training.ranks", "2"}}, time_of(1)}});
    PlotOptions how = options("algorithm", "iteration_time_s", {"algorithm"});
    how.title = evil + " T";
    how.x_label = evil + " X";
    how.y_label = evil + " Y";
    Texts texts;
    parse_xml(drawn(points.script(how)), texts);
    for (const char* end : {"\n", " T\n", " X\n", " Y ("}) CHECK_THAT(texts.all, ContainsSubstring("\n" + shown + end));
}

TEST_CASE("gnuplot draws the same bytes every time, without a date") {
    Points points = grid();
    const std::string script = points.script(options("ranks", "iteration_time_s", {"algorithm"}));
    const std::string picture = drawn(script);
    CHECK_THAT(picture, ContainsSubstring("<svg") && ContainsSubstring("</svg>"));
    CHECK(picture == drawn(script));
}

TEST_CASE("errors of gnuplot are errors, of any length") {
    CHECK_THROWS_AS(drawn("nonsense\n"), OutputError);
    // The text is larger than a socket's buffer, and gnuplot reads only its beginning.
    CHECK_THROWS_AS(drawn("nonsense\n" + std::string(8'000'000, '#')), OutputError);
}
