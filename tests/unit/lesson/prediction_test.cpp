#include "sim/lesson/prediction.hpp"
#include "sim/lesson/arithmetic.hpp"

#include <cmath>
#include <sstream>

#include "sim/base/diagnostics.hpp"
#include "tests/catch.hpp"

using namespace syncline;
using namespace syncline::lesson;

namespace {

Lesson own(const std::string& answer, const std::string& mistakes = "") {
    Lesson lesson;
    lesson.handout = "# Why?\n## Answer\n" + answer + "## Typical mistakes\n" + mistakes;
    lesson.scenario = "folder/01-own.yaml";
    return lesson;
}

std::string error(const Lesson& lesson) {
    try {
        questionnaire(lesson);
    } catch (const ConfigError& problem) {
        return problem.what();
    }
    return "none";
}

std::vector<Lesson> shipped_lessons() {
    return load_lessons(SYNCLINE_SOURCE_DIR "/scenarios/lessons");
}

}  // namespace

TEST_CASE("prediction: the distance is the mean of the logarithms of the factors") {
    CHECK(distance({1, 2}, {1, 2}) == 0);
    CHECK(distance({2, 1.5}, {1, 3}) == Approx(std::log(2)));           // twice and half do not cancel
    CHECK(distance({2, {}, 3}, {1, 5, 3}) == Approx(std::log(2) / 2));  // a row that is skipped does not count
    CHECK(std::isinf(distance({{}, {}}, {1, 2})));
}

TEST_CASE("prediction: a wrong model is named if it is near, and much nearer than the answer") {
    const Questionnaire far{"time", {"a", "b"}, {2, 2}, {{"half", {1, 1}, {}}, {"third", {2. / 3, 2. / 3}, {}}}};
    CHECK(judgement(far, {1.1, 1.1}) == "Your prediction is the model \"half\".");   // ln 1.1 = 0.095
    CHECK(judgement(far, {0.7, 0.7}) == "Your prediction is the model \"third\".");  // ln 1.05 = 0.049
    CHECK(judgement(far, {{}, 1.1}) == "Your prediction is the model \"half\".");
    CHECK(judgement(far, {1.2, 1.2}) == "Off by a factor of 1.7 on average.");  // ln 1.2 = 0.182 > 0.14
    CHECK(judgement(far, {2.05, 2.05}) == "You have it.");                      // ln 1.025 = 0.025 < 0.04
    CHECK(judgement(far, {2.1, 2.1}) == "Off by a factor of 1.1 on average.");  // ln 1.05 = 0.049
    CHECK(judgement(far, {{}, {}}).empty());
    // A prediction that is right is no wrong model, however near that is: ln 1.03 = 0.030, ln(1.04/1.03) = 0.010.
    const Questionnaire nearly{"time", {"a"}, {1}, {{"nearly", {1.04}, {}}}};
    CHECK(recognised(nearly, {1.03}) == nullptr);
    CHECK(recognised(nearly, {1.05}) == &nearly.wrong_models[0]);  // 0.0096 < 0.6·0.049
    const Questionnaire near{"time", {"a"}, {1.2}, {{"less", {1}, {}}}};
    CHECK(recognised(near, {1.05}) == &near.wrong_models[0]);  // 0.049 < 0.6·ln(1.2/1.05) = 0.080
    CHECK(recognised(near, {1.08}) == nullptr);                // 0.077 > 0.6·ln(1.2/1.08) = 0.063
}

TEST_CASE("prediction: the answer's first table with a time is asked, or the rows of the wrong models") {
    const std::string answer =
        "| variant | memory |\n|---|---|\n| a | 3 GB |\n\n"
        "| variant | size | time | formula (ms) |\n|---|---|---|---|\n"
        "| a | 1 kB | 1 s | x |\n| b | 2 kB | 800 ms ± 1 % | |\n| c | 1 B | 1 s | |\n"
        "| d | 1 B | 1 s | |\n| e | 1 B | 1 s | |\n| f | 1 B | 1 s | |\n";
    const Questionnaire all = questionnaire(own(answer));
    CHECK(all.column == "time");
    CHECK(all.rows == std::vector<std::string>{"a 1 kB", "b 2 kB", "c 1 B", "d 1 B", "e 1 B"});
    CHECK(all.seconds == std::vector<double>{1, 0.8, 1, 1, 1});
    CHECK(all.wrong_models.empty());
    const Questionnaire some =
        questionnaire(own(answer, "| mistake | b 2 kB | f 1 B |\n|---|---|---|\n| none | 3·4 = 12 ms | 1 s |\n"));
    CHECK(some.rows == std::vector<std::string>{"b 2 kB", "f 1 B"});
    CHECK(some.seconds == std::vector<double>{0.8, 1});
    REQUIRE(some.wrong_models.size() == 1);
    CHECK(some.wrong_models[0].name == "none");
    CHECK(some.wrong_models[0].seconds == std::vector<double>{0.012, 1});
    CHECK(some.wrong_models[0].cells == std::vector<std::string>{"3·4 = 12 ms", "1 s"});
    CHECK(questionnaire(own("| variant | memory |\n|---|---|\n| a | 3 GB |\n")).rows.empty());
    CHECK(questionnaire(own("")).rows.empty());
}

TEST_CASE("prediction: what is no time, and no row, is an error at its line") {
    const std::string answer = "| variant | iteration |\n|---|---|\n| a | 1 s |\n";
    CHECK(error(own("| variant | iteration |\n|---|---|\n| a | 3 GB |\n"))
              .starts_with("folder/01-own.md:5:1: error: '3 GB' is not a time\n"));
    CHECK(error(own("| variant | iteration |\n|---|---|\n| a |\n")).starts_with("folder/01-own.md:5:1: error: ''"));
    CHECK(error(own("| variant | iteration |\n| --- | :--- |\n| a\n")).starts_with("folder/01-own.md:5:1: error: ''"));
    CHECK(error(own(answer, "| mistake | b |\n")).starts_with("folder/01-own.md:7:1: error: 'b' is not a row"));
    CHECK(error(own(answer, "| mistake | a |\n|---|---|\n| x | 0·3 = 0 s |\n"))
              .starts_with("folder/01-own.md:9:1: error: '0 s' is not a time\n"));
    CHECK(error(own(answer, "| mistake | a |\n|---|---|\n| x | 3 s |\n")) == "none");
}

TEST_CASE("prediction: every wrong model of a lesson is recognised, and is not the answer") {
    for (const Lesson& lesson : shipped_lessons()) {
        CAPTURE(lesson.name);
        const Questionnaire asked = questionnaire(lesson);
        CHECK(asked.rows.size() >= 2);
        CHECK(asked.rows.size() <= 5);
        CHECK(asked.wrong_models.size() >= 2);
        for (const WrongModel& model : asked.wrong_models) {
            CAPTURE(model.name);
            const Prediction prediction(model.seconds.begin(), model.seconds.end());
            CHECK(distance(prediction, asked.seconds) >= 0.04);
            CHECK(recognised(asked, prediction) == &model);
        }
    }
}

TEST_CASE("prediction: the times of wrong models are the values of their formulas, or those of the answer") {
    std::size_t formulas = 0;
    for (const Lesson& lesson : shipped_lessons()) {
        CAPTURE(lesson.name);
        const Questionnaire asked = questionnaire(lesson);
        const std::string section = lesson.sections.at(solutions + 1).text;
        REQUIRE(section.starts_with("## Typical mistakes\n"));
        std::istringstream lines(section.substr(section.find("\n|---")));
        std::size_t model = 0;
        for (std::string line; std::getline(lines, line);) {
            if (!line.starts_with("| ")) continue;
            std::istringstream cells(line.substr(1));
            std::string cell;
            std::getline(cells, cell, '|');
            for (std::size_t i = 0; std::getline(cells, cell, '|'); ++i) {
                CAPTURE(cell);
                const std::size_t equals = cell.find('=');
                if (equals == cell.npos) {
                    CHECK(asked.wrong_models.at(model).seconds.at(i) == Approx(asked.seconds.at(i)).epsilon(1e-12));
                    continue;
                }
                CHECK(std::stod(cell.substr(equals + 1)) == Approx(value_of(cell.substr(0, equals))).epsilon(1e-5));
                ++formulas;
            }
            ++model;
        }
        CHECK(model == asked.wrong_models.size());
    }
    WARN(formulas << " formulas of wrong models evaluated");
}
