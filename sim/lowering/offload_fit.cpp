#include <fmt/format.h>

#include <cmath>

#include "sim/lowering/feasibility_parts.hpp"

namespace syncline {

namespace {

/// Complains about what the plan excludes by itself.
void judge_plan(const Model& model, const Plan& plan, Complaints& complaints) {
    const auto refuse = [&](const char* key, std::string message, const char* hint) {
        complaints.push_back({key, std::move(message), hint});
    };
    if (plan.exchange == ExchangeKind::parameter_server)
        return refuse("offload", "servers keep the optimizer's state, and update the weights themselves",
                      "remove it, or write `exchange: allreduce`");
    if (plan.exchange == ExchangeKind::gossip)
        return refuse("offload", "gossip exchanges weights, of which the host has a copy",
                      "remove it, or write `exchange: allreduce`");
    if (plan.overlap == Overlap::across_iterations)
        refuse("overlap", "the step in the host's memory waits for all gradients, which 'across-iterations' does not",
               "write `overlap: wait-free`");
    if (plan.optimizer == Optimizer::none)
        return refuse("offload", "there is no optimizer's step that could run on the host", "remove it");
    if (plan.offload == Offload::optimizer && plan.optimizer == Optimizer::sgd && master_element(model) == 0)
        refuse("offload", "'sgd' without a master copy of the weights keeps nothing that could leave the device",
               "remove it, or write `optimizer: adam`");
    if (plan.offload != Offload::gradients) return;
    if (plan.parallelism.pipeline.micro_batches > 1)
        refuse("offload",
               fmt::format("gradients of {} micro-batches are added up on the device before they leave it",
                           plan.parallelism.pipeline.micro_batches),
               "write `offload: optimizer`, or one micro-batch");
    if (plan.compression.any())
        refuse("compression",
               "gradients are decoded after the backward pass, during which 'offload: gradients' copies them",
               "remove it, or write `offload: optimizer`");
}

}  // namespace

void judge_offload(const Cluster& cluster, const Model& model, const Plan& plan, Complaints& complaints) {
    if (plan.offload == Offload::none) return;
    if (!std::isfinite(cluster.device.host_link_Bps))
        complaints.push_back(
            {"offload",
             fmt::format("device '{}' does not give the bandwidth of its link to the host", cluster.device.name),
             "write its `host_link`, for example `--set platform.device.host_link=25GBps`"});
    if (!std::isfinite(cluster.host.memory_Bps))
        complaints.push_back(
            {"offload",
             fmt::format("platform '{}' does not give the bandwidth of the memory of its nodes", cluster.name),
             "write `memory_bandwidth` of its `host`, for example `--set platform.host.memory_bandwidth=200GBps`"});
    judge_plan(model, plan, complaints);
}

}  // namespace syncline
