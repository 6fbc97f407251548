#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "sim/output/cells.hpp"
#include "sim/output/columns.hpp"
#include "sim/output/field_cells.hpp"
#include "tests/catch.hpp"

using namespace syncline;
using namespace syncline::text;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::size_t widest(const std::string& text) {
    std::size_t most = 0;
    for (const std::string& line : lines_of(text)) most = std::max(most, line.size());
    return most;
}

std::vector<Column> columns() {
    return {{"variant", "variant", Shown::always, Align::right, false, {"ring", "tree"}},
            {"ranks", "ranks", Shown::if_varied, Align::right, false, {"32", "32"}},
            {"time", "iteration_time_s", Shown::always, Align::right, false, {"1 s", "1 s"}},
            {"idle", "idle_time_s", Shown::if_any, Align::right, false, {"0 s", "0 s"}},
            {"closed form", "closed_form_s", Shown::if_any, Align::right, false, {"-", "2 s"}},
            {"nodes", "nodes", Shown::if_chosen, Align::right, false, {"4", "8"}}};
}

}  // namespace

TEST_CASE("columns: those that say nothing are left out, and what all rows share is told once", "[memory]") {
    const Table table(columns(), {});
    CHECK(table.text() == "variant  time  closed form\nring      1 s            -\ntree      1 s          2 s\n");
    CHECK(table.alike() == "ranks 32");
    std::vector<Column> single = columns();
    for (Column& column : single) column.cells.resize(1);
    CHECK(Table(single, {}).alike().empty());  // a single row is not compared with others
    CHECK(Table(single, {}).list() == "variant  ring\nranks    32\ntime     1 s\n");
}

TEST_CASE("columns: any can be chosen by heading or by field, with the unit or without", "[memory]") {
    for (const char* name : {"idle", "idle_time_s", "idle_time", "Idle Time"}) {
        CAPTURE(name);
        require_columns(columns(), {name});
        CHECK(lines_of(Table(columns(), {80, {"nodes", name}}).text())[0] == "variant  nodes  idle");
    }
    CHECK_THROWS_WITH(require_columns(columns(), {"nodse"}),
                      "there is no column 'nodse'\n  hint: did you mean 'nodes'?");
    CHECK_THROWS_AS(require_columns(columns(), {"time", ""}), std::invalid_argument);
}

TEST_CASE("columns: tables are as wide as their layout, and no cell is cut or lost", "[memory]") {
    std::vector<Row> rows{{"name of the row", "number", "another number", "a further number", "remark"}};
    for (int row = 0; row < 3; ++row)
        rows.push_back({"row-" + std::to_string(row), "1234567", "2345678", "3456789",
                        "a long remark that has many words, so that it must be broken into several lines"});
    for (const std::size_t width : {30U, 40U, 60U, 80U, 132U}) {
        CAPTURE(width);
        const std::string text = aligned(rows, 1, {width, {}});
        CHECK(widest(text) <= width);
        for (const char* part : {"row-0", "row-1", "row-2", "1234567", "2345678", "3456789", "remark", "several"})
            CHECK(text.find(part) != std::string::npos);
    }
    const std::string wide = aligned(rows, 1, {0, {}});
    CHECK(lines_of(wide).size() == 4);
    CHECK(widest(wide) > 132);
}

TEST_CASE("columns: stacked tables repeat the first column, or number rows that it does not name", "[memory]") {
    std::vector<Column> all{{"name"}};
    for (const char* heading : {"first", "second", "third"}) all.push_back({heading});
    for (const char* name : {"a", "b"}) add_row(all, {name, "1111111111", "2222222222", "3333333333"});
    const auto heads = [&] {
        std::string text;
        for (const std::string& line : lines_of(Table(all, {30, {}}).text()))
            if (line.find("name") != std::string::npos || line.find("row") != std::string::npos) text += line + "\n";
        return text;
    };
    CHECK(heads() == "name       first      second\nname       third\n");
    all.front().cells = {"a", "a"};
    CHECK(heads() == "row  name       first\nrow      second       third\n");
}

TEST_CASE("columns: a group of columns is not divided if a table of its own has room for it", "[memory]") {
    std::vector<Column> all{{"name"}, {"one"}, {"more"}, {"two"}, {"three"}};
    all[3].begins = true;
    add_row(all, {"a", "1", "1", "2222222222", "3333333333"});
    const std::vector<std::string> lines = lines_of(Table(all, {30, {}}).text());
    CHECK(lines.at(0) == "name  one  more");
    CHECK(lines.at(3) == "name         two       three");
}

TEST_CASE("columns: lines are broken after spaces, else after punctuation, else anywhere", "[memory]") {
    using Lines = std::vector<std::string>;
    CHECK(broken("one two three", 7) == Lines{"one two", "three"});
    CHECK(broken("one-two-three", 8) == Lines{"one-two-", "three"});
    CHECK(broken("abcdefgh", 3) == Lines{"abc", "def", "gh"});
    CHECK(broken("αβγ δε", 3) == Lines{"αβγ", "δε"});
    CHECK(broken("", 5) == Lines{""});
}

TEST_CASE("field cells: headings are spelled out, and have a unit only if the cells have none", "[memory]") {
    CHECK(heading_of("completion_time_s") == "completion time");
    CHECK(heading_of("bus_bandwidth_Bps") == "bus bandwidth");
    CHECK(heading_of("throughput_samples_per_s") == "throughput (samples/s)");
    CHECK(heading_of("tokens_per_s") == "tokens/s");
    CHECK(heading_of("closed_form.iteration_time_s") == "closed form iteration time");
    CHECK(heading_of("iteration_time_s_deviation") == "iteration time deviation");
    CHECK(heading_of("batch_per_rank") == "batch_per_rank");  // a key, not a field
    CHECK(cell_of(0.00625, Unit::seconds) == "6.25 ms");
    CHECK(cell_of(12.5e9, Unit::bandwidth) == "12.5 GB/s");
    CHECK(cell_of(76312.6, Unit::samples_per_s) == "76313");
    CHECK(cell_of(7004.5, Unit::samples_per_s) == "7004.5");
    CHECK(cell_of(0.012344, Unit::samples_per_s) == "0.01234");
    CHECK(heading_of("time_per_sample", Unit::seconds) == "time per sample");
    CHECK(heading_of("iteration_time_s_least") == "iteration time min");
}
