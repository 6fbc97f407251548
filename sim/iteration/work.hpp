#pragma once

#include <vector>

#include "sim/lowering/chooser.hpp"
#include "sim/lowering/lowered.hpp"
#include "sim/plan/collective_plan.hpp"
#include "sim/plan/trace_plan.hpp"

/// The amount of work that a simulation will be, counted from the plan before any graph is built.
///
/// Tasks are counted layer by layer, as build_iteration() adds them. Messages are counted in the programs of members
/// of each group: of all members while their programs are short; in larger groups of member 0, which may be a root,
/// and of a sample that is spread evenly over the others. So the count is exact for small groups, and for large ones
/// where members are alike, as in rings; elsewhere it is an estimate, within about a fifth.
///
/// Left out: local reduction in front of parameter servers, and rounds of gossip after the first.
namespace syncline {

/// Counts are of one iteration, or of all sizes of a sweep together.
struct Work {
    double processes = 0;
    double tasks = 0;
    double messages = 0;
    /// Messages that remain if the steps of rings are folded (sim/replay/ring_folding.hpp): all, if several exchanges
    /// may be in flight at the same time.
    double unfolded = 0;
    /// Messages to a peer that differs from that of the step before, in groups of more than 128 members: each needs a
    /// route, and so many share links that each takes longer to simulate.
    double single = 0;
    double together = 0;  ///< messages of the exchange that has the most in one step of its members
    double listed = 0;    ///< messages, sent or received, in the programs of the exchange that lists the most
};

Work work_of(const Lowered& training);

/// `chosen` is the result of choose_exchanges (sweep.hpp).
Work work_of(const CollectivePlan& plan, const std::vector<Chosen>& chosen);

Work work_of(const Cluster& cluster, const TracePlan& plan);

}  // namespace syncline
