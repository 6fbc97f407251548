#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/base/interrupt.hpp"
#include "sim/base/units.hpp"
#include "sim/base/version.hpp"
#include "sim/cli/batch_options.hpp"
#include "sim/cli/guard.hpp"
#include "sim/cli/plan_search.hpp"
#include "sim/cli/plan_state.hpp"
#include "sim/cli/progress.hpp"
#include "sim/cli/runs_table.hpp"
#include "sim/cli/table_options.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/config/plan_question.hpp"
#include "sim/output/written_files.hpp"
#include "sim/planning/answer_text.hpp"
#include "sim/planning/published_plans.hpp"
#include "sim/process/memory_limit.hpp"
#include "sim/replay/native.hpp"
#include "sim/report/report.hpp"
#include "sim/store/hash.hpp"
#include "sim/workload/peak_note.hpp"
#include "sim/workload/sample_tokens.hpp"

namespace syncline::cli {

namespace {

struct PlanArguments {
    std::string model;
    std::vector<std::string> platforms;
    std::string ranks;
    std::vector<config::Argument> arguments;
    std::vector<std::string> assignments;
    std::string headroom = "0 %";
    std::size_t best = 3;
    std::size_t jobs = 1;
    bool estimate = false;
    Format format = Format::table;
    TableOptions tables;
    std::string directory;
};

/// Effort of the first answers, of all sizes together, and of the search of each: chosen for 5 s and for 7 s of a
/// core.
constexpr std::uint64_t first_effort = 1'500'000, whole_effort = 3'000'000;
constexpr std::size_t most_simulated = 24;
constexpr std::int64_t most_samples = 1 << 20;  ///< of an iteration: passes of all microbatches are counted
constexpr double simulating_s = 24;  ///< of all sizes together, as it is estimated; chosen: with three, 60 s in all

[[noreturn]] void refuse(const std::string& option, const std::string& text, const std::string& message,
                         const std::string& hint) {
    const std::string line = option + " " + text;
    throw ConfigError({{{option, 1, static_cast<int>(option.size()) + 2, line}, message, hint}});
}

/// Returns the list without repetitions, in its order.
template <class Item>
std::vector<Item> each_once(const std::vector<Item>& list) {
    std::vector<Item> once;
    for (const Item& item : list)
        if (std::ranges::find(once, item) == once.end()) once.push_back(item);
    return once;
}

std::int64_t count_of(const std::string& part, const std::string& whole) {
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), count);
    if (error != std::errc() || end != part.data() + part.size() || count < 1 || count > 1 << 24)
        refuse("--ranks", whole, fmt::format("'{}' is no number of ranks", part),
               "write 512, 256,384,512 or 256..1024, which doubles");
    return count;
}

/// Reads "512", "256,384" or "256..1024", in which each number is twice the one before it.
std::vector<std::int64_t> sizes_of(const std::string& text) {
    std::vector<std::int64_t> sizes;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        const std::string part = text.substr(at, comma - at);
        at = comma + 1;
        const std::size_t dots = part.find("..");
        if (dots == std::string::npos) {
            sizes.push_back(count_of(part, text));
            continue;
        }
        const std::int64_t last = count_of(part.substr(dots + 2), text);
        for (std::int64_t size = count_of(part.substr(0, dots), text); size <= last; size *= 2) sizes.push_back(size);
    }
    if (sizes.empty()) refuse("--ranks", text, "the range is empty", "write the smaller number first: 256..1024");
    return each_once(sizes);
}

/// Reads "10 %" or "0.1".
double fraction_of(const std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    std::string unit(end, text.data() + text.size());
    std::erase(unit, ' ');
    if (unit == "%") value /= 100;
    if (error != std::errc() || (!unit.empty() && unit != "%") || value < 0 || value >= 1)
        refuse("--headroom", text, fmt::format("'{}' is no share of a device's memory", text),
               "write 10 %, or 0.1: from 0 to less than 100 %");
    return value;
}

/// Returns "24/h" as "24".
std::string per_hour(const std::string& text) {
    return text.ends_with("/h") ? text.substr(0, text.size() - 2) : text;
}

/// A platform and a number of ranks, with the question about them and the answers so far.
struct Case {
    std::vector<config::Argument> arguments;
    config::PlanQuestion question;
    std::vector<planning::Answer> answers = {};
    std::vector<std::string> why_none = {};

    std::string name() const {
        return fmt::format("{}, {}", question.variant.cluster.name, planning::ranks_of(question.variant.plan.ranks));
    }
};

/// How much a search of a case may cost.
struct Pass {
    std::uint64_t effort = 0;
    std::size_t simulated = 0;
    double budget_s = 0;
};

/// Returns a name of all that determines what a search finds.
std::string question_of(const Case& one, double headroom, const planning::Search& how) {
    std::string text = fmt::format("{} {} {} {} {} {}\n", version, one.question.variant.open.batch, headroom,
                                   how.effort, how.simulated, how.budget_s);
    for (const planning::Choice& choice : how.first) text += fmt::format("{}\n", fmt::join(choice, " "));
    return batch::hash_of(text + one.question.variant.resolved);
}

planning::Found search(const Case& one, const PlanArguments& options, double headroom, const Pass& pass,
                       const std::vector<planning::PublishedRun>& published, PlanState& state, ProgressLine& progress,
                       const HeldInterrupts& held) {
    const config::Variant& variant = one.question.variant;
    Cluster cluster = variant.cluster;
    const Device& device = cluster.device;
    const double whole_bytes = device.memory_bytes;
    for (std::size_t kind = 0; kind < cluster.kinds(); ++kind) {
        Device& each = cluster.device_of(kind);
        each.memory_bytes -= headroom * std::max(0.0, each.memory_bytes - each.reserve_bytes);
    }
    planning::Search how{.jobs = options.jobs,
                         .simulated = pass.simulated,
                         .budget_s = pass.budget_s,
                         .runs = false,
                         .memory_bytes = usable_memory_bytes(),
                         .effort = pass.effort};
    for (planning::PublishedPlan& plan :
         planning::published_plans(published, cluster, variant.model, variant.plan, variant.open))
        how.first.push_back(std::move(plan.choice));
    const std::string question = question_of(one, headroom, how);
    if (std::optional<planning::Found> known = state.found(question, variant.plan)) return *std::move(known);
    how.known = &state.simulated(question);
    const auto show = shown_search(progress, one.name());
    how.watch = [&](planning::Search::Step step, std::uint64_t done, std::uint64_t total) {
        if (held.interrupted()) throw Interrupted("the search has not ended");
        show(step, done, total);
    };
    planning::Found found = planning::search(cluster, variant.model, variant.plan, variant.open, how);
    for (planning::FoundPlan& plan : found.plans)
        if (plan.memory.device_bytes) *plan.memory.device_bytes /= 1 - headroom;
    if (headroom > 0 && !found.remedies.empty())
        found.remedies.push_back(fmt::format("--headroom leaves {} of the device's {} free",
                                             format_quantity(whole_bytes - device.memory_bytes, Dimension::bytes),
                                             format_quantity(whole_bytes - device.reserve_bytes, Dimension::bytes)));
    state.keep(question, found);
    state.write();
    return found;
}

void answer(Case& one, const PlanArguments& options, const planning::Found& found,
            const std::vector<planning::PublishedRun>& published) {
    const config::Variant& variant = one.question.variant;
    if (found.plans.empty()) {
        one.why_none = found.remedies.empty() ? std::vector<std::string>{"no plan is possible"} : found.remedies;
        return;
    }
    Cluster cluster = variant.cluster;
    give_nodes(cluster, variant.plan.placement, variant.plan.ranks, 0);
    one.answers = planning::answers(cluster, variant.model, variant.plan, variant.open, found, options.best, published);
}

/// Refuses keys for which there are options.
void require_other_keys(const std::vector<std::string>& assignments) {
    constexpr std::pair<const char*, const char*> keys[] = {{"platform", "--platform"},
                                                            {"workload", "MODEL"},
                                                            {"training.ranks", "--ranks"},
                                                            {"training.batch", "--batch"}};
    for (const std::string& assignment : assignments)
        for (const auto& [key, option] : keys)
            if (assignment.starts_with(std::string(key) + "="))
                refuse("--set", assignment, fmt::format("'{}' is what {} says", key, option),
                       fmt::format("write it as {}", option));
}

std::vector<Case> cases_of(const PlanArguments& options) {
    std::vector<Case> cases;
    require_other_keys(options.assignments);
    for (const std::string& platform : each_once(options.platforms))
        for (const std::int64_t ranks : sizes_of(options.ranks)) {
            std::vector<config::Argument> arguments{{"platform", platform}, {"ranks", fmt::format("{}", ranks)}};
            const auto names_framework = [](const config::Argument& one) { return one.key == "framework"; };
            if (std::ranges::none_of(options.arguments, names_framework))
                arguments.push_back({"framework", "megatron-core"});
            for (const config::Argument& given : options.arguments) {
                arguments.push_back(given);
                if (given.key == "price") arguments.back().value = per_hour(given.value);
            }
            config::PlanQuestion question =
                config::load_plan_question(options.model, arguments, options.assignments, inspect);
            if (question.variant.open.batch > most_samples)
                refuse("--batch", fmt::format("{}", question.variant.open.batch),
                       fmt::format("an iteration has more than {} samples", most_samples),
                       "write the samples of one iteration, of all ranks together");
            cases.push_back({std::move(arguments), std::move(question)});
        }
    return cases;
}

planning::AnswerTable table_of(const std::vector<Case>& cases, const PlanArguments& options) {
    const config::Variant& first = cases.front().question.variant;
    planning::AnswerTable table{first.model.name, tokens_per_sample(first.model), {}, {}};
    const auto note = [&](const std::string& text) {
        if (!text.empty()) table.notes.push_back(text);
    };
    for (const Case& one : cases) {
        const config::Variant& variant = one.question.variant;
        table.answers.insert(table.answers.end(), one.answers.begin(), one.answers.end());
        if (one.answers.empty())
            note(fmt::format("{}: {}", one.name(), one.why_none.empty() ? "not searched" : one.why_none.front()));
        if (one.question.usual_batch)
            note("the batch is chosen here: 4 Mi tokens, as Llama 2 had; --batch gives another one");
        if (!one.question.batch_from.empty())
            note(fmt::format("the batch of {} samples is that of {}; --batch gives another one", variant.open.batch,
                             one.question.batch_from));
        const bool nearer = !one.answers.empty() && one.answers.front().published.any();
        note(peak_note(variant.plan.compute, variant.model.name, variant.cluster.device, nearer));
        if (!one.answers.empty() && one.answers.front().energy) note(one.answers.front().energy->note());
    }
    const auto gives = [&](const char* key) {
        return std::ranges::any_of(options.arguments, [&](const config::Argument& one) { return one.key == key; });
    };
    if (gives("price") && std::ranges::none_of(table.answers, [](const auto& one) { return one.run.has_value(); }))
        note(
            "--price says what the whole training costs if its length is known: write --tokens, such as 2T, or "
            "--samples");
    const auto noted = std::ranges::find_if(table.answers, [](const auto& one) { return !one.failures_note.empty(); });
    if (noted != table.answers.end())  // those of other sizes say the same
        note(fmt::format("on {}, {}", planning::ranks_of(noted->ranks), noted->failures_note));
    table.notes = each_once(table.notes);
    return table;
}

/// Returns the name of a preset as it is, and the path of a file so that it holds in another directory.
std::string lasting(const std::string& name) {
    const std::filesystem::path path = name;
    if (!path.has_parent_path() && !path.has_extension()) return name;
    return std::filesystem::absolute(path).lexically_normal().string();
}

/// Returns the scenario of a plan, ready to run. What `--set` and `--price` say is in its variant.
std::string scenario_of(const Case& one, const planning::Answer& answer, const PlanArguments& options) {
    const config::Variant& variant = one.question.variant;
    const planning::FoundPlan& best = answer.found;
    std::string text = fmt::format("workload: {}\n", lasting(options.model)), training, changes;
    const auto change = [&](const std::string& assignment) {
        const std::size_t equals = assignment.find('=');
        changes += fmt::format("    {}: {}\n", assignment.substr(0, equals), assignment.substr(equals + 1));
    };
    for (const config::Argument& argument : one.arguments) {
        if (argument.key == "platform")
            text += fmt::format("platform: {}\n", lasting(argument.value));
        else if (argument.key == "framework")
            training += fmt::format("  framework: {}\n", lasting(argument.value));
        else if (argument.key == "tokens" || argument.key == "samples")
            training += fmt::format("  run: {{{}: {}}}\n", argument.key, argument.value);
        else if (argument.key == "price")
            change("platform.per_node.price_per_hour=" + argument.value);
        else if (argument.key == "ranks")
            training += fmt::format("  ranks: {}\n", argument.value);
    }
    for (const std::string& assignment : options.assignments) change(assignment);
    text += "training:\n" + training + fmt::format("  batch: {}\n", variant.open.batch);
    text += "  optimizer: adam\n  iterations: 1\n  fidelity: auto\n";
    text += fmt::format("  parallelism: {}\n", best.text);
    if (!best.recomputation.empty()) text += fmt::format("  recomputation: {}\n", best.recomputation);
    return text + (changes.empty() ? "" : "variants:\n  best:\n" + changes);
}

/// Writes a scenario for each plan, and the page that shows them.
void write_plans(const std::vector<Case>& cases, const planning::AnswerTable& table, const PlanArguments& options) {
    const std::filesystem::path target = options.directory;
    std::vector<PlanFile> files;
    for (const Case& one : cases)
        for (const planning::Answer& answer : one.answers) {
            const config::Variant& variant = one.question.variant;
            const std::string place = answer.rank == 1 ? "" : fmt::format("-{}", answer.rank);
            files.push_back(
                {fmt::format("{}-{}-{}{}.yaml", variant.model.name, variant.cluster.name, variant.plan.ranks, place),
                 scenario_of(one, answer, options)});
            write_file(target / files.back().name, files.back().text);
        }
    write_file(target / "plan.html", plan_page("Plans for " + table.model, Json::parse(to_json(table)), files));
}

void plan(const PlanArguments& options) {
    const double headroom = fraction_of(options.headroom);
    std::vector<Case> cases = cases_of(options);
    const std::vector<planning::PublishedRun> published = published_runs();
    options.tables.check(table_columns(planning::AnswerTable{}), options.format);
    if (!options.directory.empty()) require_writable(std::filesystem::path(options.directory) / "plan.json");
    PlanState state(options.directory.empty() ? "" : std::filesystem::path(options.directory) / "plan-state.json");
    std::optional<std::string> interrupted;
    {
        const HeldInterrupts held;
        ProgressLine progress("plans", ProgressLine::Elsewhere::lines);
        // First answers, from estimates alone, then better ones.
        std::vector<Pass> passes{{.effort = first_effort / cases.size()}};
        if (!options.estimate)
            passes.push_back({whole_effort, most_simulated, simulating_s / static_cast<double>(cases.size())});
        try {
            for (const Pass& pass : passes)
                for (Case& one : cases) {
                    if (!one.why_none.empty()) continue;
                    answer(one, options, search(one, options, headroom, pass, published, state, progress, held),
                           published);
                    if (one.answers.empty()) continue;
                    say("{}{}\n", pass.simulated == 0 ? "first answer: " : "", planning::line_of(one.answers.front()));
                }
        } catch (const Interrupted& error) {
            interrupted = error.what();
        }
        if (interrupted)
            state.write();
        else
            state.remove();
    }
    const planning::AnswerTable table = table_of(cases, options);
    if (table.answers.empty() && !interrupted) {
        std::string reasons;
        for (const Case& one : cases)
            reasons += fmt::format("\n{}:\n  - {}", one.name(), fmt::join(one.why_none, "\n  - "));
        throw Failed("no plan fits:" + reasons);
    }
    if (!table.answers.empty()) {
        const auto text = [&](const text::TableLayout& layout) { return to_table(table, layout); };
        write_formatted({to_json(table), to_csv(table), text}, options.format, options.directory, "plan",
                        options.tables);
        if (!options.directory.empty()) write_plans(cases, table, options);
    }
    if (interrupted)
        throw Interrupted(*interrupted +
                          (table.answers.empty() ? "; there is no answer yet" : "; these are the answers so far") +
                          (options.directory.empty() ? "; with --out DIR the same command continues"
                                                     : "; the same command continues"));
}

}  // namespace

void add_plan(CLI::App& program, Action& action) {
    CLI::App* verb =
        add_verb(program, "plan", "syncline plan gpt-2-xl --platform dgx-h100 --ranks 2,4 --batch 64 --tokens 10B",
                 "Find the fastest ways to train a model on a number of devices, with days and cost");
    const auto options = std::make_shared<PlanArguments>();
    verb->add_option("MODEL", options->model, "Workload file, or the name of one in workloads/ (llama-3-70b)")
        ->required();
    add_repeated(*verb, "--platform", options->platforms, "NAME|FILE", "Platform; several are compared")->required();
    verb->add_option("--ranks", options->ranks, "Number of devices: 512, 256,384,512 or 256..1024, which doubles")
        ->required()
        ->option_text("N");
    add_argument(*verb, "batch", "N",
                 "Samples per iteration, of all ranks together (default: 4 Mi tokens; models without tokens need it)",
                 options->arguments);
    add_argument(*verb, "tokens", "N", "Tokens of the whole training, for days and cost: 2T, 300B", options->arguments);
    add_argument(*verb, "samples", "N", "Samples of the whole training, in place of --tokens: 90M", options->arguments);
    add_argument(*verb, "price", "PRICE", "{key platform.per_node.price_per_hour} Write 24 or 24/h",
                 options->arguments);
    add_argument(*verb, "framework", "NAME|FILE", "{key scenario.training.framework} (default: megatron-core)",
                 options->arguments);
    verb->add_option("--headroom", options->headroom,
                     "Share of the device's memory that plans leave free (default: 0 %)")
        ->option_text("SHARE");
    verb->add_option("--best", options->best, "Number of plans for each number of ranks (default: 3)")
        ->option_text("N")
        ->check(CLI::Range(1, 100));
    verb->add_flag("--estimate", options->estimate, "First answers only: estimates, without simulation");
    add_set(*verb, options->assignments,
            "Set a key of every scenario: training.precision.products=fp8, training.optimizer=sgd");
    add_jobs(*verb, options->jobs)->description("Number of parallel simulations (default: number of cores)");
    add_format(*verb, options->format);
    add_wide(*verb, options->tables);
    add_columns(*verb, options->tables);
    add_out(*verb, options->directory,
            "Also write the answer to DIR as plan.json, .csv, .txt and .html, and a scenario for each plan");
    verb->callback([options, &action] { action = [options] { plan(*options); }; });
}

}  // namespace syncline::cli
