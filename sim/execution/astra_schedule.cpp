#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "sim/execution/astra_workload.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_readers.hpp"

namespace syncline::astra {

namespace {

/// What every rank does, in nodes whose group is an Among.
class Program {
public:
    Program(const Workload& workload, TraceBuilder& builder) : workload_(workload), builder_(builder) {
        switch (workload.policy->order) {
            case Order::micro:
                issue(workload.layers.front().weight_gradient, workload.layers.front().name, "weight gradients");
                break;
            case Order::inference:
                forward(0, workload.layers.size());
                break;
            case Order::dlrm:
                dlrm();
                break;
            default:
                forward(0, workload.layers.size());
                backward();
        }
    }

    struct Step {
        TraceNode node;
        std::vector<std::uint32_t> dependencies;
        Among among = Among::none;
    };
    std::vector<Step> steps;

private:
    void compute(const Layer& layer, const Pass& pass, std::string_view what) {
        if (pass.seconds == 0) return;
        TraceNode node;
        node.kind = NodeKind::compute;
        node.stream = 0;
        node.seconds = pass.seconds;
        node.name = builder_.name(fmt::format("{} {}", layer.name, what));
        add(node, Among::none);
        last_ = {static_cast<std::uint32_t>(steps.size() - 1)};
    }

    /// Begins an exchange, and returns its step, if there is one.
    std::optional<std::uint32_t> issue(const Pass& pass, const std::string& layer, std::string_view what) {
        const Exchange& exchange = pass.exchange;
        if (exchange.operation.empty() || exchange.bytes == 0) return std::nullopt;
        TraceNode node;
        node.kind = NodeKind::collective;
        node.operation = builder_.operation(exchange.operation);
        node.stream = static_cast<std::uint32_t>(exchange.among);
        node.bytes = exchange.bytes;
        node.name = builder_.name(fmt::format("{} {} of {}", layer, exchange.operation, what));
        add(node, exchange.among);
        return static_cast<std::uint32_t>(steps.size() - 1);
    }

    void wait(std::optional<std::uint32_t> step) {
        if (step && std::ranges::find(last_, *step) == last_.end()) last_.push_back(*step);
    }

    void exchange(const Pass& pass, const Layer& layer, std::string_view what) {
        if (const auto step = issue(pass, layer.name, what)) last_ = {*step};
    }

    void add(const TraceNode& node, Among among) {
        if (steps.size() >= most_trace_nodes / workload_.ranks)
            throw TraceError(fmt::format("{} layers on each of {} ranks are more than {} nodes",
                                         workload_.layers.size(), workload_.ranks, most_trace_nodes));
        steps.push_back({node, last_, among});
    }

    void forward(std::size_t begin, std::size_t end, std::string_view what = "forward") {
        for (std::size_t i = begin; i < end; ++i) {
            const Layer& layer = workload_.layers[i];
            compute(layer, layer.forward, what);
            exchange(layer.forward, layer, "activations");
        }
    }

    void recompute(std::size_t layer) {
        std::size_t checkpoint = layer + 1;
        while (checkpoint > 0 && !workload_.layers[checkpoint - 1].checkpoint) --checkpoint;
        if (checkpoint == 0) throw TraceError(fmt::format("layer {} has no checkpoint before it", layer));
        forward(checkpoint - 1, layer, "forward again");
    }

    void backward() {
        const Order order = workload_.policy->order;
        const bool checkpoints = workload_.policy->name == "HYBRID_TRANSFORMER_FWD_IN_BCKWD";
        for (std::size_t i = workload_.layers.size(); i-- > 0;) {
            const Layer& layer = workload_.layers[i];
            if (order == Order::data) {
                compute(layer, layer.weight_gradient, "weight gradient");
                issue(layer.weight_gradient, layer.name, "weight gradients");
                if (i > 0) compute(layer, layer.input_gradient, "input gradient");
                continue;
            }
            if (checkpoints && layer.recomputes) recompute(i);
            compute(layer, layer.input_gradient, "input gradient");
            std::optional<std::uint32_t> pending;
            if (order == Order::transformer)
                exchange(layer.input_gradient, layer, "input gradients");
            else if (i > 0)
                pending = issue(layer.input_gradient, layer.name, "input gradients");
            compute(layer, layer.weight_gradient, "weight gradient");
            issue(layer.weight_gradient, layer.name, "weight gradients");
            wait(pending);
        }
    }

    /// Embeddings are layer 0, whose all-to-all overlaps with the bottom layers. (DLRM-Enhanced does not wait for that
    /// of the backward pass.)
    void dlrm() {
        const std::vector<Layer>& layers = workload_.layers;
        std::optional<std::uint32_t> embeddings, gradients;
        for (std::size_t i = 0; i < layers.size(); ++i) {
            compute(layers[i], layers[i].forward, "forward");
            if (layers[i].forward.exchange.operation == "all-to-all") {
                const auto step = issue(layers[i].forward, layers[i].name, "activations");
                if (i == 0) embeddings = step;
            } else if (!layers[i].forward.exchange.operation.empty()) {
                builder_.note("exchanges of the forward pass that are no all-to-all are left out");
            }
            if (i == workload_.last_bottom) wait(embeddings);
        }
        for (std::size_t i = layers.size(); i-- > 0;) {
            compute(layers[i], layers[i].weight_gradient, "weight gradient");
            issue(layers[i].weight_gradient, layers[i].name, "weight gradients");
            if (i == 0) {
                if (workload_.policy->name == "HYBRID_DLRM") wait(gradients);
                break;
            }
            compute(layers[i], layers[i].input_gradient, "input gradient");
            if (i == workload_.last_bottom + 1)
                gradients = issue(layers[0].input_gradient, layers[0].name, "input gradients");
        }
    }

    const Workload& workload_;
    TraceBuilder& builder_;
    std::vector<std::uint32_t> last_;  ///< what the next step depends on
};

/// Ranks at equal distances.
struct Members {
    std::uint32_t first, step, count;
};

/// Returns the ranks of an exchange with this one. The ranks of a model are neighbours, and so are those of experts
/// among the replicas; with HYBRID_MODEL_DATA the replicas of a model are.
Members members(const Workload& workload, Among among, std::uint32_t rank) {
    const std::uint32_t in_stage = workload.ranks / workload.stages, replicas = in_stage / workload.model;
    const bool data_inside = workload.policy->name == "HYBRID_MODEL_DATA";
    const std::uint32_t stage = rank / in_stage * in_stage, at = rank % in_stage;
    const std::uint32_t model_step = data_inside ? replicas : 1, data_step = data_inside ? 1 : workload.model;
    const std::uint32_t row = stage + at / model_step % workload.model * model_step;  // its first replica
    const std::uint32_t replica = at / data_step % replicas, expert = replica % workload.experts;
    switch (among) {
        case Among::model:
            return {stage + replica * data_step, model_step, workload.model};
        case Among::data:
            return {row, data_step, replicas};
        case Among::experts:
            return {row + (replica - expert) * data_step, data_step, workload.experts};
        case Among::data_of_experts:
            return {row + expert * data_step, data_step * workload.experts, replicas / workload.experts};
        case Among::none:
        case Among::all:
            break;
    }
    return {0, 1, workload.ranks};
}

/// The groups by their first ranks.
class Groups {
public:
    Groups(const Workload& workload, TraceBuilder& builder) : workload_(workload), builder_(builder) {}

    std::uint32_t of(Among among, std::uint32_t rank) {
        const auto [first, step, count] = members(workload_, among, rank);
        const auto [found, is_new] = known_.try_emplace({among, first}, 0);
        if (!is_new) return found->second;
        std::vector<std::uint32_t> ranks(count);
        for (std::uint32_t i = 0; i < count; ++i) ranks[i] = first + i * step;
        return found->second = builder_.group(ranks);
    }

private:
    const Workload& workload_;
    TraceBuilder& builder_;
    std::map<std::pair<Among, std::uint32_t>, std::uint32_t> known_;
};

}  // namespace

void schedule(const Workload& workload, TraceBuilder& builder) {
    const Program program(workload, builder);
    builder.trace.ranks = workload.ranks;
    Groups groups(workload, builder);
    for (std::uint32_t rank = 0; rank < workload.ranks; ++rank) {
        const auto first = static_cast<std::uint32_t>(builder.trace.size());
        std::vector<std::uint32_t> dependencies;
        for (const Program::Step& step : program.steps) {
            TraceNode node = step.node;
            node.rank = rank;
            if (step.among != Among::none) {
                node.group = groups.of(step.among, rank);
                const std::uint64_t ranks = builder.trace.groups[node.group].size();
                // ASTRA-sim's all-gather is of what each rank gives, SimAI's of what it has at the end.
                if (!workload.of_simai && gathers(builder.trace.operations[node.operation])) node.bytes *= ranks;
            }
            dependencies.clear();
            for (const std::uint32_t on : step.dependencies) dependencies.push_back(first + on);
            builder.add(node, dependencies);
        }
    }
}

}  // namespace syncline::astra
