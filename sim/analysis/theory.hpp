#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/platform/cluster.hpp"
#include "sim/training/lowered.hpp"

/// What the α-β-γ model says about an iteration, to stand beside the simulation.
///
/// All-reduce and gossip: buckets run one after the other, start[b] = max(end[b-1], released[b]), end[b] = start[b] +
/// cost(b), and the iteration ends with the later of computation and last bucket (the recurrence of S. Shi et al.,
/// "MG-WFBP", INFOCOM 2019). Where N does not divide a bucket, ranks with smaller blocks are through a little earlier,
/// by up to a byte's time for each step, and the simulation may be so much ahead.
///
/// Parameter server: each server takes its tensors in order, start = max(end of the last, released), N·b·β + α each,
/// sums while the next arrives, and sends them all back once every server is done, or with PullStart::each as soon as
/// it has both the sum and its link. There is no closed form with more servers than workers, none by priority, and none
/// with PullStart::each on colocated servers.
///
/// None either for iterations that reach into each other (Overlap::across_iterations), or with noise. Models that ranks
/// share have their own: split_cost.hpp.
///
/// Exact for the `exact` network where every rank has a link of its own to one switch; elsewhere there is only the
/// ring's, where its neighbours' ways share no link and all cost the same. There
/// is none where some rank idles in some round, and none for the other network models. What a transport and a protocol
/// add is in carried_cost.hpp; for a parameter server there is then none.
namespace syncline {

struct ClosedForm {
    std::string formula;                         ///< of one bucket's exchange
    std::optional<double> communication_time_s;  ///< all buckets, exchanged at once and beside nothing
    std::optional<double> iteration_time_s;
};

ClosedForm closed_form(const Lowered& training);

/// α, β and γ of the messages that `algorithm` sends between ranks at `places`, where closed forms hold; α and β
/// without what the transport adds.
std::optional<MessageCost> message_cost(const Cluster& cluster, const std::vector<Place>& places,
                                        const std::string& algorithm);

/// The closed forms of single exchanges between ranks at `places`.
class ExchangeCosts {
public:
    ExchangeCosts(const Cluster& cluster, const std::vector<Place>& places) : cluster_(cluster), places_(places) {}

    /// Seconds; nothing where there is no closed form.
    std::optional<double> of(const Chosen& chosen, std::uint64_t bytes);

private:
    const Cluster& cluster_;
    const std::vector<Place>& places_;
    std::map<std::string, std::optional<MessageCost>> messages_;  ///< by algorithm
};

}  // namespace syncline
