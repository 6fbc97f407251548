#include "sim/serve/api.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <set>
#include <utility>

#include "sim/base/diagnostics.hpp"
#include "sim/base/number.hpp"
#include "sim/base/version.hpp"
#include "sim/output/written_files.hpp"

namespace syncline::serve {

namespace {

constexpr std::size_t most_kept = 256, most_kept_bytes = 64'000'000, most_values = 64, longest_name = 64;

/// Code of the error of a simulation that has failed, or took too long; it might succeed at another time.
constexpr const char* failure = "failed";

/// A request that is not as it must be; becomes a reply with 400.
class BadRequest : public std::exception {
public:
    explicit BadRequest(std::string message) : message_(std::move(message)) {}
    const char* what() const noexcept override { return message_.c_str(); }

private:
    std::string message_;
};

Reply reply(const Json& json) {
    return {200, one_line(json)};
}

void require_fields(const Json& request, const std::set<std::string>& known) {
    if (!request.is_object()) throw BadRequest("the request is not a JSON object");
    for (const auto& [key, value] : request.items())
        if (!known.contains(key)) throw BadRequest(fmt::format("unknown field '{}'", key.substr(0, longest_name)));
}

std::string text_in(const Json& request, const char* key) {
    const auto found = request.find(key);
    if (found == request.end() || found->is_null()) return "";
    if (!found->is_string()) throw BadRequest(fmt::format("'{}' is not a text", key));
    std::string text = *found;
    if (text.size() > longest_name) throw BadRequest(fmt::format("'{}' is too long", key));
    return text;
}

/// Returns the random name that a tab gave itself: 16 hexadecimal digits.
std::string require_student(const std::string& text) {
    const bool sound = text.size() == 16 && text.find_first_not_of("0123456789abcdef") == text.npos;
    if (!sound) throw BadRequest("'student' is not 16 hexadecimal digits");
    return text;
}

int lesson_in(const Json& request) {
    const auto found = request.find("lesson");
    if (found == request.end() || !found->is_number_integer()) throw BadRequest("'lesson' is not a whole number");
    const auto number = found->get<std::int64_t>();
    return number < 0 || number > 1000 ? 0 : static_cast<int>(number);
}

Reply no_lesson() {
    return refusal(404, "no-lesson", "there is no such lesson", "`syncline lesson` lists them");
}

Reply reply_of(const Finished& finished) {
    switch (finished.state) {
        case Finished::State::done:
            return {std::stoi(finished.text.substr(0, 3)), finished.text.substr(3)};
        case Finished::State::cancelled:
            return refusal(409, "cancelled", "this was cancelled");
        case Finished::State::full:
            return refusal(429, "busy", "too many simulations wait", "try again in a second");
        case Finished::State::stopped:
            return refusal(503, "stopped", "the program is ending");
        case Finished::State::failed:
            break;
    }
    return refusal(503, failure, finished.text);
}

std::vector<std::pair<std::string, std::string>> settings_in(const Json& request) {
    std::vector<std::pair<std::string, std::string>> set;
    const auto found = request.find("set");
    if (found == request.end()) return set;
    if (!found->is_object() || found->size() > longest_name) throw BadRequest("'set' is not an object");
    for (const auto& [key, value] : found->items()) {
        if (!value.is_string() || key.size() > 200 || value.get<std::string>().size() > 200)
            throw BadRequest(R"('set' is not as {"training.ranks": "8"}: keys with texts of at most 200 bytes)");
        set.emplace_back(key, value);
    }
    return set;
}

}  // namespace

Reply refusal(int status, const std::string& code, const std::string& message, const std::string& hint) {
    return {status, one_line(error_body(code, message, hint))};
}

Api::Api(SimulatorProcess& simulations, Classroom& classroom, std::optional<NamedScenario> scenario,
         std::optional<int> lesson)
    : simulations_(simulations), classroom_(classroom), scenario_(std::move(scenario)), lesson_(lesson) {}

Reply Api::about() const {
    Json start = Json::object();
    if (lesson_) start = {{"lesson", *lesson_}};
    if (scenario_) start = {{"scenario", scenario_->name}};
    return reply(
        {{"version", version},
         {"lessons", classroom_.list()},
         {"start", start},
         {"limits", {{"messages", most_messages}, {"seconds", most_seconds}, {"memory_bytes", most_memory_bytes}}}});
}

Question Api::about_lesson(const Classroom::Taught& taught) const {
    Question question{"subject", taught.lesson.scenario.string(), taught.lesson.scenario.string(), "", {}};
    // The last of the rows that are asked for is the most interesting one, if it is a variant; answers.cpp takes the
    // first variant if it is not.
    if (!taught.questionnaire.rows.empty()) question.variant = taught.questionnaire.rows.back();
    return question;
}

Reply Api::lesson(const std::string& number, const Parameters& parameters) {
    const Classroom::Taught* const taught = classroom_.find(number_in<int>(number).value_or(0));
    if (taught == nullptr) return no_lesson();
    const auto student = parameters.find("student");
    Json json = classroom_.show(*taught, require_student(student == parameters.end() ? "" : student->second));
    Reply subject = answered("", about_lesson(*taught));
    if (subject.status != 200) return subject;
    json["subject"] = Json::parse(subject.text);
    return reply(json);
}

Reply Api::get(const std::string& path, const Parameters& parameters) {
    constexpr std::string_view lessons = "/lessons/";
    try {
        if (path == "/about") return about();
        if (path.starts_with(lessons)) return lesson(path.substr(lessons.size()), parameters);
        if (path == "/subject") {
            if (!scenario_) return refusal(404, "no-scenario", "no scenario was named on the command line");
            // A page that begins shows the files as they are now.
            forget();
            return answered("", {"subject", scenario_->file, scenario_->name, "", {}});
        }
        if (path == "/predictions.csv") {
            const auto student = parameters.find("student");
            return {200, classroom_.csv(require_student(student == parameters.end() ? "" : student->second)),
                    "text/csv"};
        }
    } catch (const BadRequest& error) {
        return refusal(400, "bad-request", error.what());
    }
    return refusal(404, "not-found", "there is no such address");
}

Reply Api::predict(const Json& request) {
    require_fields(request, {"lesson", "student", "seconds"});
    const Classroom::Taught* const taught = classroom_.find(lesson_in(request));
    if (taught == nullptr) return no_lesson();
    const std::string student = require_student(text_in(request, "student"));
    const auto seconds = request.find("seconds");
    if (seconds == request.end() || !seconds->is_array() || seconds->size() != taught->questionnaire.rows.size())
        throw BadRequest(fmt::format("'seconds' is not a list of {} numbers", taught->questionnaire.rows.size()));
    lesson::Prediction prediction;
    for (const Json& one : *seconds) {
        if (!one.is_null() && (!one.is_number() || !(one.get<double>() > 0) || one.get<double>() > 1e12))
            throw BadRequest("'seconds' has numbers above 0, or null for what is skipped");
        prediction.push_back(one.is_null() ? std::optional<double>() : one.get<double>());
    }
    if (!classroom_.admits(student)) return refusal(429, "busy", "too many students have predicted");
    classroom_.predict(*taught, student, std::move(prediction));
    return lesson(std::to_string(taught->lesson.number), {{"student", student}});
}

std::optional<Reply> Api::asked(const Json& request, Question& question) const {
    if (const auto found = request.find("lesson"); found != request.end() && !found->is_null()) {
        const Classroom::Taught* const taught = classroom_.find(lesson_in(request));
        if (taught == nullptr) return no_lesson();
        if (!classroom_.done(*taught, require_student(text_in(request, "student"))))
            return refusal(403, "predict-first", "predict first: then the lesson is simulated");
        question = about_lesson(*taught);
    } else {
        if (!scenario_) return refusal(404, "no-scenario", "no scenario was named on the command line");
        question.file = scenario_->file;
        question.name = scenario_->name;
    }
    question.variant = text_in(request, "variant");
    question.set = settings_in(request);
    return {};
}

Reply Api::run(const Json& request, const std::string& what) {
    require_fields(request, {"id", "replaces", "lesson", "student", "variant", "set"});
    Question question;
    if (std::optional<Reply> refused = asked(request, question)) return *refused;
    question.what = what;
    if (const std::string before = text_in(request, "replaces"); !before.empty()) simulations_.cancel(before);
    return answered(text_in(request, "id"), question);
}

Reply Api::grid(const Json& request) {
    require_fields(request, {"id", "replaces", "lesson", "student", "variant", "set", "axis"});
    Question question;
    if (std::optional<Reply> refused = asked(request, question)) return *refused;
    const auto axis = request.find("axis");
    if (axis == request.end()) throw BadRequest("'axis' is missing");
    require_fields(*axis, {"key", "values"});
    const auto key = axis->find("key"), values = axis->find("values");
    if (key == axis->end() || !key->is_string() || values == axis->end() || !values->is_array() ||
        values->size() > most_values)
        throw BadRequest(fmt::format("'axis' is not a key with up to {} values", most_values));
    if (const std::string before = text_in(request, "replaces"); !before.empty()) simulations_.cancel(before);
    question.what = "point";
    const std::string id = text_in(request, "id");
    std::erase_if(question.set, [&](const auto& one) { return one.first == *key; });
    std::vector<Question> questions;
    for (const Json& value : *values) {
        if (!value.is_string() || value.get<std::string>().size() > 200)
            throw BadRequest("the values of 'axis' are texts");
        Question& one = questions.emplace_back(question);
        if (*key == "variant")
            one.variant = value;
        else
            one.set.emplace_back(*key, value);
    }
    const std::vector<Reply> replies = answered_together(id, questions);
    Json points = Json::array();
    for (std::size_t i = 0; i < replies.size(); ++i) {
        const Json body = Json::parse(replies[i].text);
        // Points fail one by one, as of too many ranks; that the program is busy or ends is said once.
        const bool of_point = replies[i].status == 200 || replies[i].status == 422 || body["error"]["code"] == failure;
        if (!of_point) return replies[i];
        Json point{{"value", (*values)[i]}};
        if (replies[i].status == 200)
            point.update(body);
        else
            point["problem"] = body["error"]["message"];
        points.push_back(std::move(point));
    }
    return reply({{"points", std::move(points)}});
}

std::vector<Reply> Api::answered_together(const std::string& name, const std::vector<Question>& questions) {
    // Few at a time, so that one curve does not fill the queue.
    constexpr std::size_t threads = 3;
    std::vector<Reply> replies(questions.size());
    std::atomic<std::size_t> next = 0;
    const auto take = [&] {
        for (std::size_t i = next++; i < questions.size(); i = next++) {
            replies[i] = answered(name, questions[i]);
            if (replies[i].status == 409) next = questions.size();  // all were cancelled
        }
    };
    std::vector<std::future<void>> others;
    for (std::size_t i = 1; i < std::min(threads, questions.size()); ++i)
        others.push_back(std::async(std::launch::async, take));
    take();
    for (std::future<void>& one : others) one.get();
    for (const Reply& one : replies)
        if (one.status == 409) return {one};
    return replies;
}

Reply Api::post(const std::string& path, const std::string& body) {
    try {
        const Json request = Json::parse(body, nullptr, false);
        if (request.is_discarded()) throw BadRequest("the request is not JSON");
        if (path == "/runs") return run(request, "run");
        if (path == "/check") return run(request, "check");
        if (path == "/grids") return grid(request);
        if (path == "/predictions") return predict(request);
    } catch (const BadRequest& error) {
        return refusal(400, "bad-request", error.what());
    } catch (const OutputError& error) {
        return refusal(500, "not-written", error.what());
    } catch (const ConfigError& error) {
        return refusal(500, "not-written", error.what());  // the file of predictions has become another one
    }
    return refusal(404, "not-found", "there is no such address");
}

Reply Api::remove(const std::string& path) {
    constexpr std::string_view runs = "/runs/";
    if (!path.starts_with(runs)) return refusal(404, "not-found", "there is no such address");
    if (!simulations_.cancel(path.substr(runs.size()))) return refusal(404, "not-found", "there is no such simulation");
    return {204, ""};
}

Reply Api::answered(const std::string& name, const Question& question) {
    const std::string text = text_of(question);
    if (std::optional<Reply> known = kept(text)) return *known;
    Reply reply = reply_of(simulations_.run(name, text));
    if (reply.status == 200 || reply.status == 422) keep(text, reply);
    return reply;
}

std::optional<Reply> Api::kept(const std::string& question) {
    const std::lock_guard lock(mutex_);
    const auto found = by_question_.find(question);
    if (found == by_question_.end()) return {};
    kept_.splice(kept_.begin(), kept_, found->second);
    return found->second->reply;
}

void Api::forget() {
    const std::lock_guard lock(mutex_);
    by_question_.clear();
    kept_.clear();
    kept_bytes_ = 0;
}

void Api::keep(const std::string& question, const Reply& reply) {
    const std::lock_guard lock(mutex_);
    if (by_question_.contains(question)) return;
    kept_.push_front({question, reply});
    by_question_[question] = kept_.begin();
    kept_bytes_ += question.size() + reply.text.size();
    while (kept_.size() > most_kept || kept_bytes_ > most_kept_bytes) {
        kept_bytes_ -= kept_.back().question.size() + kept_.back().reply.text.size();
        by_question_.erase(kept_.back().question);
        kept_.pop_back();
    }
}

}  // namespace syncline::serve
