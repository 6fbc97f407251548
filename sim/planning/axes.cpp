#include "sim/planning/axes.hpp"
#include "sim/lowering/segments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <variant>

#include "sim/plan/inherited.hpp"

namespace syncline::planning {

namespace {

using Values = std::vector<std::int64_t>;

Values divisors(std::int64_t number) {
    Values result;
    for (std::int64_t one = 1; one <= number; ++one)
        if (number % one == 0) result.push_back(one);
    return result;
}

/// Returns the number of rows of which each has a part of every layer that can be divided.
std::int64_t most_rows(const Model& model) {
    std::int64_t most = std::int64_t{1} << 24;
    for (const Layer& layer : model.layers)
        if (const std::int64_t parts = parts_of(layer); parts > 1) most = std::min(most, parts);
    return most;
}

bool has_positions(const Model& model) {
    return std::any_of(model.layers.begin(), model.layers.end(),
                       [](const Layer& layer) { return std::holds_alternative<Attention>(layer.shape); });
}

std::string number(std::int64_t value) {
    return std::to_string(value);
}
std::string flag(std::int64_t value) {
    return value == 0 ? "false" : "true";
}

Axis rows() {
    return {"model", 1,
            [](const Space& space, const Plan&) {
                Values values = divisors(space.ranks);
                std::erase_if(values, [most = most_rows(space.model)](std::int64_t rows) { return rows > most; });
                return values;
            },
            [](Plan& plan, std::int64_t rows) { plan.parallelism.layout.rows = rows; }, number};
}

/// Returns whether every layer with positions has a number of them that `parts` divides.
bool divides_positions(const Model& model, std::int64_t parts) {
    return std::all_of(model.layers.begin(), model.layers.end(), [parts](const Layer& layer) {
        const auto* attention = std::get_if<Attention>(&layer.shape);
        return !attention || attention->positions % parts == 0;
    });
}

Axis context() {
    return {"context", 1,
            [](const Space& space, const Plan& plan) {
                constexpr std::int64_t most = 16;
                if (!has_positions(space.model)) return Values{1};
                Values values = divisors(space.ranks / plan.parallelism.layout.rows);
                std::erase_if(
                    values, [&](std::int64_t parts) { return parts > most || !divides_positions(space.model, parts); });
                return values;
            },
            [](Plan& plan, std::int64_t parts) { plan.parallelism.layout.context = parts; }, number};
}

/// Returns the greatest number that divides the experts of every layer; 1 for models without any.
std::int64_t common_experts(const Model& model) {
    std::int64_t common = 0;
    for (const Layer& layer : model.layers)
        if (const auto* experts = std::get_if<Experts>(&layer.shape)) common = std::gcd(common, experts->experts);
    return std::max<std::int64_t>(common, 1);
}

Axis experts() {
    return {"experts", 1,
            [](const Space& space, const Plan& plan) {
                const std::int64_t alike = plan.stage_ranks() / plan.parallelism.layout.rows;
                return divisors(std::gcd(common_experts(space.model), alike));
            },
            [](Plan& plan, std::int64_t ranks) { plan.parallelism.experts.ranks = ranks; }, number};
}

Axis stages() {
    return {"pipeline.stages", 1,
            [](const Space& space, const Plan& plan) {
                Values values = divisors(space.ranks / plan.parallelism.layout.replica());
                const std::int64_t layers = std::ssize(space.model.layers);
                std::erase_if(values, [layers](std::int64_t stages) { return stages > layers; });
                return values;
            },
            [](Plan& plan, std::int64_t stages) { plan.parallelism.pipeline.stages = stages; }, number};
}

Axis micro_batches() {
    return {"pipeline.micro_batches", 1,
            [](const Space& space, const Plan& plan) {
                // A batch that cannot be divided among the replicas is a complaint about the whole plan.
                return space.batch % plan.replicas() == 0 ? divisors(space.batch / plan.replicas()) : Values{1};
            },
            [](Plan& plan, std::int64_t count) { plan.parallelism.pipeline.micro_batches = count; }, number};
}

/// Returns the numbers of virtual stages with which stages can be interleaved.
Values interleavings(const Space& space, const Plan& plan) {
    const Pipeline& pipeline = plan.parallelism.pipeline;
    Values values;
    if (pipeline.stages == 1 || pipeline.micro_batches % pipeline.stages != 0) return values;
    for (const std::int64_t chunks : {2, 4, 8})
        if (pipeline.stages * chunks <= std::ssize(space.model.layers)) values.push_back(chunks);
    return values;
}

Axis schedule() {
    return {
        "pipeline.schedule", static_cast<std::int64_t>(PipelineSchedule::one_f_one_b),
        [](const Space& space, const Plan& plan) {
            Values values{static_cast<std::int64_t>(PipelineSchedule::one_f_one_b)};
            if (plan.parallelism.pipeline.stages == 1) return values;
            values.push_back(static_cast<std::int64_t>(PipelineSchedule::zero_bubble_h1));
            if (!interleavings(space, plan).empty())
                values.push_back(static_cast<std::int64_t>(PipelineSchedule::interleaved));
            return values;
        },
        [](Plan& plan, std::int64_t kind) { plan.parallelism.pipeline.schedule = static_cast<PipelineSchedule>(kind); },
        [](std::int64_t kind) {
            return kind == static_cast<std::int64_t>(PipelineSchedule::interleaved) ? "interleaved" : "zb-h1";
        }};
}

Axis chunks() {
    return {"pipeline.virtual_stages", 1,
            [](const Space& space, const Plan& plan) {
                const bool turns = plan.parallelism.pipeline.schedule == PipelineSchedule::interleaved;
                return turns ? interleavings(space, plan) : Values{1};
            },
            [](Plan& plan, std::int64_t chunks) { plan.parallelism.pipeline.chunks = chunks; }, number};
}

Axis sequence() {
    return {"sequence", 0,
            [](const Space& space, const Plan& plan) {
                return plan.parallelism.layout.rows > 1 && has_positions(space.model) ? Values{0, 1} : Values{0};
            },
            [](Plan& plan, std::int64_t on) { plan.parallelism.sequence = on != 0; }, flag};
}

/// Returns whether the ranks of a node that have the same weights are several, and not all that have them.
bool shards_in_nodes(const Space& space, const Plan& plan) {
    const std::int64_t rows = plan.parallelism.layout.rows, alike = plan.stage_ranks() / rows;
    const std::int64_t of_node = space.devices / rows;
    return of_node > 1 && of_node < alike && alike % of_node == 0 && plan.parallelism.experts.ranks == 1;
}

Axis sharding() {
    constexpr std::int64_t in_nodes = 4;  // added to the state
    return {"sharding", static_cast<std::int64_t>(Sharding::none),
            [](const Space& space, const Plan& plan) {
                Values values{static_cast<std::int64_t>(Sharding::none)};
                if (plan.stage_ranks() == plan.parallelism.layout.rows) return values;
                values.push_back(static_cast<std::int64_t>(Sharding::optimizer));
                // A pipeline adds up the gradients of several micro-batches first: sharding them changes nothing.
                const Pipeline& pipeline = plan.parallelism.pipeline;
                if (pipeline.micro_batches == 1 || pipeline.stages == 1)
                    values.push_back(static_cast<std::int64_t>(Sharding::gradients));
                values.push_back(static_cast<std::int64_t>(Sharding::parameters));
                if (!shards_in_nodes(space, plan)) return values;
                const auto among_all = values.size();
                for (std::size_t i = 1; i < among_all; ++i) values.push_back(values[i] + in_nodes);
                return values;
            },
            [](Plan& plan, std::int64_t kind) {
                plan.parallelism.sharding = static_cast<Sharding>(kind % in_nodes);
                plan.parallelism.shard_ranks.reset();
                if (kind >= in_nodes) plan.parallelism.shard_ranks = ranks_of_node;
            },
            [](std::int64_t kind) {
                constexpr const char* words[] = {"none", "optimizer", "gradients", "parameters"};
                const std::string state = words[kind % in_nodes];
                return kind < in_nodes ? state : fmt::format("{{of: {}, within: node}}", state);
            }};
}

Axis recomputation() {
    return {"recomputation",
            -1,
            [](const Space& space, const Plan& plan) {
                if (!space.recomputation) return Values{static_cast<std::int64_t>(plan.recomputation)};
                Values values{static_cast<std::int64_t>(Recomputation::none)};
                if (stores_scores(space.model)) values.push_back(static_cast<std::int64_t>(Recomputation::selective));
                values.push_back(static_cast<std::int64_t>(Recomputation::full));
                return values;
            },
            [](Plan& plan, std::int64_t kind) { plan.recomputation = static_cast<Recomputation>(kind); },
            [](std::int64_t kind) {
                constexpr const char* words[] = {"none", "selective", "operators", "full"};
                return std::string(words[kind]);
            },
            true};
}

/// Visits the choices that begin with `choice`, until `visit` returns false. Returns what it returned last.
bool extend(const Space& space, const Plan& plan, Choice& choice,
            const std::function<bool(const Choice&, const Plan&)>& visit) {
    if (choice.size() == axes().size()) return visit(choice, plan);
    const Axis& axis = axes()[choice.size()];
    bool goes_on = true;
    for (const std::int64_t value : axis.values(space, plan)) {
        Plan next = plan;
        axis.apply(next, value);
        choice.push_back(value);
        goes_on = extend(space, next, choice, visit);
        choice.pop_back();
        if (!goes_on) break;
    }
    return goes_on;
}

}  // namespace

const std::vector<Axis>& axes() {
    static const std::vector<Axis> all{rows(),   context(), stages(),   micro_batches(), schedule(),
                                       chunks(), experts(), sequence(), sharding(),      recomputation()};
    return all;
}

void each_choice(const Space& space, const Plan& base, const std::function<void(const Choice&, const Plan&)>& visit) {
    Choice choice;
    extend(space, base, choice, [&](const Choice& made, const Plan& plan) {
        visit(made, plan);
        return true;
    });
}

std::uint64_t count_choices(const Space& space, const Plan& base, std::uint64_t most) {
    Choice choice;
    std::uint64_t count = 0;
    extend(space, base, choice, [&](const Choice&, const Plan&) { return ++count < most; });
    return count;
}

Choice choose(const Space& space, Plan base,
              const std::function<std::int64_t(std::size_t axis, const std::vector<std::int64_t>& values)>& pick) {
    Choice choice;
    for (const Axis& axis : axes()) {
        choice.push_back(pick(choice.size(), axis.values(space, base)));
        axis.apply(base, choice.back());
    }
    return choice;
}

Plan plan_of(const Choice& choice, Plan base) {
    for (std::size_t i = 0; i < choice.size(); ++i) axes()[i].apply(base, choice[i]);
    return base;
}

std::string text_of(const Choice& choice, const Plan& base) {
    const Plan plan = plan_of(choice, base);
    std::vector<std::string> parts;
    std::string group;  // the mapping in which the keys before this one are
    const auto close = [&] {
        if (!group.empty()) parts.back() += "}";
        group.clear();
    };
    const auto add = [&](const std::string& path, const std::string& word) {
        const std::size_t dot = path.find('.');
        const std::string outer = dot == path.npos ? "" : path.substr(0, dot);
        const std::string item = fmt::format("{}: {}", path.substr(dot == path.npos ? 0 : dot + 1), word);
        if (outer != group) close();
        if (outer.empty())
            parts.push_back(item);
        else if (group.empty())
            parts.push_back(fmt::format("{}: {{{}", outer, item));
        else
            parts.back() += ", " + item;
        group = outer;
    };
    for (std::size_t i = 0; i < choice.size(); ++i) {
        const Axis& axis = axes()[i];
        const bool said = choice[i] != axis.neutral || inherits(base, "parallelism." + axis.key);
        if (said && !axis.of_training) add(axis.key, axis.word(choice[i]));
        if (axis.key == "model") add("data", number(plan.replicas()));
    }
    close();
    return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

std::string recomputation_of(const Choice& choice, const Plan& base) {
    const bool other = choice.back() != static_cast<std::int64_t>(base.recomputation);
    return other ? axes().back().word(choice.back()) : "";
}

std::string words_of(const Choice& choice, const Plan& base) {
    const std::string recomputation = recomputation_of(choice, base);
    return fmt::format("`parallelism: {}`{}", text_of(choice, base),
                       recomputation.empty() ? "" : fmt::format(" with `recomputation: {}`", recomputation));
}

}  // namespace syncline::planning
