#include <algorithm>
#include <sstream>
#include <utility>

#include "tests/catch.hpp"
#include "tests/cli/handout.hpp"
#include "tests/cli/typist.hpp"

// Tests `syncline lesson` and the handouts: every number in the tables of their answers is compared with a simulation.

using namespace syncline::test;
using nlohmann::json;

namespace {

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

json simulated(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--format", "json"});
    const Outcome outcome = run_here(std::move(arguments));
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    return json::parse(outcome.out);
}

/// Compares all of them, and returns how many there are.
std::size_t compare(const json& result, const std::vector<Statement>& stated) {
    REQUIRE_FALSE(stated.empty());
    for (const Statement& one : stated) {
        CAPTURE(one.name, one.field, one.bytes.value_or(0));
        CHECK(one.tolerance <= 0.01 * one.value + 1e-9);
        CHECK(found(result, one) == Approx(one.value).margin(one.tolerance).epsilon(0));
    }
    return stated.size();
}

/// Two files of a lesson that is not shipped.
struct OwnLesson : TempDir {
    explicit OwnLesson(const std::string& handout) {
        write("scenarios/lessons/01-own.md", handout);
        write("scenarios/lessons/01-own.yaml",
              "platform: {device: {flops: 1 Tflops, memory_bandwidth: 1 TBps}, fabric: {bandwidth: 1 GBps, latency: 1 "
              "us}}\n"
              "collective: {operation: allreduce, algorithm: ring, ranks: 2, bytes: 1 MB}\n"
              "expect: [{variant: base, field: completion_time_s, value: 1, tolerance: 1 %, source: wrong}]\n");
    }
};

const std::string sections =
    "## Question\n## Prediction\n## Run\n## Answer\n## Exercises\n## Answers to the exercises\n";

}  // namespace

TEST_CASE("lesson: without a name all lessons are listed", "[memory]") {
    const Outcome list = run_here({"lesson"});
    CHECK(list.status == 0);
    CHECK(list.err.empty());
    const std::string readme = read_file(shipped("scenarios/lessons/README.md"));
    // Long questions are broken into lines.
    std::istringstream stream(list.out);
    std::string words;
    for (std::string word; stream >> word;) words += word + " ";
    const std::vector<Handout> all = handouts();
    REQUIRE(all.size() == 20);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Handout& one = all[i];
        CAPTURE(one.name);
        CHECK(one.number == std::to_string(i + 1));
        CHECK(holds(words, " " + one.number + " " + one.name + " " + one.title + " "));
        CHECK(holds(readme, "| [" + one.number + " " + one.name + "](" + one.file.filename().string() + ") | " +
                                one.title + " |\n"));
    }
}

TEST_CASE("lesson: every lesson runs, and the statements of its answer are true") {
    for (const Handout& one : handouts()) {
        CAPTURE(one.name);
        const Outcome lesson = run_here({"lesson", one.number});
        CAPTURE(lesson.err);
        REQUIRE(lesson.status == 0);
        // Without a terminal nobody is asked to press a key.
        CHECK(lesson.err.empty());
        const Outcome run = run_here({"run", one.scenario(), "--check"});
        CHECK(run.status == 0);
        std::size_t at = 0;
        for (const std::string& part :
             {"# " + one.title + "\n", one.section("Question"), one.section("Prediction"), one.section("Run"), run.out,
              one.section("Answer"), one.section("Exercises"), one.section("Answers to the exercises"),
              one.section("Typical mistakes"), one.section("Picture"), one.section("At a real machine")}) {
            at = lesson.out.find(part, at);
            CAPTURE(part);
            REQUIRE(at != std::string::npos);
            at += part.size();
        }
        CHECK(at == lesson.out.size());
        CHECK(command(one.section("Run")) == std::vector<std::string>{"run", one.scenario(), "--check"});
    }
}

TEST_CASE("lesson: handout and scenario expect the same numbers, and the simulation gives them") {
    std::size_t numbers = 0;
    for (const Handout& one : handouts()) {
        CAPTURE(one.name);
        const json result = simulated({"run", one.scenario(), "--check"});
        const std::vector<Statement> stated = statements(one.section("Answer"));
        numbers += compare(result, stated);
        const json checks = result.at("checks");
        CHECK(checks.size() == stated.size());
        for (const Statement& number : stated) {
            CAPTURE(number.name, number.field, number.value);
            const auto same = std::find_if(checks.begin(), checks.end(), [&](const json& check) {
                return check.at("variant") == number.name && check.at("field") == number.field &&
                       check.at("bytes") == (number.bytes ? json(*number.bytes) : json());
            });
            REQUIRE(same != checks.end());
            CHECK(same->at("value").get<double>() == Approx(number.value).epsilon(1e-12));
            CHECK(same->at("tolerance").get<double>() == Approx(number.tolerance).epsilon(1e-9));
            CHECK(same->at("ok") == true);
        }
    }
    WARN(numbers << " numbers of the answers compared with simulations");
}

TEST_CASE("lesson: the statements in the answers to the exercises are true") {
    std::size_t numbers = 0;
    for (const Handout& one : handouts()) {
        const std::vector<std::string> exercises = items(one.section("Exercises"));
        const std::vector<std::string> answers = items(one.section("Answers to the exercises"));
        CAPTURE(one.name);
        CHECK(exercises.size() >= 2);
        REQUIRE(exercises.size() == answers.size());
        for (std::size_t i = 0; i < exercises.size(); ++i) {
            CAPTURE(exercises[i]);
            numbers += compare(simulated(command(exercises[i])), statements(answers[i]));
        }
    }
    WARN(numbers << " numbers of the exercises compared with simulations");
}

TEST_CASE("lesson: the measurements at its end are those of the source, and predictions are as near as it says") {
    int lessons = 0;
    for (const Handout& one : handouts()) {
        const std::string section = one.section("At a real machine");
        if (section.empty()) continue;
        ++lessons;
        CAPTURE(one.name);
        const std::vector<std::string> arguments = command(section);
        REQUIRE(arguments.front() == "validate");
        const json points = simulated(arguments).at("points");
        const std::vector<Measurement> stated = measurements(section);
        CHECK_FALSE(stated.empty());
        for (const Measurement& measured : stated) {
            CAPTURE(measured.row);
            json found;
            for (const json& point : points)
                for (const json& row : point.at("rows"))
                    if (row.at("name") == measured.row) found = row;
            REQUIRE(found.is_object());
            CHECK(found.at("measured").get<double>() == Approx(measured.measured).epsilon(0.005));
            CHECK(std::abs(found.at("error").get<double>()) < measured.error_below);
            CHECK(measured.error_below <= 0.25);
        }
    }
    CHECK(lessons == 10);
}

TEST_CASE("lesson: it is found by name or number, or given as a handout") {
    for (const Handout& one : handouts()) {
        CAPTURE(one.name);
        for (const std::string& word : {one.number, one.name, "0" + one.number, one.file.stem().string()}) {
            const Outcome handout = run_here({"lesson", word, "--handout"});
            CHECK(handout.status == 0);
            CHECK(handout.out == "# " + one.title + "\n\n## Question\n" + one.section("Question") + "## Prediction\n" +
                                     one.section("Prediction") + "## Run\n" + one.section("Run") + "## Exercises\n" +
                                     one.section("Exercises"));
            CHECK(handout.err.empty());
        }
        CHECK(run_here({"lesson", one.number, "--handout", "--answers"}).out == one.text);
    }
    CHECK(run_here({"lesson", "1", "--answers"}).status == 2);
    CHECK(run_here({"lesson", "--handout"}).status == 2);
    CHECK(run_here({"lesson", "--no-pause"}).status == 2);
    CHECK(run_here({"lesson", "1", "--no-pause", "--handout"}).status == 2);
    CHECK(run_here({"lesson", "1", "--no-pause"}).out == run_here({"lesson", "1"}).out);
}

TEST_CASE("lesson: a handout is written as Markdown, HTML or PDF by other programs", "[memory]") {
    // The stand-ins write what they are given, so that the test needs neither pandoc nor a browser.
    const TempDir directory, pandoc, both;
    const std::string converts =
        "#!/bin/sh\nfor word; do case $word in --output=*) out=${word#*=};; --resource-path=*) folder=${word#*=};; -*) "
        ";; "
        "*) in=$word;; esac; done\n"
        "{ echo \"<html> $folder\"; /bin/cat \"$in\"; } > \"$out\"\n";
    const std::string prints =
        "#!/bin/sh\nfor word; do case $word in --print-to-pdf=*) out=${word#*=};; file:*) in=${word#file://};; esac; "
        "done\n"
        "{ echo '/CreationDate (D:20261128204500'; /bin/cat \"$in\"; } > \"$out\"\n";
    for (const fs::path& file : {pandoc.write("pandoc", converts), both.write("pandoc", converts),
                                 both.write("chromium", prints), both.write("temporary/note", "")})
        fs::permissions(file, fs::perms::owner_all);
    const auto write = [&](const std::string& path, const std::string& name, bool answers) {
        setenv("PATH", path.c_str(), 1);
        std::vector<std::string> arguments{"lesson", "1", "--handout", "--out", (directory / name).string()};
        if (answers) arguments.emplace_back("--answers");
        return run_here(std::move(arguments));
    };
    setenv("TMPDIR", (both / "temporary").c_str(), 1);
    const std::string whole = read_file(shipped("scenarios/lessons/01-parameter-server.md"));
    const std::string sheet = run_here({"lesson", "1", "--handout"}).out;
    const std::string page = "<html> " + shipped("scenarios/lessons") + "\n";

    CHECK(write("/nowhere", "sheet.md", false).status == 0);
    CHECK(read_file(directory / "sheet.md") == sheet);
    CHECK(write(pandoc.path(), "sheet.html", true).status == 0);
    CHECK(read_file(directory / "sheet.html") == page + whole);
    const Outcome print = write(both.path(), "sheet.pdf", false);
    CAPTURE(print.err);
    CHECK(print.status == 0);
    CHECK(print.out.empty());
    CHECK(read_file(directory / "sheet.pdf") == "/CreationDate (D:19700101000000\n" + page + sheet);

    // What fails leaves the file as it was.
    const Outcome no_pandoc = write("/nowhere", "sheet.html", false);
    CHECK(no_pandoc.status == 4);
    CHECK(no_pandoc.err ==
          "error: pandoc is not installed\n  hint: install pandoc, or write Markdown: --out NAME.md\n");
    const Outcome no_browser = write(pandoc.path(), "sheet.pdf", true);
    CHECK(no_browser.status == 4);
    CHECK(holds(no_browser.err, "error: Chromium, which prints PDF, is not installed\n  hint: install chromium"));
    pandoc.write("pandoc", "#!/bin/sh\nexit 3\n");
    const Outcome fails = write(pandoc.path(), "sheet.html", false);
    CHECK(fails.status == 4);
    CHECK(fails.err == "error: pandoc cannot convert this handout\n");
    CHECK(read_file(directory / "sheet.html") == page + whole);
    CHECK(holds(read_file(directory / "sheet.pdf"), sheet));
    const Outcome unknown = write(both.path(), "sheet.docx", false);
    CHECK(unknown.status == 2);
    CHECK(holds(unknown.err, "sheet.docx' must end with .md, .html or .pdf"));
    CHECK(run_here({"lesson", "1", "--out", "sheet.md"}).status == 2);
    CHECK(directory.list() == std::vector<std::string>{"sheet.html", "sheet.md", "sheet.pdf"});
    CHECK(both.list() == std::vector<std::string>{"chromium", "pandoc", "temporary", "temporary/note"});
}

TEST_CASE("lesson: a terminal asks for a prediction, and waits before the answers to the exercises", "[memory]") {
    Typist typist("1");
    const std::string asked = typist.shown("  workers-2: ");
    CAPTURE(asked);
    CHECK(holds(asked, "## Prediction"));
    CHECK(asked.ends_with("  workers-2: "));
    CHECK_FALSE(holds(asked, "T(N)"));
    typist.type("1.2");
    CHECK(holds(typist.shown("  workers-2: "), "1.2 has no unit; a number and a unit, such as 1.2 s or 800 ms"));
    typist.type("-1 s");
    CHECK(holds(typist.shown("  workers-2: "), "A time is positive"));
    typist.type("1.2 s");
    typist.shown("  workers-4: ");
    typist.type("1200 ms");
    typist.shown("  workers-8: ");
    typist.press_enter();
    const std::string last = typist.shown("  workers-16: ");
    CHECK(last.ends_with("  workers-16: "));
    CHECK_FALSE(holds(last, "T(N)"));
    typist.type("4.4 s");
    const std::string answered = typist.shown("for the answers to the exercises ");
    CAPTURE(answered);
    const std::size_t compared = answered.find("your prediction  predicted  answer  difference\r\n"),
                      answer = answered.find("## Answer\r\n");
    REQUIRE(compared < answer);
    REQUIRE(answer != answered.npos);
    const std::string table = answered.substr(compared, answer - compared);
    CHECK(holds(table, "1.2 s   1.2 s         0 %"));
    CHECK(holds(table, "1.2 s   1.6 s       -25 %"));
    CHECK_FALSE(holds(table, "workers-8"));
    CHECK(holds(table, "4.4 s     4 s       +10 %"));
    CHECK(holds(table, "Off by a factor of 1.1 on average.\r\n"));  // (ln 1.333 + ln 1.1)/3 = 0.128
    CHECK_FALSE(holds(answered, "## Answers to the exercises"));
    typist.press_enter();
    CHECK(holds(typist.shown("nothing that is there"), "## Answers to the exercises"));
    CHECK(typist.status() == 0);
}

TEST_CASE("lesson: the typical mistake behind a prediction is named, with its calculation", "[memory]") {
    Typist typist({"1", "--predict", "--no-pause"});
    for (const char* const time : {"1 s", "1.2 s", "1.6 s", "2.5 s"}) typist.type(time);
    const std::string all = typist.shown("nothing that is there");
    CAPTURE(all);
    CHECK(typist.status() == 0);
    CHECK(holds(all, "your prediction  predicted  answer  difference  this model\r\n"));
    CHECK(holds(all, "2.5 s     4 s       -38 %  0.8 + 16·0.1 = 2.4 s\r\n"));
    CHECK(holds(all, "\r\nYour prediction is the model \"one direction only\".\r\n"));
}

TEST_CASE("lesson: the end of the input, or Ctrl-C, ends it without the answer", "[memory]") {
    constexpr char end_of_input = 4, ctrl_c = 3;
    for (const char key : {end_of_input, ctrl_c}) {
        Typist typist("1");
        CHECK(typist.shown("  workers-2: ").ends_with("  workers-2: "));
        typist.press(key);
        const std::string rest = typist.shown("nothing that is there");
        CAPTURE(rest);
        CHECK(holds(rest, "interrupted"));
        CHECK_FALSE(holds(rest, "## Run"));
        CHECK(typist.status() == 130);
    }
}

TEST_CASE("lesson: predictions are kept in a file that belongs to them", "[memory]") {
    const TempDir directory;
    const fs::path file = directory / "mine.csv";
    const std::string header = "lesson,row,predicted_s,answer_s,error\n";
    const auto predict = [&](const std::string& lesson, const std::vector<std::string>& lines) {
        Typist typist({lesson, "--predictions", file.string(), "--no-pause"});
        for (const std::string& line : lines) typist.type(line);
        CHECK(holds(typist.shown("nothing that is there"), "## Answers to the exercises"));
        CHECK(typist.status() == 0);
    };
    predict("1", {"1 s", "", "1.6 s", ""});
    const std::string first =
        header + "parameter-server,workers-2,1,1.2,-0.1667\nparameter-server,workers-8,1.6,2.4,-0.3333\n";
    CHECK(read_file(file) == first);
    predict("2", {"900 ms", "", "", ""});
    CHECK(read_file(file) == first + "ring-allreduce,ring-2,0.9,0.9,0.0000\n");
    predict("2", {"", "", "", ""});
    CHECK(read_file(file) == first + "ring-allreduce,ring-2,0.9,0.9,0.0000\n");
    CHECK(directory.list() == std::vector<std::string>{"mine.csv"});

    // Without a prediction nothing is simulated or written, and other files are left alone.
    const Outcome nothing = run_here({"lesson", "1", "--predict"});
    CHECK(nothing.status == 130);
    CHECK(holds(nothing.err, "interrupted: the input ended before the prediction"));
    CHECK_FALSE(holds(nothing.out, "## Run"));
    const fs::path other = directory.write("other.csv", "a,b\n");
    const Outcome refused = run_here({"lesson", "1", "--predictions", other.string()});
    CHECK(refused.status == 3);
    CHECK(holds(refused.err, "other.csv:1:1: error: this is not a file of predictions\n"));
    CHECK(read_file(other) == "a,b\n");
    CHECK(run_here({"lesson", "1", "--predictions", (directory / "other.csv" / "x").string()}).status == 4);
    CHECK(run_here({"lesson", "1", "--predict", "--handout"}).status == 2);
}

TEST_CASE("lesson: unknown names are errors", "[memory]") {
    const Outcome typo = run_here({"lesson", "parameter-sever"});
    CHECK(typo.status == 3);
    CHECK(typo.out.empty());
    CHECK(holds(typo.err, "error: there is no lesson 'parameter-sever'\n  hint: did you mean 'parameter-server'?\n"));
    for (const char* number : {"0", "21", "1.5", "-1", ""}) {
        const Outcome none = run_here({"lesson", "--", number});
        CAPTURE(number, none.out, none.err);
        CHECK(none.status == 3);
        CHECK(holds(none.err, "experts, or 1 to 20\n"));
    }
    // A folder without lessons has those of the clone; a folder with lessons has its own.
    const TempDir empty;
    CHECK(run_in(empty, {"lesson"}).out == run_here({"lesson"}).out);
    fs::create_directories(empty / "scenarios/lessons");
    const Outcome nowhere = run_in(empty, {"lesson"});
    CHECK(nowhere.status == 3);
    CHECK(holds(nowhere.err, "scenarios/lessons:1:1: error: there are no lessons here\n"));
}

TEST_CASE("lesson: your own lesson runs, and errors in it are reported", "[memory]") {
    const OwnLesson incomplete("# Why?\n## Question\n## Prediction\n");
    const Outcome parts = run_in(incomplete, {"lesson"});
    CHECK(parts.status == 3);
    CHECK(holds(parts.err, "01-own.md:1:1: error: the handout's sections are 'Question', 'Prediction'\n"));
    CHECK(holds(parts.err, "'Run'"));

    const OwnLesson untitled(sections);
    CHECK(holds(run_in(untitled, {"lesson"}).err, "01-own.md:1:1: error: the handout has no title\n"));

    const OwnLesson twice("# Why?\n" + sections);
    twice.write("scenarios/lessons/1-again.md", "# Again?\n" + sections);
    CHECK(holds(run_in(twice, {"lesson"}).err, "1-again.md:1:1: error: the lesson has no scenario\n"));
    twice.write("scenarios/lessons/1-again.yaml", "");
    CHECK(holds(run_in(twice, {"lesson"}).err, "error: there are two lessons with the number 1\n"));

    // A file that is not a lesson has no effect. A wrong answer is not shown as right.
    const OwnLesson wrong("# Why?\n" + sections);
    wrong.write("scenarios/lessons/notes-of-mine.md", "nothing");
    const Outcome outcome = run_in(wrong, {"lesson", "own"});
    CHECK(outcome.status == 1);
    CHECK(holds(outcome.out, "FAILED"));
    CHECK_FALSE(holds(outcome.out, "## Answer"));
    CHECK(outcome.err == "error: 1 of 1 expectations FAILED\n");
}
