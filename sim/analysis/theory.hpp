#pragma once

#include <optional>
#include <string>

#include "sim/collective/algorithm.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/training/plan.hpp"
#include "sim/workload/model.hpp"

/// What the α-β-γ model says about an iteration, to stand beside the simulation.
///
/// All-reduce: buckets run one after the other, start[b] = max(end[b-1], released[b]), end[b] = start[b] + cost(b), and
/// the iteration ends with the later of computation and last bucket (the recurrence of S. Shi et al., "MG-WFBP",
/// INFOCOM 2019). Where N does not divide a bucket, ranks with smaller blocks are through a little earlier, by up to a
/// byte's time for each step, and the simulation may be so much ahead.
///
/// Parameter server: each server takes its tensors in order, start = max(end of the last, released), N·b·β + α each,
/// sums while the next arrives, and sends them all back once every server is done. There is no closed form with more
/// servers than workers.
///
/// Exact for the `exact` network on a star; for the other network models there is none.
namespace syncline {

struct ClosedForm {
    std::string formula;                         ///< of one bucket's exchange
    std::optional<double> communication_time_s;  ///< all buckets, exchanged at once and beside nothing
    std::optional<double> iteration_time_s;
};

ClosedForm closed_form(const Cluster& cluster, const Model& model, const Plan& plan);

/// α, β of a message between two nodes of the cluster, and γ at a rate in bytes per second.
MessageCost message_cost(const Cluster& cluster, double reduction_Bps);

}  // namespace syncline
