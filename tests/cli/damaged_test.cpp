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

}  // namespace

TEST_CASE("damaged: a batch whose store is written over, cut or deleted under it says so and what to do") {
    std::mt19937 random(1);
    const StudyBench pages(400), header(400), cut(400), gone(400);
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
    const std::vector<std::vector<std::string>> verbs{
        {"results", "out"},
        {"results", "out", "--report", "page.html"},
        {"results", "merge", "out", "-o", "merged"},
        {"plot", "out", "--x", "bytes", "--y", "completion_time_s"},
        {"explore", "study.yaml", "--out", "out", "--objective", "completion_time_s"},
        {"batch", "study.yaml", "--out", "out", "--resume"},
    };
    std::mt19937 random(2);
    for (int i = 0; i < 12; ++i) {
        std::string bad = good;
        const std::size_t at = random() % pages * page;
        if (i % 4 == 0) bad.replace(at, page, noise(random, page));
        if (i % 4 == 1) bad.replace(at, page, page, '\0');
        if (i % 4 == 2) bad.resize(random() % good.size());
        if (i % 4 == 3) bad.replace(at + page / 2, page / 2, noise(random, page / 2));
        for (const std::vector<std::string>& verb : verbs) {
            bench.write("out/results.db", bad);
            const Outcome outcome = run_in(bench, verb);
            CAPTURE(i, at, verb, outcome.err);
            CHECK(outcome.status == 4);
            CHECK_THAT(outcome.err, ContainsSubstring("results.db"));
            CHECK(read_file(file) == bad);
        }
    }
}
