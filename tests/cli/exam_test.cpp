#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "sim/base/units.hpp"
#include "sim/lesson/arithmetic.hpp"
#include "sim/lesson/markdown_table.hpp"
#include "tests/catch.hpp"
#include "tests/cli/handout.hpp"
#include "tests/cli/typist.hpp"

// Tests `syncline lesson N --variant SEED`: in each solution the simulation's numbers are those of the formulas.

using namespace syncline;
using namespace syncline::test;
using nlohmann::json;

namespace {

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::string solution_of(const std::string& lesson, const std::string& seed) {
    const Outcome outcome = run_here({"lesson", lesson, "--variant", seed, "--handout", "--answers"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(outcome.err.empty());
    return outcome.out;
}

/// Returns "ms" of "formula (ms)"; "" without a unit.
std::string unit_of(const std::string& heading) {
    const std::size_t begin = heading.find('(');
    return begin == heading.npos ? "" : heading.substr(begin + 1, heading.find(')') - begin - 1);
}

/// Returns the value of "1.2 ms", "12 GB", "5.2 %" or "3".
double value_of(const std::string& cell) {
    for (const Dimension dimension : {Dimension::seconds, Dimension::bytes})
        if (const Quantity quantity = parse_quantity(cell, dimension); quantity.value) return *quantity.value;
    return std::stod(cell) / (cell.ends_with(" %") ? 100 : 1);
}

/// Compares each number of the answer with the formula in the next column. Returns how many there are.
int compare_with_formulas(const std::string& solution) {
    const std::string between = " ± ";
    const lesson::Table answers = lesson::tables(solution, "Solution").at(0);
    const std::vector<std::string>& header = answers.front().cells;
    int numbers = 0;
    for (std::size_t i = 1; i < answers.size(); ++i) {
        for (std::size_t k = 2; k < header.size(); ++k) {
            if (!header[k].starts_with("formula")) continue;
            const std::string& cell = answers[i].cells.at(k - 1);
            const std::string unit = unit_of(header[k]);
            CAPTURE(answers[i].cells[0], header[k - 1], cell, answers[i].cells.at(k));
            const std::size_t sign = cell.find(between);
            const double tolerance = sign == cell.npos ? 0.001 : value_of(cell.substr(sign + between.size()));
            CHECK(tolerance <= 0.005);
            const double formula =
                lesson::value_of(answers[i].cells.at(k)) * value_of("1" + (unit.empty() ? "" : " " + unit));
            CHECK(value_of(cell.substr(0, sign)) == Approx(formula).epsilon(tolerance));
            ++numbers;
        }
    }
    return numbers;
}

}  // namespace

TEST_CASE("exam: the simulation of each lesson gives the numbers of the formulas, whatever the seed") {
    int numbers = 0;
    for (const Handout& one : handouts()) {
        CAPTURE(one.name);
        for (int seed = 1; seed <= 20; ++seed) {
            CAPTURE(seed);
            numbers += compare_with_formulas(solution_of(one.number, std::to_string(seed)));
        }
    }
    CHECK(numbers >= 20 * 20 * 3);
    WARN(numbers << " numbers of exams are those of their formulas");
}

TEST_CASE("exam: the command of a solution simulates its numbers") {
    for (const Handout& one : handouts()) {
        CAPTURE(one.name);
        const std::string solution = solution_of(one.number, "4294967295");
        const std::size_t begin = solution.find("## Solution"), end = solution.find("## Typical mistakes");
        REQUIRE(end != solution.npos);
        const std::string answer = solution.substr(begin, end - begin);
        std::vector<std::string> arguments = command(answer);
        arguments.insert(arguments.end(), {"--format", "json"});
        const Outcome run = run_here(arguments);
        CAPTURE(run.err);
        REQUIRE(run.status == 0);
        for (const Statement& number : statements(answer)) {
            CAPTURE(number.name, number.field);
            CHECK(found(json::parse(run.out), number) == Approx(number.value).epsilon(5.1e-4));  // four digits
        }
    }
}

TEST_CASE("exam: a sheet has the question with blanks, the solution follows, and a seed gives the same bytes",
          "[memory]") {
    for (const char* const lesson : {"2", "13"}) {
        const std::string sheet = run_here({"lesson", lesson, "--variant", "42", "--handout"}).out;
        CHECK(holds(sheet, "# Lesson " + std::string(lesson) + ", variant 42: "));
        CHECK(sheet == run_here({"lesson", lesson, "--variant", "42", "--handout"}).out);
        CHECK(sheet != run_here({"lesson", lesson, "--variant", "43", "--handout"}).out);
        const std::string both = solution_of(lesson, "42");
        CHECK(both == solution_of(lesson, "42"));
        CHECK(both.starts_with(sheet + "\n## Solution\n"));
        // Each answer is blank.
        const lesson::Table blank = lesson::tables(sheet, "Answer").at(0);
        for (std::size_t i = 1; i < blank.size(); ++i)
            for (std::size_t k = 1; k < blank[i].cells.size(); ++k) CHECK(blank[i].cells[k].starts_with("……"));
        // Without a terminal, and without --predict, both are printed at once.
        CHECK(run_here({"lesson", lesson, "--variant", "42"}).out == both);
    }
    const TempDir directory;
    const fs::path file = directory / "sheet.md";
    CHECK(run_here({"lesson", "2", "--variant", "7", "--handout", "--out", file.string()}).status == 0);
    CHECK(read_file(file) == run_here({"lesson", "2", "--variant", "7", "--handout"}).out);
}

TEST_CASE("exam: a prediction is compared with the variant's answer, and kept under its seed", "[memory]") {
    // Lesson 2, seed 42: c = 800 ms, S/B = 160 ms, α = 2 ms. One phase only: 800 + 3·42, 800 + 7·22, 800 + 15·12.
    const TempDir directory;
    const fs::path file = directory / "mine.csv";
    Typist typist({"2", "--variant", "42", "--predictions", file.string(), "--no-pause"});
    for (const char* const time : {"0.926 s", "0.954 s", "0.98 s", ""}) typist.type(time);
    const std::string all = typist.shown("nothing that is there");
    CAPTURE(all);
    CHECK(typist.status() == 0);
    CHECK(holds(all, "Your prediction is the model \"one phase only\"."));
    CHECK(all.find("## Question") < all.find("ring-4: "));
    CHECK(all.find("ring-4: ") < all.find("## Solution"));
    CHECK(read_file(file) ==
          "lesson,row,predicted_s,answer_s,error\n"
          "ring-allreduce:42,ring-4,0.926,1.052,-0.1198\n"   // 800 + 6·(2 + 40)
          "ring-allreduce:42,ring-8,0.954,1.108,-0.1390\n"   // 800 + 14·(2 + 20)
          "ring-allreduce:42,ring-16,0.98,1.16,-0.1552\n");  // 800 + 30·(2 + 10)

    const Outcome ended = run_here({"lesson", "2", "--variant", "42", "--predict"});
    CHECK(ended.status == 130);
    CHECK_FALSE(holds(ended.out, "## Solution"));
}

TEST_CASE("exam: a seed is a whole number of 32 bits, of a lesson that has an exam", "[memory]") {
    for (const char* const seed : {"-1", "4294967296", "1.5", "ring", ""}) {
        const Outcome wrong = run_here({"lesson", "2", "--handout", "--variant", seed});
        CAPTURE(seed, wrong.err);
        CHECK(wrong.status == 2);
        CHECK(holds(wrong.err, "is not a whole number from 0 to 4294967295"));
        CHECK(wrong.out.empty());
    }
    CHECK(run_here({"lesson", "--variant", "1"}).status == 2);
    const TempDir own;
    own.write("scenarios/lessons/01-own.md",
              "# Why?\n## Question\n## Prediction\n## Run\n## Answer\n## Exercises\n## Answers to the exercises\n");
    own.write("scenarios/lessons/01-own.yaml",
              "platform: {device: {flops: 1 Tflops, memory_bandwidth: 1 TBps}, fabric: {bandwidth: 1 GBps, latency: 1 "
              "us}}\ncollective: {operation: allreduce, algorithm: ring, ranks: 2, bytes: 1 MB}\n");
    const Outcome none = run_in(own, {"lesson", "1", "--variant", "1"});
    CHECK(none.status == 3);
    CHECK(holds(none.err, "exam/01-own.md:1:1: error: lesson 'own' has no exam\n"));
    own.write("scenarios/lessons/exam/01-own.md",
              "## Numbers\n| name | values |\n|---|---|\n| S | 1, 2 |\n## Question\n## Settings\ncollective.rank: {S}\n"
              "## Answer\n| variant | time |\n|---|---|\n| base | |\n");
    const Outcome key = run_in(own, {"lesson", "1", "--variant", "1"});
    CHECK(key.status == 3);
    CHECK(holds(key.err, "did you mean 'ranks'?"));
}
