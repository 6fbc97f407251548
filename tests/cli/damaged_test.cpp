#include <random>

#include "tests/catch.hpp"
#include "tests/cli/batch.hpp"

// A damaged store is an error of that file, in every verb and at any time.

using namespace syncline::test;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string noise(std::mt19937& random, std::size_t size) {
    std::string text;
    while (text.size() < size) text += static_cast<char>(random() & 0xff);
    return text;
}

/// Writes over a part of a file in place, as a failing disk does.
void overwrite(const fs::path& file, std::size_t at, const std::string& bytes) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(at)).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

constexpr std::size_t page = 4096;

/// Every verb that reads the store in `out`.
const std::vector<std::vector<std::string>> readers{
    {"results", "out"},
    {"results", "out", "--report", "page.html"},
    {"results", "merge", "out", "-o", "merged"},
    {"plot", "out", "--x", "bytes", "--y", "completion_time_s"},
    {"explore", "study.yaml", "--out", "out", "--objective", "completion_time_s"},
    {"batch", "study.yaml", "--out", "out", "--resume"},
};

/// A study whose runs take milliseconds, so that its batch can be disturbed.
struct LastingStudy : StudyBench {
    LastingStudy() : StudyBench(400) {
        write(
            "exchange.yaml",
            "platform: platform.yaml\n"
            "collective: {operation: allreduce, algorithm: segmented-ring, segment: 500 B, ranks: 16, bytes: 1 MB}\n");
    }
};

}  // namespace

TEST_CASE("damaged: a batch whose store is written over, cut or deleted under it says so and what to do") {
    std::mt19937 random(1);
    const LastingStudy pages, header, cut, gone;
    const Outcome written = disturbed(pages.batch({"--jobs", "1"}), [&](const fs::path& file) {
        const std::size_t size = fs::file_size(file) / page * page;
        overwrite(file, page, noise(random, size - page));
    });
    const Outcome unreadable = disturbed(header.batch({"--jobs", "1"}),
                                         [&](const fs::path& file) { overwrite(file, 0, noise(random, page)); });
    const Outcome shorter = disturbed(cut.batch({"--jobs", "1"}), [&](const fs::path& file) {
        fs::resize_file(file, fs::file_size(file) / 2 / page * page);
    });
    for (const Outcome& outcome : {written, unreadable, shorter}) {
        CAPTURE(outcome.err);
        CHECK(outcome.status == 4);
        CHECK_THAT(outcome.err, ContainsSubstring("out/results.db is damaged: ") &&
                                    ContainsSubstring("hint: move it away") && ContainsSubstring(".recover") &&
                                    !ContainsSubstring("400 points: 400 done"));
        CHECK_FALSE(outcome.left_behind);
    }
    const Outcome lost = disturbed(gone.batch({"--jobs", "1"}), [&](const fs::path& file) { fs::remove(file); });
    CAPTURE(lost.err);
    CHECK(lost.status == 4);
    CHECK_THAT(lost.err, ContainsSubstring("results.db"));
}

TEST_CASE("damaged: no verb takes a damaged store for a bug of its own, and none changes it") {
    const StudyBench bench(30);
    REQUIRE(run_program(bench.batch()).status == 0);
    const fs::path file = bench / "out/results.db";
    const std::string good = read_file(file);
    const std::size_t pages = good.size() / page;
    REQUIRE(pages > 4);
    std::mt19937 random(2);
    for (int i = 0; i < 12; ++i) {
        std::string bad = good;
        const std::size_t at = random() % pages * page;
        if (i % 4 == 0) bad.replace(at, page, noise(random, page));
        if (i % 4 == 1) bad.replace(at, page, page, '\0');
        if (i % 4 == 2) bad.resize(random() % good.size());
        if (i % 4 == 3) bad.replace(at + page / 2, page / 2, noise(random, page / 2));
        for (const std::vector<std::string>& verb : readers) {
            bench.write("out/results.db", bad);
            const Outcome outcome = run_in(bench, verb);
            CAPTURE(i, at, verb, outcome.err);
            CHECK(outcome.status == 4);
            CHECK_THAT(outcome.err, ContainsSubstring("results.db"));
            CHECK(read_file(file) == bad);
        }
    }
}

TEST_CASE("damaged: a store that lacks rows of any table is no empty one") {
    const StudyBench bench(3, "exclude: ['bytes = 2000']\n");
    REQUIRE(run_program(bench.batch({"--shard", "1/1"})).status == 0);
    const fs::path file = bench / "out/results.db";
    const std::string good = read_file(file);
    std::vector<std::string> tables;
    for (const Line& row : query(bench / "out", "SELECT name FROM sqlite_master WHERE type = 'table'"))
        tables.push_back(row.front());
    REQUIRE(tables.size() == 5);
    const auto refused = [&](const std::vector<std::string>& verb) {
        const std::string bad = read_file(file);
        const Outcome outcome = run_in(bench, verb);
        CAPTURE(verb, outcome.out, outcome.err);
        CHECK(outcome.status == 4);
        CHECK_THAT(outcome.err,
                   ContainsSubstring("error: out/results.db is damaged: ") && ContainsSubstring("hint: move it away"));
        CHECK(read_file(file) == bad);
    };
    for (const std::string& table : tables) {
        CAPTURE(table);
        bench.write("out/results.db", good);
        const int rows = std::stoi(value(bench / "out", "SELECT count(*) FROM " + table));
        REQUIRE(rows > 0);
        query(bench / "out", "DELETE FROM " + table);
        for (const std::vector<std::string>& verb : readers) refused(verb);
        for (int row = 0; row < rows; ++row) {
            CAPTURE(row);
            bench.write("out/results.db", good);
            query(bench / "out", "DELETE FROM " + table + " WHERE rowid = (SELECT rowid FROM " + table +
                                     " ORDER BY rowid LIMIT 1 OFFSET " + std::to_string(row) + ")");
            refused(readers.front());
        }
    }
    // What refers to missing rows is named.
    const auto says = [&](const std::string& change, const std::string& message) {
        bench.write("out/results.db", good);
        query(bench / "out", change);
        CHECK_THAT(run_in(bench, readers.front()).err, ContainsSubstring(message));
    };
    says("DELETE FROM texts", "is damaged: a part of the scenario of run ");
    says("DELETE FROM runs", "is damaged: the run of point 1 of 'study' is missing");
    says("DELETE FROM points", "is damaged: the table 'points' has 0 rows, but 2 were written");
    says("DELETE FROM attempts", "is damaged: the table 'attempts' has 0 rows, but 2 were written");
    says("DELETE FROM meta", "is damaged: its version is missing");
    bench.write("out/results.db", good);
    CHECK(run_in(bench, readers.front()).status == 0);
}
