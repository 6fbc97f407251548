#include "sim/serve/answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sim/analysis/estimate.hpp"
#include "sim/analysis/exchange_experiment.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/replay_error.hpp"
#include "sim/base/shell_word.hpp"
#include "sim/batch/variant_run.hpp"
#include "sim/config/scenario.hpp"
#include "sim/explain/exchange_recording.hpp"
#include "sim/explain/trace_explanation.hpp"
#include "sim/lowering/lowered.hpp"
#include "sim/output/result_fields.hpp"
#include "sim/replay/native.hpp"
#include "sim/report/page_messages.hpp"
#include "sim/report/parts.hpp"
#include "sim/report/report.hpp"
#include "sim/serve/knob_values.hpp"
#include "sim/serve/knobs.hpp"

namespace syncline::serve {

namespace {

/// The scenario cannot be simulated that way; the body of a 422.
class Refused : public std::exception {
public:
    explicit Refused(Json body) : body_(std::move(body)) {}
    const Json& body() const { return body_; }

private:
    Json body_;
};

Json problem(const std::string& code, const std::string& message, const std::string& hint) {
    Json body = error_body(code, message, hint);
    body["problems"] = Json::array();
    return body;
}

Json problems(const ConfigError& error) {
    Json list = Json::array();
    for (const Diagnostic& one : error.diagnostics())
        list.push_back({{"line", one.where.line},
                        {"column", one.where.column},
                        {"key", one.where.file},
                        {"message", one.message},
                        {"hint", one.hint}});
    const Diagnostic& first = error.diagnostics().front();
    Json body = problem("invalid", first.message, first.hint);
    body["problems"] = std::move(list);
    return body;
}

std::string command_of(const Question& question, bool several) {
    std::string command = "syncline run " + shell_word(question.name);
    if (several && !question.variant.empty()) command += " --variant " + shell_word(question.variant);
    for (const auto& [key, value] : question.set)
        command += fmt::format(" --set {}", shell_word(fmt::format("{}={}", key, value)));
    return command;
}

/// Returns whether a page shows each message; with more, exchanges are one bar each, as in a report.
bool shows_messages(const Estimate& estimate) {
    return estimate.messages <= most_messages;
}

/// Throws Refused if `replays` of the simulation would take too long.
void require_modest(const Estimate& estimate, double replays, const std::string& command) {
    if (estimate.time_s * replays <= most_seconds && estimate.memory_bytes <= most_memory_bytes) return;
    throw Refused(problem("too-large", fmt::format("this is too large for a page: {}", words_of(estimate)), command));
}

/// Messages that are recorded cost more than further replays, without contention and on one rank.
double replays_of_page(const Estimate& estimate) {
    return shows_messages(estimate) ? 1 : 3;
}

void require_memory(const config::Variant& variant) {
    if (const std::string shortage = batch::shortage_of(variant); !shortage.empty())
        throw Refused(problem("memory", shortage, "put less on each device, or take devices with more memory"));
}

config::Scenario load(const Question& question, bool with_changes) {
    std::vector<std::string> assignments, only;
    if (with_changes) {
        for (const auto& [key, value] : question.set) assignments.push_back(fmt::format("{}={}", key, value));
        if (!question.variant.empty()) only.push_back(question.variant);
    }
    return config::load_scenario(question.file, assignments, inspect, 1, only);
}

const config::Variant& variant_of(const config::Scenario& scenario, const std::string& name) {
    const auto found = std::find_if(scenario.variants.begin(), scenario.variants.end(),
                                    [&](const config::Variant& one) { return one.name == name; });
    return found == scenario.variants.end() ? scenario.variants.front() : *found;
}

/// Returns the knob of a key; null if there is none.
const Json* knob_of(const Json& knobs, const std::string& key) {
    const auto found = std::find_if(knobs.begin(), knobs.end(), [&](const Json& one) { return one["key"] == key; });
    return found == knobs.end() ? nullptr : &*found;
}

bool lists(const Json& knob, const std::string& value) {
    const Json& values = knob["values"];
    return std::find(values.begin(), values.end(), Json(value)) != values.end();
}

/// Throws Refused unless `set` turns knobs only, to values that they may have: a number may be any, a word must be
/// listed by a variant. Knobs are those of the scenario as it is: turned ones would list whatever is set.
void require_knobs(const Question& question, const config::Scenario& before) {
    const Json knobs = knobs_of(before, variant_of(before, question.variant));
    for (const auto& [key, value] : question.set) {
        const Json* const knob = knob_of(knobs, key);
        if (knob == nullptr)
            throw Refused(problem("no-knob", fmt::format("'{}' is not one of the knobs", key),
                                  "a page changes what the scenario has a knob for; `knobs:` adds others"));
        if (lists(*knob, value) || ((*knob)["kind"] == "number" && number_of(value))) continue;
        const bool elsewhere = std::any_of(before.variants.begin(), before.variants.end(),
                                           [&, &key = key, &value = value](const config::Variant& other) {
                                               const Json all = knobs_of(before, other);
                                               const Json* const same = knob_of(all, key);
                                               return same != nullptr && lists(*same, value);
                                           });
        if (!elsewhere)
            throw Refused(problem("no-value", fmt::format("'{}' is not a value of '{}'", value, key),
                                  "choose one of its values, or write a number with its unit"));
    }
}

Json turned_knobs(const Question& question, const config::Scenario& before) {
    return knobs_of(before, variant_of(before, question.variant), {question.set.begin(), question.set.end()});
}

/// A variant with its changes, and the scenario without them.
struct Subject {
    config::Scenario before, changed;

    bool several() const { return before.variants.size() > 1; }
    const config::Variant& variant() const { return changed.variants.front(); }
};

Subject subject_of(const Question& question) {
    Subject subject{load(question, false), {}};
    require_knobs(question, subject.before);
    subject.changed = load(question, true);
    const config::Variant& variant = subject.variant();
    if (variant.is_training() && variant.open.everything)
        throw Refused(problem("open", "its parallelism is left open, and a page does not search",
                              "syncline run " + shell_word(question.name)));
    return subject;
}

Json described(const Question& question) {
    const config::Scenario scenario = load(question, false);
    Json variants = Json::array();
    for (const config::Variant& variant : scenario.variants) variants.push_back(variant.name);
    return {{"name", question.name},
            {"title", scenario.name},
            {"variants", std::move(variants)},
            {"variant", variant_of(scenario, question.variant).name},
            {"knobs", turned_knobs(question, scenario)}};
}

Json main_numbers(const Result& result) {
    return {{"iteration_time_s", result.time.iteration_s},
            {"throughput_samples_per_s", number_or_null(result.throughput_samples_per_s)},
            {"scaling_efficiency", number_or_null(result.scaling_efficiency)}};
}

Json point(const Question& question) {
    const Subject subject = subject_of(question);
    const config::Variant& variant = subject.variant();
    require_modest(batch::estimate_of(variant), 1, command_of(question, subject.several()));
    require_memory(variant);
    if (variant.collective) {
        const SweepResult result = simulate_sweep(variant.cluster, *variant.collective);
        return {{"iteration_time_s", result.points.front().completion_time_s},
                {"throughput_samples_per_s", nullptr},
                {"scaling_efficiency", nullptr}};
    }
    return main_numbers(batch::simulated(variant));
}

Json page_of(const PageVariant& page) {
    return {
        {"name", page.name},     {"explanation", page.explanation}, {"timeline", page.timeline}, {"links", page.links},
        {"stages", page.stages}, {"memory", page.memory},           {"path", page.path},         {"facts", page.facts}};
}

/// Returns what a run has beside the scenario: result, variant as in a report's page, picture, messages.
Json training(const config::Variant& variant) {
    TimelineView view;
    ExplainOptions how;
    how.most_messages = static_cast<std::uint64_t>(most_messages);
    Explanation explanation = variant.trace ? explain_trace(variant.cluster, *variant.trace, how, &view)
                                            : explain(variant.lowered(), how, &view);
    explanation.result.variant = variant.name;
    const Lowered* const lowered = variant.trace ? nullptr : &variant.lowered();
    const PageLimits limits = page_limits(1);
    const PageVariant page = page_variant(variant.cluster, lowered, explanation, &view, variant.resolved, limits);
    return {{"result", object_of(explanation.result)},
            {"variant", page_of(page)},
            {"picture", page.picture},
            {"messages", lowered != nullptr ? page_messages(*lowered, view, limits)
                                            : page_messages(variant.cluster, view, explanation.result.ranks, limits)}};
}

/// Messages and timeline are those of the largest size, if it is `recorded`.
Json exchange(const config::Variant& variant, bool recorded) {
    SweepResult result = simulate_sweep(variant.cluster, *variant.collective);
    result.variant = variant.name;
    ExchangeRecording recording;
    if (recorded) recording = record_exchange(variant.cluster, *variant.collective, largest_size(*variant.collective));
    const PageLimits limits = page_limits(1);
    PageVariant page;
    page.name = variant.name;
    if (!recording.view.timeline.recorded.empty()) {
        page.timeline = page_timeline(recording.view, recording.ranks, 0, limits);
        page.links = page_links(variant.cluster, Result{}, &recording.view, limits, page.picture);
    }
    return {{"result", object_of(result)},
            {"variant", page_of(page)},
            {"picture", page.picture},
            {"messages", recorded ? page_messages(variant.cluster, recording, limits) : Json(nullptr)}};
}

Json jobs(const config::Variant& variant) {
    return {
        {"result", object_of(batch::simulated(variant))}, {"variant", nullptr}, {"picture", ""}, {"messages", nullptr}};
}

Json run(const Question& question) {
    const Subject subject = subject_of(question);
    const config::Variant& variant = subject.variant();
    const std::string command = command_of(question, subject.several());
    const Estimate estimate = batch::estimate_of(variant);
    require_modest(estimate, replays_of_page(estimate), command);
    require_memory(variant);
    Json body{{"kind", variant.collective ? "exchange"
                       : variant.jobs     ? "jobs"
                                          : "training"},
              {"yaml", variant.resolved},
              {"command", command}};
    body.update(variant.collective ? exchange(variant, shows_messages(estimate))
                : variant.jobs     ? jobs(variant)
                                   : training(variant));
    body["knobs"] = turned_knobs(question, subject.before);
    return body;
}

Json checked(const Question& question) {
    const Subject subject = subject_of(question);
    const Estimate estimate = batch::estimate_of(subject.variant());
    require_modest(estimate, replays_of_page(estimate), command_of(question, subject.several()));
    require_memory(subject.variant());
    return {{"ok", true},
            {"problems", Json::array()},
            {"estimate",
             {{"messages", estimate.messages}, {"seconds", estimate.time_s}, {"memory_bytes", estimate.memory_bytes}}}};
}

Json answered(const Question& question) {
    if (question.what == "subject") return described(question);
    if (question.what == "run") return run(question);
    if (question.what == "point") return point(question);
    return checked(question);
}

}  // namespace

Json error_body(const std::string& code, const std::string& message, const std::string& hint) {
    return {{"error", {{"code", code}, {"message", message}, {"hint", hint}}}};
}

std::string text_of(const Question& question) {
    Json set = Json::array();
    for (const auto& [key, value] : question.set) set.push_back({key, value});
    return one_line({{"what", question.what},
                     {"file", question.file},
                     {"name", question.name},
                     {"variant", question.variant},
                     {"set", std::move(set)}});
}

std::string answer(const std::string& text) {
    const Json json = Json::parse(text);
    Question question{json["what"], json["file"], json["name"], json["variant"], {}};
    for (const Json& one : json["set"]) question.set.emplace_back(one[0], one[1]);
    try {
        return "200" + one_line(answered(question));
    } catch (const Refused& refused) {
        return "422" + one_line(refused.body());
    } catch (const ConfigError& error) {
        return "422" + one_line(problems(error));
    } catch (const ReplayError& error) {
        return "503" + one_line(problem("failed", error.what(), ""));  // maybe for want of memory, so not for ever
    }
}

}  // namespace syncline::serve
