#include "sim/serve/classroom.hpp"

#include <algorithm>
#include <utility>

#include "sim/output/written_files.hpp"
#include "sim/serve/prediction_file.hpp"

namespace syncline::serve {

Classroom::Classroom(std::vector<lesson::Lesson> lessons, std::string file) : file_(std::move(file)) {
    for (lesson::Lesson& one : lessons) {
        lesson::Questionnaire questionnaire = lesson::questionnaire(one);
        taught_.push_back({std::move(one), std::move(questionnaire)});
    }
    if (file_.empty()) return;
    require_prediction_file(file_);
    require_writable(file_);
}

Json Classroom::list() const {
    Json list = Json::array();
    for (const Taught& one : taught_)
        list.push_back({{"id", one.lesson.number}, {"name", one.lesson.name}, {"title", one.lesson.title}});
    return list;
}

const Classroom::Taught* Classroom::find(int number) const {
    const auto found =
        std::find_if(taught_.begin(), taught_.end(), [&](const Taught& one) { return one.lesson.number == number; });
    return found == taught_.end() ? nullptr : &*found;
}

const lesson::Prediction* Classroom::prediction_of(const Taught& taught, const std::string& student) const {
    const auto found = predictions_.find(student);
    if (found == predictions_.end()) return nullptr;
    const auto prediction = found->second.find(taught.lesson.number);
    return prediction == found->second.end() ? nullptr : &prediction->second;
}

bool Classroom::done(const Taught& taught, const std::string& student) const {
    if (taught.questionnaire.rows.empty()) return true;
    const std::lock_guard lock(mutex_);
    return prediction_of(taught, student) != nullptr;
}

Json Classroom::show(const Taught& taught, const std::string& student) const {
    const lesson::Lesson& lesson = taught.lesson;
    const lesson::Questionnaire& asked = taught.questionnaire;
    const auto section = [&](lesson::Part part) { return lesson.sections.at(part).text; };
    Json json{{"id", lesson.number},
              {"name", lesson.name},
              {"title", lesson.title},
              {"question", section(lesson::question)},
              {"prediction", section(lesson::prediction)},
              {"guess", {{"column", asked.column}, {"rows", asked.rows}}}};
    const bool done = this->done(taught, student);
    json["done"] = done;
    if (!done) return json;
    const std::lock_guard lock(mutex_);
    const lesson::Prediction* const given = prediction_of(taught, student);
    json["seconds"] = asked.seconds;
    json["given"] = Json::array();
    json["judgement"] = given == nullptr ? "" : lesson::judgement(asked, *given);
    json["model"] = nullptr;
    if (given != nullptr) {
        for (const std::optional<double>& one : *given) json["given"].push_back(number_or_null(one));
        if (const lesson::WrongModel* const model = lesson::recognised(asked, *given))
            json["model"] = {{"name", model->name}, {"cells", model->cells}};
    }
    json["answer"] = section(lesson::answer);
    json["exercises"] = section(lesson::exercises);
    json["solutions"] = section(lesson::solutions);
    std::string further;
    for (std::size_t part = lesson::solutions + 1; part < lesson.sections.size(); ++part)
        further += lesson.sections[part].text + "\n";
    json["further"] = further;
    return json;
}

bool Classroom::admits(const std::string& student) const {
    const std::lock_guard lock(mutex_);
    return predictions_.size() < most_students || predictions_.contains(student);
}

void Classroom::predict(const Taught& taught, const std::string& student, lesson::Prediction prediction) {
    const std::lock_guard lock(mutex_);
    if (const std::string lines = prediction_lines(taught.lesson, taught.questionnaire, prediction);
        !file_.empty() && !lines.empty())
        append_predictions(file_, lines);
    predictions_[student][taught.lesson.number] = std::move(prediction);
}

std::string Classroom::csv(const std::string& student) const {
    const std::lock_guard lock(mutex_);
    std::string text = prediction_header;
    for (const Taught& one : taught_)
        if (const lesson::Prediction* const given = prediction_of(one, student))
            text += prediction_lines(one.lesson, one.questionnaire, *given);
    return text;
}

}  // namespace syncline::serve
