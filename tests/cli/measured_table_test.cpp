#include "tests/cli/measured.hpp"

// Mistakes in `measured.table` that would otherwise leave out rows, or change keys, without a word.

using namespace syncline::test;
using nlohmann::json;

namespace {

struct Table : RingBench {
    /// Writes rings with the rows of a CSV file, and further keys of `table`.
    void write_table(const std::string& csv, const std::string& columns, const std::string& keys = "") const {
        write("times.csv", csv);
        write("ring.yaml",
              "platform: platform.yaml\n"
              "collective: {operation: allreduce, algorithm: ring, ranks: 2, bytes: 1 MB}\n"
              "measured:\n  source: made up\n  field: completion_time_s\n  table:\n    file: times.csv\n"
              "    value: time\n    unit: us\n    columns:\n      - {column: GPUs, key: collective.ranks}\n" +
                  columns + keys);
    }
    void refused(const std::vector<std::string>& words) const {
        const Outcome outcome = run_in(*this, {"validate", "ring.yaml"});
        CHECK(outcome.status == 3);
        for (const std::string& word : words) {
            CAPTURE(word, outcome.err);
            CHECK(says(outcome.err, word));
        }
    }
};

}  // namespace

TEST_CASE("measured table: a text to leave out that no row has is reported", "[memory]") {
    const Table bench;
    const std::string csv = "GPUs,split,note,time\n4,dev,,20\n8,excluded,,20\n";
    bench.write_table(csv, "", "    leave_out:\n      - {column: split, text: exclded}\n");
    bench.refused(
        {"ring.yaml:13:31: error: no row has the text 'exclded' in column 'split'", "did you mean 'excluded'?"});
    bench.write_table(csv, "", "    leave_out: [{column: split, text: zzzzzzzzz}]\n");
    bench.refused({"it has 'dev', 'excluded'"});
    bench.write_table(csv, "", "    leave_out: [{column: note, text: swapped}]\n");
    bench.refused({"the column is empty; remove this item"});
    // A row that an earlier item leaves out has the text all the same; a column whose texts are all empty excludes
    // none.
    bench.write_table(csv + "16,excluded,bad,20\n", "",
                      "    leave_out: [{column: split, text: excluded}, {column: note, text: bad}, {column: note}]\n");
    CHECK(run_in(bench, {"validate", "ring.yaml", "--list"}).status == 0);
    bench.write_table(csv, "", "    leave_out: [{column: note}]\n");
    CHECK(run_in(bench, {"validate", "ring.yaml", "--list"}).status == 0);
}

TEST_CASE("measured table: leaving out every row is reported", "[memory]") {
    const Table bench;
    bench.write_table("GPUs,split,time\n4,dev,20\n8,excluded,20\n", "", "    leave_out: [{column: split}]\n");
    bench.refused({"ring.yaml:12:16: error: every row of the table is left out"});
}

TEST_CASE("measured table: words have texts, and an unknown one is reported with those that there are", "[memory]") {
    const Table bench;
    const auto words = [&](const std::string& list, const std::string& cell) {
        bench.write_table("GPUs,how,time\n4," + cell + ",20\n",
                          "      - {column: how, key: collective.algorithm, words: " + list + "}\n");
    };
    words("{}", "ring");
    bench.refused({"ring.yaml:12:57: error: 'words' has no words"});
    words("{a ring: }", "a ring");
    bench.refused({"the word 'a ring' has no text as its value"});
    words("{a ring: [ring]}", "a ring");
    bench.refused({"the word 'a ring' has no text as its value"});
    words("{a ring: ring, a tree: double-binary-tree}", "a rnig");
    bench.refused({"times.csv:2:3: error: 'words' has no value for 'a rnig'",
                   "did you mean 'a ring'? it has those of 'a ring', 'a tree'"});
    words("{\"off\": \"ring\"}", "off");
    CHECK(run_in(bench, {"validate", "ring.yaml"}).status == 0);
}

TEST_CASE("measured table: an empty cell is a dash in names and no setting, and a tilde is refused", "[memory]") {
    const Table bench;
    const std::string size = "      - {column: size, key: collective.bytes, unit: KB}\n";
    bench.write_table("GPUs,size,time\n4,,20\n,8,20\n", size);
    const json rows = bench.json_of({"validate", "ring.yaml", "--list"}).at("points").at(0).at("rows");
    CHECK(rows[0]["name"] == "base 4/-");
    CHECK(rows[0]["settings"] == json{{"collective.ranks", "4"}});
    CHECK(rows[1]["name"] == "base -/8 KB");
    CHECK(rows[1]["settings"] == json{{"collective.bytes", "8 KB"}});
    CHECK(bench.json_of({"validate", "ring.yaml"}).at("points").at(0).at("rows")[0]["settings"] == rows[0]["settings"]);
    CHECK(says(run_in(bench, {"validate", "ring.yaml", "--format", "csv"}).out, ",collective.ranks=4\n"));
    bench.write_table("GPUs,size,time\n4,~,20\n", size);
    bench.refused({"times.csv:2:3: error: '~' is not a value", "an empty cell leaves the key"});
}

TEST_CASE("validate: errors below the spread are counted among the rows whose source states one") {
    const RingBench bench;
    // 1 % and 10 % too fast.
    const std::string rows = RingBench::row(2, 8'000'000, false, 1.01) + RingBench::row(4, 8'000'000, false, 1.1);
    const std::vector<std::string> command{"validate", "ring.yaml",
                                           "--set",    "platform.fabric.bandwidth=2.5 GBps",
                                           "--set",    "platform.fabric.latency=3 us"};
    bench.scenario(RingBench::series(rows), "");
    CHECK_FALSE(says(run_in(bench, command).out, "below the source's spread"));
    const json silent = bench.json_of(command);
    CHECK(silent["with_noise"] == 0);
    CHECK(silent["below_noise"] == 0);
    bench.scenario(RingBench::series(rows), "");
    bench.write("ring.yaml", read_file(bench / "ring.yaml") + "  noise: 2 %\n");
    CHECK(says(run_in(bench, command).out, "below the source's spread: 1 of 2\n"));
    CHECK(bench.json_of(command)["with_noise"] == 2);
}
