#include <fmt/format.h>

#include <cmath>

#include "sim/lowering/rank_kinds.hpp"
#include "sim/output/parallelism_text.hpp"
#include "sim/report/parts.hpp"

namespace syncline {

namespace {

class Facts {
public:
    void add(const std::string& name, const std::string& value, const std::string& meaning) {
        list_.push_back({{"name", name}, {"value", value}, {"meaning", meaning}});
    }
    /// Leaves out a size of 1.
    void size(const char* name, std::int64_t number, const char* meaning, const std::string& more = "") {
        if (number > 1) add(name, fmt::format("{}{}", number, more), meaning);
    }
    Json list() const { return list_; }

private:
    Json list_ = Json::array();
};

void add_exchange(Facts& facts, const Plan& plan, const Result& result) {
    if (plan.exchange == ExchangeKind::parameter_server)
        facts.add("servers", std::to_string(plan.servers.count), "parameter servers");
    else if (plan.exchange == ExchangeKind::allreduce && plan.replicas() > 1 && result.algorithm.size() <= 24)
        facts.add("all-reduce", result.algorithm, "algorithm that adds up gradients");
    else if (plan.replicas() > 1 && plan.parallelism.sharding == Sharding::none)
        facts.add("exchange", result.exchange, "exchange of gradients");
}

}  // namespace

Json page_facts(const Lowered& training, const Result& result) {
    const Plan& plan = training.plan;
    const Parallelism& parallelism = plan.parallelism;
    const Pipeline& pipeline = parallelism.pipeline;
    Facts facts;
    facts.size("TP", parallelism.layout.rows, "tensor parallel: ranks that divide every weight");
    facts.size("PP", pipeline.stages, "pipeline parallel: stages",
               pipeline.stages > 1 && pipeline.virtual_stages > 1 ? fmt::format(" × {}", pipeline.virtual_stages) : "");
    facts.size("CP", parallelism.layout.context, "context parallel: ranks that divide every sequence");
    facts.size("domain", parallelism.layout.height * parallelism.layout.width, "ranks that divide every image");
    facts.size("EP", parallelism.experts.ranks, "expert parallel: ranks that divide the experts");
    facts.size("DP", plan.replicas(), "data parallel: replicas of the model");
    if (pipeline.stages > 1) facts.add("schedule", schedule_of(parallelism), "order of a stage's passes");
    const double micro_batch = static_cast<double>(plan.batch_per_rank) / static_cast<double>(pipeline.micro_batches);
    if (pipeline.micro_batches > 1)
        facts.add("microbatches", fmt::format("{} of {:g}", pipeline.micro_batches, micro_batch),
                  "of each replica, and their samples");
    else
        facts.add("batch", fmt::format("{} per replica", plan.batch_per_rank), "samples of a replica in an iteration");
    constexpr const char* zero[] = {"", "ZeRO-1", "ZeRO-2", "ZeRO-3"};
    if (parallelism.sharding != Sharding::none)
        facts.add("sharding", zero[static_cast<std::size_t>(parallelism.sharding)],
                  fmt::format("replicas divide {}", name_of(parallelism.sharding)));
    if (parallelism.sequence) facts.add("sequence", "parallel", "tensor-parallel ranks divide activations, too");
    constexpr const char* recomputed[] = {"", "selective", "operators", "full"};
    if (plan.recomputation != Recomputation::none)
        facts.add("recomputation", recomputed[static_cast<std::size_t>(plan.recomputation)],
                  "activations that the backward pass computes again");
    if (plan.offload != Offload::none) facts.add("offload", "on", "optimizer state in the host's memory");
    add_exchange(facts, plan, result);

    const Cluster& cluster = training.cluster;
    std::string place = devices_text(training);
    if (cluster.node.devices > 1) place += fmt::format(", {} per node", cluster.node.devices);
    return {{"plan", facts.list()},
            {"place", place},
            {"platform", cluster.name},
            {"batch", plan.global_batch()},
            {"replicas", plan.replicas()},
            {"price", number_or_null(cluster.node.price_per_hour)},
            {"runs", page_failing_run(result)}};
}

}  // namespace syncline
