#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/did_you_mean.hpp"
#include "sim/base/number.hpp"
#include "sim/base/utf8.hpp"
#include "sim/execution/astra_workload.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_readers.hpp"

namespace syncline {

namespace astra {

namespace {

constexpr std::array policies{
    Policy{"MICRO", Order::micro, Among::none, Among::all},
    Policy{"DATA", Order::data, Among::none, Among::all},
    Policy{"MODEL", Order::model, Among::all, Among::none},
    Policy{"HYBRID_DATA_MODEL", Order::model, Among::model, Among::data},
    Policy{"HYBRID_MODEL_DATA", Order::model, Among::model, Among::data},
    Policy{"HYBRID_CUSTOMIZED", Order::model, Among::model, Among::data},
    Policy{"HYBRID_TRANSFORMER", Order::transformer, Among::model, Among::data},
    Policy{"HYBRID_TRANSFORMER_FWD_IN_BCKWD", Order::transformer, Among::model, Among::data},
    Policy{"HYBRID_DLRM", Order::dlrm, Among::all, Among::all},
    Policy{"HYBRID_DLRM_ENHANCED", Order::dlrm, Among::all, Among::all},
    Policy{"DISTRIBUTED_INFERENCE", Order::inference, Among::all, Among::none},
};

class AstraReader {
public:
    AstraReader(const TraceFile& file, const TraceOptions& options, TraceBuilder& builder)
        : words_(file), options_(options), builder_(builder) {}

    Workload read() {
        read_header();
        const std::uint64_t count = read_count();
        std::vector<std::uint64_t> checkpoints = std::move(checkpoints_), initiates = std::move(initiates_);
        for (std::uint64_t i = 0; i < count; ++i) {
            if (!words_.next_line()) words_.refuse(fmt::format("layer {} of {} is missing", i + 1, count));
            read_layer();
        }
        std::uint64_t further = 0;
        while (words_.next_line()) ++further;
        if (further > 0) builder_.note("lines after the last layer are left out", further);
        for (const std::uint64_t layer : checkpoints)
            if (layer < count) workload_.layers[layer].checkpoint = true;
        for (const std::uint64_t layer : initiates)
            if (layer < count) workload_.layers[layer].recomputes = true;
        if (left_out_update_ > 0)
            builder_.remark(fmt::format("times of weight updates are left out: {:g} s in all", left_out_update_));
        return std::move(workload_);
    }

private:
    const Policy& policy_named(std::string_view name) const {
        const auto* const found = std::ranges::find(policies, name, &Policy::name);
        if (found != policies.end()) return *found;
        std::vector<std::string> names;
        for (const Policy& policy : policies) names.emplace_back(policy.name);
        words_.refuse(fmt::format("there is no parallelism '{}'", printable(name.substr(0, 40))),
                      did_you_mean(name.substr(0, 40), names));
    }

    /// The policy, and pairs of a key and a number: "model_parallel_NPU_group: 4 checkpoints: 1 0 …".
    void read_header() {
        if (!words_.next_line()) throw TraceError("it is empty");
        workload_.policy = &policy_named(words_.word("the parallelism"));
        std::optional<std::uint64_t> all_gpus;
        while (words_.has_word()) {
            std::string_view key = words_.word("a key");
            if (number_in<std::uint64_t>(key)) {  // HYBRID_DLRM 5
                workload_.last_bottom = *number_in<std::uint64_t>(key);
                continue;
            }
            while (key.ends_with(':')) key.remove_suffix(1);
            const auto rank_count = [&] {
                const auto count = static_cast<std::uint32_t>(words_.whole(key, most_trace_ranks));
                if (count == 0) words_.refuse(fmt::format("{} must be at least 1", key));
                return count;
            };
            const bool simai =
                key == "ep" || key == "pp" || key == "vpp" || key == "ga" || key == "all_gpus" || key == "pp_comm";
            workload_.of_simai = workload_.of_simai || simai;
            if (key == "model_parallel_NPU_group") {
                workload_.model = rank_count();
            } else if (key == "ep") {
                workload_.experts = rank_count();
            } else if (key == "pp") {
                workload_.stages = rank_count();
            } else if (key == "all_gpus") {
                all_gpus = rank_count();
            } else if (key == "checkpoints") {
                checkpoints_ = read_list("checkpoints");
            } else if (key == "checkpoint_initiates") {
                initiates_ = read_list("checkpoint_initiates");
            } else {
                const bool value = number_in<double>(words_.peek()).has_value();
                if (value) words_.word("a number");
                if (!simai || (key == "pp_comm" && workload_.stages > 1))
                    builder_.remark(fmt::format("'{}' of the first line is left out", printable(key.substr(0, 40))));
            }
        }
        workload_.ranks = options_.ranks != 0 ? options_.ranks : static_cast<std::uint32_t>(all_gpus.value_or(0));
        if (workload_.ranks == 0) throw TraceError("its text does not say how many ranks there are: give their number");
        settle_groups();
    }

    void settle_groups() {
        Workload& workload = workload_;
        const std::string_view name = workload.policy->name;
        if (workload.model == 0) {
            if (workload.policy->activations == Among::model)
                words_.refuse(fmt::format("{} does not say how many ranks share a model", name),
                              "add model_parallel_NPU_group: N to the first line");
            workload.model = 1;
        }
        const std::uint64_t unit = std::uint64_t{workload.model} * workload.stages * workload.experts;
        if (workload.ranks % unit != 0)
            words_.refuse(fmt::format("{} ranks cannot be divided into groups of {} × {} × {}", workload.ranks,
                                      workload.model, workload.stages, workload.experts));
        if (workload.stages > 1)
            builder_.remark(
                fmt::format("each of the {} pipeline stages computes all layers, without messages between "
                            "stages",
                            workload.stages));
    }

    std::vector<std::uint64_t> read_list(std::string_view what) {
        std::vector<std::uint64_t> list;
        for (std::uint64_t left = words_.whole(what, most_trace_nodes); left > 0; --left)
            list.push_back(words_.whole(fmt::format("a layer of {}", what)));
        return list;
    }

    std::uint64_t read_count() {
        if (!words_.next_line()) words_.refuse("the number of layers is missing");
        const std::uint64_t count = words_.whole("the number of layers", most_trace_nodes);
        if (count == 0) words_.refuse("there must be at least one layer");
        return count;
    }

    void read_layer() {
        Layer layer;
        layer.name = printable(words_.word("the name of a layer").substr(0, 100));
        words_.word("the reserved number");  // -1
        // The 13th column is the layer's own policy; the line is read first, because it comes last.
        layer.forward = read_pass("forward");
        layer.input_gradient = read_pass("input gradient");
        layer.weight_gradient = read_pass("weight gradient");
        left_out_update_ += words_.number("the time of the update") * unit();
        const Policy* policy = workload_.policy;
        if (policy->name == "HYBRID_CUSTOMIZED") policy = &policy_named(words_.word("the layer's parallelism"));
        std::uint64_t further = 0;
        for (; words_.has_word(); ++further) words_.word("");
        if (further > 0) builder_.note("words after the columns of a layer are left out", further);
        settle(layer.forward.exchange, policy->activations);
        settle(layer.input_gradient.exchange, policy->activations);
        settle(layer.weight_gradient.exchange, policy->weights);
        constexpr std::array simai_names{"grad_gather", "grad_param_comm", "grad_param_compute"};
        if (std::ranges::find(simai_names, layer.name) != simai_names.end()) workload_.of_simai = true;
        workload_.layers.push_back(std::move(layer));
    }

    Pass read_pass(std::string_view name) {
        Pass pass;
        pass.seconds = words_.number(fmt::format("the time of the {}", name)) * unit();
        pass.exchange = read_exchange(words_.word(fmt::format("the exchange of the {}", name)));
        pass.exchange.bytes = words_.whole(fmt::format("the bytes of the {}", name), most_bytes);
        return pass;
    }

    /// Of which only SimAI's files say among which ranks it is.
    Exchange read_exchange(std::string_view word) const {
        constexpr std::array<std::pair<std::string_view, std::string_view>, 4> operations{
            {{"ALLREDUCE", "allreduce"},
             {"ALLGATHER", "allgather"},
             {"REDUCESCATTER", "reduce-scatter"},
             {"ALLTOALL", "all-to-all"}}};
        Exchange exchange;
        if (word == "NONE") return exchange;
        exchange.word = word;
        if (word == "BROADCAST") return exchange;
        for (const auto& [prefix, operation] : operations) {
            if (!word.starts_with(prefix)) continue;
            const std::string_view suffix = word.substr(prefix.size());
            if (suffix == "_EP") exchange.among = Among::experts;
            if (suffix == "_DP_EP") exchange.among = Among::data_of_experts;
            if (!suffix.empty() && exchange.among == Among::none) break;
            exchange.operation = operation;
            return exchange;
        }
        words_.refuse(fmt::format("there is no exchange '{}'", printable(word.substr(0, 40))),
                      "NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER or ALLTOALL, and in SimAI's files also with _EP or "
                      "_DP_EP");
    }

    void settle(Exchange& exchange, Among policy) {
        if (exchange.operation.empty()) {
            if (exchange.word == "BROADCAST") builder_.note("BROADCASTs, which SimAI does not simulate, are left out");
            return;
        }
        if (exchange.among == Among::none) exchange.among = policy;
        if (exchange.among == Among::none) {
            builder_.note(fmt::format("exchanges that {} does not have are left out", workload_.policy->name));
            exchange.operation = {};
        }
    }

    static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 45;  // 2^62 of an all-gather

    double unit() const { return options_.compute_unit_s > 0 ? options_.compute_unit_s : 1e-9; }

    TraceWords words_;
    const TraceOptions& options_;
    TraceBuilder& builder_;
    Workload workload_;
    std::vector<std::uint64_t> checkpoints_, initiates_;
    double left_out_update_ = 0;
};

}  // namespace

}  // namespace astra

void read_astra_text(const std::vector<std::string>& files, const TraceOptions& options, TraceBuilder& builder) {
    const std::string& name = only_trace_file(files);
    in_trace_file(name, [&] {
        const TraceFile file = read_trace_text(name);
        const astra::Workload workload = astra::AstraReader(file, options, builder).read();
        astra::schedule(workload, builder);
        if (options.compute_unit_s > 0)
            builder.remark(fmt::format("a unit of compute is {:g} s, as asked", options.compute_unit_s));
        else
            builder.remark("a unit of compute is 1 ns; Chakra's converter takes it as 1 us");
        builder.remark(workload.of_simai ? "the bytes of an all-gather are those of all ranks, as in SimAI"
                                         : "the bytes of an all-gather are those of one rank, as in ASTRA-sim");
    });
}

}  // namespace syncline
