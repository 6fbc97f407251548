#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/platform/cluster.hpp"
#include "sim/training/lowered.hpp"

/// Closed forms of iterations in the α-β-γ model, for comparison with the simulation.
///
/// All-reduce and gossip: buckets run one after the other, start[b] = max(end[b-1], released[b]), end[b] = start[b] +
/// cost(b), and the iteration ends at the later of computation and last bucket (the recurrence of S. Shi et al.,
/// "MG-WFBP", INFOCOM 2019). If N does not divide a bucket, ranks with smaller blocks end slightly earlier, by up to
/// the time of a byte per step, and the simulation may be ahead by as much.
///
/// Parameter server: each server receives its tensors in order, start = max(end of the last, released), N·b·β + α each,
/// reduces one while the next arrives, and sends all of them back once every server is done, or with PullStart::each as
/// soon as both the reduction and the link allow it. There is no closed form with more servers than workers, with
/// priorities, or with PullStart::each on colocated servers.
///
/// There is also none for overlapping iterations (Overlap::across_iterations) and with noise. Models that are split
/// between ranks have closed forms of their own: split_cost.hpp.
///
/// The closed forms are exact for the `exact` network if every rank has its own link to one switch. On other fabrics
/// only the ring has one, if the routes between its neighbours share no link and all cost the same. There is none if
/// some rank is idle in some round, and none for other network models. carried_cost.hpp adds the costs of transports
/// and protocols; parameter servers have no closed form with them.
namespace syncline {

/// Formula of an iteration without exchanges.
inline constexpr const char* no_exchange = "no exchange";
/// In place of the formula, where all exchanges are `nccl-tree`.
inline constexpr const char* no_formula = "none for trees of nodes with chains inside";

struct ClosedForm {
    /// Formula of one bucket's exchange, or no_exchange. The reason why there is none, or no time of the iteration,
    /// may replace or follow it.
    std::string formula;
    std::optional<double> communication_time_s;  ///< all buckets, all released at the start, without computation
    std::optional<double> iteration_time_s;
    std::string why_not = {};  ///< without a time of the iteration, the reason: "none for …"
};

/// Returns the closed form of an iteration.
ClosedForm closed_form(const Lowered& training);

/// Returns α, β and γ of the messages that `algorithm` sends between ranks at `places`; empty if it has no closed form
/// there. α and β exclude the costs of the transport.
std::optional<MessageCost> message_cost(const Cluster& cluster, const std::vector<Place>& places,
                                        const std::string& algorithm);

/// The closed forms of single exchanges between ranks at `places`.
class ExchangeCosts {
public:
    ExchangeCosts(const Cluster& cluster, const std::vector<Place>& places) : cluster_(cluster), places_(places) {}

    /// Returns the seconds of an exchange; empty without a closed form.
    std::optional<double> of(const Chosen& chosen, std::uint64_t bytes);

private:
    const Cluster& cluster_;
    const std::vector<Place>& places_;
    std::map<std::string, std::optional<MessageCost>> messages_;  ///< by algorithm
};

}  // namespace syncline
