#include "sim/planning/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <variant>

#include "sim/lowering/recomputed_spans.hpp"
#include "sim/output/parallelism_text.hpp"
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

std::string number(std::int64_t value) {
    return std::to_string(value);
}
std::string flag(std::int64_t value) {
    return value == 0 ? "false" : "true";
}

Axis rows() {
    return {"model",
            [](const Space& space, const Plan&) {
                Values values = divisors(space.ranks);
                std::erase_if(values, [most = most_rows(space.model)](std::int64_t rows) { return rows > most; });
                return values;
            },
            [](Plan& plan, std::int64_t rows) { plan.parallelism.layout.rows = rows; },
            [](const Plan& plan) { return plan.parallelism.layout.rows; }, number};
}

/// Returns whether every layer with positions has a number of them that `parts` divides.
bool divides_positions(const Model& model, std::int64_t parts) {
    return std::ranges::all_of(model.layers, [parts](const Layer& layer) {
        const Attention* attention = attention_of(layer);
        return !attention || attention->positions % parts == 0;
    });
}

Axis context() {
    return {"context.ranks",
            [](const Space& space, const Plan& plan) {
                constexpr std::int64_t most = 16;
                if (!is_transformer(space.model)) return Values{1};
                Values values = divisors(space.ranks / plan.parallelism.layout.rows);
                std::erase_if(
                    values, [&](std::int64_t parts) { return parts > most || !divides_positions(space.model, parts); });
                return values;
            },
            [](Plan& plan, std::int64_t parts) { plan.parallelism.layout.context = parts; },
            [](const Plan& plan) { return plan.parallelism.layout.context; }, number};
}

/// Returns whether ranks that divide sequences can have whole heads instead.
bool divides_heads(const Model& model, const Layout& layout) {
    return std::ranges::all_of(model.layers, [ranks = layout.rows * layout.context](const Layer& layer) {
        const Attention* attention = attention_of(layer);
        return !attention || (attention->heads % ranks == 0 && attention->key_heads() % ranks == 0);
    });
}

constexpr std::int64_t by_ring = static_cast<std::int64_t>(ContextExchange::ring),
                       by_ulysses = static_cast<std::int64_t>(ContextExchange::ulysses);

Axis context_exchange() {
    return {
        "context.exchange",
        [](const Space& space, const Plan& plan) {
            const Layout& layout = plan.parallelism.layout;
            if (layout.context == 1) return Values{by_ring};
            Values values;
            // Measured times do not say what a ring overlaps with.
            if (plan.compute != ComputeKind::measured) values.push_back(by_ring);
            if (divides_heads(space.model, layout)) values.push_back(by_ulysses);
            return values;
        },
        [](Plan& plan, std::int64_t kind) { plan.parallelism.context_exchange = static_cast<ContextExchange>(kind); },
        [](const Plan& plan) { return static_cast<std::int64_t>(plan.parallelism.context_exchange); },
        [](std::int64_t kind) { return kind == by_ring ? "ring" : "ulysses"; }};
}

Axis stages() {
    return {"pipeline.stages",
            [](const Space& space, const Plan& plan) {
                Values values = divisors(space.ranks / plan.parallelism.layout.replica());
                std::erase_if(
                    values, [layers = std::ssize(space.model.layers)](std::int64_t stages) { return stages > layers; });
                return values;
            },
            [](Plan& plan, std::int64_t stages) { plan.parallelism.pipeline.stages = stages; },
            [](const Plan& plan) { return plan.parallelism.pipeline.stages; }, number};
}

Axis micro_batches() {
    return {"pipeline.micro_batches",
            [](const Space& space, const Plan& plan) {
                // A batch that cannot be divided among the replicas is a complaint about the whole plan.
                if (space.batch % plan.replicas() != 0) return Values{1};
                const std::int64_t samples = space.batch / plan.replicas(), size = space.micro_batch_size;
                if (size == 0) return divisors(samples);
                return samples % size == 0 ? Values{samples / size} : Values{};
            },
            [](Plan& plan, std::int64_t count) { plan.parallelism.pipeline.micro_batches = count; },
            [](const Plan& plan) { return plan.parallelism.pipeline.micro_batches; }, number};
}

/// Returns the numbers of virtual stages with which stages can be interleaved.
Values interleavings(const Space& space, const Plan& plan) {
    const Pipeline& pipeline = plan.parallelism.pipeline;
    Values values;
    if (pipeline.stages == 1 || pipeline.micro_batches % pipeline.stages != 0) return values;
    for (const std::int64_t virtual_stages : {2, 4, 8})
        if (pipeline.stages * virtual_stages <= std::ssize(space.model.layers)) values.push_back(virtual_stages);
    return values;
}

Axis schedule() {
    return {
        "pipeline.schedule",
        [](const Space& space, const Plan& plan) {
            Values values{static_cast<std::int64_t>(PipelineSchedule::one_f_one_b)};
            if (plan.parallelism.pipeline.stages == 1) return values;
            values.push_back(static_cast<std::int64_t>(PipelineSchedule::zero_bubble_h1));
            const bool any = is_written(space, "pipeline.virtual_stages");
            if (any || !interleavings(space, plan).empty())
                values.push_back(static_cast<std::int64_t>(PipelineSchedule::interleaved));
            return values;
        },
        [](Plan& plan, std::int64_t kind) { plan.parallelism.pipeline.schedule = static_cast<PipelineSchedule>(kind); },
        [](const Plan& plan) { return static_cast<std::int64_t>(plan.parallelism.pipeline.schedule); },
        [](std::int64_t kind) {
            constexpr const char* words[] = {"gpipe", "1f1b", "interleaved", "zb-h1", "zb-v", "dualpipe-v", "dualpipe"};
            return std::string(words[kind]);
        }};
}

Axis virtual_stages() {
    return {"pipeline.virtual_stages",
            [](const Space& space, const Plan& plan) {
                const bool turns = plan.parallelism.pipeline.schedule == PipelineSchedule::interleaved;
                return turns ? interleavings(space, plan) : Values{1};
            },
            [](Plan& plan, std::int64_t count) { plan.parallelism.pipeline.virtual_stages = count; },
            [](const Plan& plan) { return plan.parallelism.pipeline.virtual_stages; }, number};
}

Axis sequence() {
    return {"sequence",
            [](const Space& space, const Plan& plan) {
                return plan.parallelism.layout.rows > 1 && is_transformer(space.model) ? Values{0, 1} : Values{0};
            },
            [](Plan& plan, std::int64_t on) { plan.parallelism.sequence = on != 0; },
            [](const Plan& plan) { return std::int64_t{plan.parallelism.sequence}; }, flag};
}

/// Rows divide each expert, or each has whole ones; the latter needs positions of its own.
Axis expert_rows() {
    return {"experts.model",
            [](const Space& space, const Plan& plan) {
                const bool apart = plan.parallelism.sequence && has_experts(space.model);
                return apart ? Values{0, 1} : Values{0};
            },
            [](Plan& plan, std::int64_t rows) { plan.parallelism.experts.model = rows; },
            [](const Plan& plan) { return plan.parallelism.experts.model; }, number};
}

/// Returns the greatest number that divides the experts of every layer; 1 for models without any.
std::int64_t common_experts(const Model& model) {
    std::int64_t common = 0;
    for (const Layer& layer : model.layers)
        if (const auto* experts = std::get_if<Experts>(&layer.shape)) common = std::gcd(common, experts->experts);
    return std::max<std::int64_t>(common, 1);
}

Axis experts() {
    return {"experts.ranks",
            [](const Space& space, const Plan& plan) {
                const Parallelism& parallelism = plan.parallelism;
                const std::int64_t rows = parallelism.experts.rows_of(parallelism.layout.rows);
                return divisors(std::gcd(common_experts(space.model), plan.stage_ranks() / rows));
            },
            [](Plan& plan, std::int64_t ranks) { plan.parallelism.experts.ranks = ranks; },
            [](const Plan& plan) { return plan.parallelism.experts.ranks; }, number};
}

constexpr std::int64_t overlap_as_gradients = 0, overlap_none = -1, overlap_weights = 1;

/// 0: as the overlap of gradients says; -1: none; 1: with gradients of weights; more: also products, in so many chunks.
Axis model_overlap() {
    return {"model_overlap",
            [](const Space& space, const Plan& plan) {
                Values values{overlap_as_gradients};
                if (plan.parallelism.layout.rows == 1) return values;
                if (plan.overlap == Overlap::none) values.push_back(overlap_weights);
                if (!plan.parallelism.sequence || plan.compute == ComputeKind::measured || has_experts(space.model))
                    return values;
                values.insert(values.end(), {2, 4});
                return values;
            },
            [](Plan& plan, std::int64_t value) {
                Parallelism& parallelism = plan.parallelism;
                parallelism.model_overlap = value == overlap_as_gradients ? ModelOverlap::as_gradients
                                            : value == overlap_none       ? ModelOverlap::none
                                                                          : ModelOverlap::weight_gradients;
                parallelism.model_chunks = std::max<std::int64_t>(value, 1);
            },
            [](const Plan& plan) {
                const Parallelism& parallelism = plan.parallelism;
                if (parallelism.model_overlap == ModelOverlap::as_gradients) return overlap_as_gradients;
                return parallelism.model_overlap == ModelOverlap::none ? overlap_none : parallelism.model_chunks;
            },
            [](std::int64_t value) {
                if (value > overlap_weights) return fmt::format("{{chunks: {}}}", value);
                return std::string(value == overlap_none ? "none" : "weight-gradients");
            },
            Axis::Decides::framework};
}

/// Returns whether several ranks have the same weights.
bool shares_weights(const Plan& plan) {
    return plan.stage_ranks() > plan.parallelism.layout.rows;
}

/// Returns whether the ranks of a node that have the same weights are several, and not all that have them.
bool shards_in_nodes(const Space& space, const Plan& plan) {
    const std::int64_t rows = plan.parallelism.layout.rows, alike = plan.stage_ranks() / rows;
    const std::int64_t of_node = space.devices / rows;
    return of_node > 1 && of_node < alike && alike % of_node == 0 && plan.parallelism.experts.ranks == 1;
}

/// The state, and 4 for each of: shards within groups, and the number of a group's ranks.
Axis sharding() {
    constexpr std::int64_t kinds = 4;
    constexpr std::int64_t in_nodes = kinds * (1 + ranks_of_node);
    return {"sharding",
            [](const Space& space, const Plan& plan) {
                Values values{static_cast<std::int64_t>(Sharding::none)};
                if (!shares_weights(plan)) return values;
                values.push_back(static_cast<std::int64_t>(Sharding::optimizer));
                // A pipeline adds up the gradients of several microbatches first: sharding them changes nothing.
                const Pipeline& pipeline = plan.parallelism.pipeline;
                if (pipeline.micro_batches == 1 || pipeline.stages == 1)
                    values.push_back(static_cast<std::int64_t>(Sharding::gradients));
                values.push_back(static_cast<std::int64_t>(Sharding::parameters));
                if (!shards_in_nodes(space, plan)) return values;
                const auto among_all = values.size();
                for (std::size_t i = 1; i < among_all; ++i) values.push_back(values[i] + in_nodes);
                return values;
            },
            [](Plan& plan, std::int64_t value) {
                plan.parallelism.sharding = static_cast<Sharding>(value % kinds);
                plan.parallelism.shard_ranks.reset();
                if (value >= in_nodes) plan.parallelism.shard_ranks = value / kinds - 1;
            },
            [](const Plan& plan) {
                const auto& ranks = plan.parallelism.shard_ranks;
                return static_cast<std::int64_t>(plan.parallelism.sharding) + (ranks ? kinds * (1 + *ranks) : 0);
            },
            [](std::int64_t value) {
                const char* const state = name_of(static_cast<Sharding>(value % kinds));
                if (value < in_nodes) return std::string(state);
                const std::int64_t ranks = value / kinds - 1;
                return fmt::format("{{of: {}, within: {}}}", state, ranks == ranks_of_node ? "node" : number(ranks));
            }};
}

constexpr std::int64_t gather_after = static_cast<std::int64_t>(Gather::after_update),
                       gather_before = static_cast<std::int64_t>(Gather::before_forward);

Axis gathering() {
    return {"gathering",
            [](const Space&, const Plan& plan) {
                const bool updates = shares_weights(plan) && divides_updates(plan.parallelism.sharding);
                return updates ? Values{gather_after, gather_before} : Values{gather_after};
            },
            [](Plan& plan, std::int64_t when) { plan.parallelism.gather = static_cast<Gather>(when); },
            [](const Plan& plan) { return static_cast<std::int64_t>(plan.parallelism.gather); },
            [](std::int64_t when) { return when == gather_before ? "before-forward" : "after-update"; },
            Axis::Decides::framework};
}

constexpr std::int64_t sync_automatic = static_cast<std::int64_t>(GradientSync::automatic),
                       sync_last = static_cast<std::int64_t>(GradientSync::last_micro_batch);

/// Gradients that are sharded are exchanged after each microbatch, unless whole ones have room until the last. Others
/// gain nothing by earlier exchanges, and sharded gradients nothing over a sharded optimizer if they are kept whole.
Axis gradient_sync() {
    return {
        "gradient_sync",
        [](const Space& space, const Plan& plan) {
            const Parallelism& parallelism = plan.parallelism;
            const bool whole = parallelism.sharding == Sharding::parameters || is_written(space, "sharding");
            const bool each = parallelism.pipeline.micro_batches > 1 && parallelism.syncs_each_micro_batch();
            return shares_weights(plan) && each && whole ? Values{sync_automatic, sync_last} : Values{sync_automatic};
        },
        [](Plan& plan, std::int64_t when) { plan.parallelism.gradient_sync = static_cast<GradientSync>(when); },
        [](const Plan& plan) { return static_cast<std::int64_t>(plan.parallelism.gradient_sync); },
        [](std::int64_t when) {
            if (when == sync_automatic) return "auto";
            return when == sync_last ? "last-micro-batch" : "each-micro-batch";
        },
        Axis::Decides::framework};
}

Axis recomputation() {
    return {"recomputation",
            [](const Space& space, const Plan& plan) {
                if (!space.recomputation) return Values{static_cast<std::int64_t>(plan.recomputation)};
                Values values{static_cast<std::int64_t>(Recomputation::none)};
                if (stores_scores(space.model)) values.push_back(static_cast<std::int64_t>(Recomputation::selective));
                if (is_transformer(space.model) && !has_experts(space.model) && plan.compute != ComputeKind::measured)
                    values.push_back(static_cast<std::int64_t>(Recomputation::operators));
                values.push_back(static_cast<std::int64_t>(Recomputation::full));
                return values;
            },
            [](Plan& plan, std::int64_t kind) { plan.recomputation = static_cast<Recomputation>(kind); },
            [](const Plan& plan) { return static_cast<std::int64_t>(plan.recomputation); },
            [](std::int64_t kind) {
                constexpr const char* words[] = {"none", "selective", "operators", "full"};
                return std::string(words[kind]);
            },
            Axis::Decides::search,
            true};
}

/// Visits the choices that begin with `choice`, until `visit` returns false. Returns what it returned last.
bool extend(const Space& space, const Plan& plan, Choice& choice,
            const std::function<bool(const Choice&, const Plan&)>& visit) {
    if (choice.size() == axes().size()) return visit(choice, plan);
    const Axis& axis = axes()[choice.size()];
    bool more = true;
    for (const std::int64_t value : axis.choices(space, plan)) {
        Plan next = plan;
        axis.apply(next, value);
        choice.push_back(value);
        more = extend(space, next, choice, visit);
        choice.pop_back();
        if (!more) break;
    }
    return more;
}

}  // namespace

std::vector<std::int64_t> Axis::choices(const Space& space, const Plan& plan) const {
    const bool said = inherits(plan, "parallelism." + key) && decides == Decides::framework;
    Values all = said || is_written(space, key) ? Values{read(plan)} : values(space, plan);
    // The remaining ranks are the replicas.
    if (key == "pipeline.stages")
        std::erase_if(all, [&](std::int64_t stages) {
            const std::int64_t of_replica = stages * plan.parallelism.layout.replica();
            if (space.ranks % of_replica != 0) return true;
            return space.replicas > 0 && space.ranks / of_replica != space.replicas;
        });
    return all;
}

const std::vector<Axis>& axes() {
    using Outset = Axis::Outset;
    const auto first = [](Axis axis, Outset outset) {
        axis.outset = outset;
        return axis;
    };
    // Every way to split the model; microbatches as small as possible, sequence parallelism, the optimizer's state
    // sharded.
    static const std::vector<Axis> all{first(rows(), Outset::every),
                                       first(context(), Outset::every),
                                       context_exchange(),
                                       first(stages(), Outset::every),
                                       first(micro_batches(), Outset::last),
                                       schedule(),
                                       virtual_stages(),
                                       first(sequence(), Outset::last),
                                       first(expert_rows(), Outset::every),
                                       first(experts(), Outset::every),
                                       model_overlap(),
                                       first(sharding(), Outset::second),
                                       gathering(),
                                       gradient_sync(),
                                       recomputation()};
    return all;
}

Values Axis::first_tried(const Values& all) const {
    switch (outset) {
        case Outset::every:
            return all;
        case Outset::simplest:
            return {all.front()};
        case Outset::second:
            return {all[std::min<std::size_t>(1, all.size() - 1)]};
        case Outset::last:
            return {all.back()};
    }
    return all;
}

std::size_t first_of_state() {
    static const auto first =
        static_cast<std::size_t>(std::ranges::find(axes(), "sharding", &Axis::key) - axes().begin());
    return first;
}

bool same_layout(const Choice& one, const Choice& other) {
    static const auto last = std::ranges::find(axes(), "pipeline.stages", &Axis::key) - axes().begin();
    return std::equal(one.begin(), one.begin() + last + 1, other.begin());
}

bool is_written(const Space& space, const std::string& key) {
    return std::ranges::any_of(space.written, [&](const std::string& path) {
        // A mapping with this key alone may be written as its value.
        return path == key || path.starts_with(key + ".") || key == path + ".ranks" || key == path + ".stages";
    });
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

std::optional<Choice> choose(
    const Space& space, Plan base,
    const std::function<std::int64_t(std::size_t axis, const std::vector<std::int64_t>& values)>& pick) {
    Choice choice;
    for (const Axis& axis : axes()) {
        const Values values = axis.choices(space, base);
        if (values.empty()) return std::nullopt;
        choice.push_back(pick(choice.size(), values));
        axis.apply(base, choice.back());
    }
    return choice;
}

Plan plan_of(const Choice& choice, Plan base) {
    for (std::size_t i = 0; i < choice.size(); ++i) axes()[i].apply(base, choice[i]);
    return base;
}

std::string text_of(const Choice& choice, const Plan& base, const std::vector<std::int64_t>& layers) {
    struct Said {
        std::string key, word;
    };
    const auto outer = [](const std::string& key) { return key.substr(0, key.find('.')); };
    const auto differs = [&](std::size_t i) { return choice[i] != axes()[i].neutral(); };
    std::vector<Said> all;
    for (std::size_t i = 0; i < choice.size(); ++i) {
        const Axis& axis = axes()[i];
        bool said = differs(i);
        if (inherits(base, "parallelism." + axis.key)) said = axis.decides == Axis::Decides::search;
        // A mapping needs its number of ranks.
        if (axis.key.ends_with(".ranks"))
            for (std::size_t other = 0; other < choice.size(); ++other)
                said = said || (outer(axes()[other].key) == outer(axis.key) && differs(other));
        if (said && !axis.of_training) all.push_back({axis.key, axis.word(choice[i])});
        if (axis.key == "model") all.push_back({"data", number(plan_of(choice, base).replicas())});
    }
    std::vector<std::string> parts;
    for (std::size_t i = 0, end = 0; i < all.size(); i = end) {
        std::vector<std::string> inner;
        for (end = i; end < all.size() && outer(all[end].key) == outer(all[i].key); ++end)
            if (const std::size_t dot = all[end].key.find('.'); dot != std::string::npos)
                inner.push_back(fmt::format("{}: {}", all[end].key.substr(dot + 1), all[end].word));
        if (outer(all[i].key) == "pipeline" && !layers.empty())
            inner.push_back(fmt::format("layers: [{}]", fmt::join(layers, ", ")));
        const bool alone = inner.empty() || (inner.size() == 1 && all[i].key.ends_with(".ranks") &&
                                             base.parallelism.experts.imbalance == 0);
        parts.push_back(alone ? fmt::format("{}: {}", outer(all[i].key), all[i].word)
                              : fmt::format("{}: {{{}}}", outer(all[i].key), fmt::join(inner, ", ")));
    }
    return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

std::string recomputation_of(const Choice& choice, const Plan& base) {
    const bool other = choice.back() != static_cast<std::int64_t>(base.recomputation);
    return other ? axes().back().word(choice.back()) : "";
}

std::string words_of(const Choice& choice, const Plan& base) {
    return words_of(text_of(choice, base), recomputation_of(choice, base));
}

std::string words_of(const std::string& parallelism, const std::string& recomputation) {
    return fmt::format("`parallelism: {}`{}", parallelism,
                       recomputation.empty() ? "" : fmt::format(" with `recomputation: {}`", recomputation));
}

}  // namespace syncline::planning
