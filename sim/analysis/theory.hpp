#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/lowering/lowered.hpp"
#include "sim/platform/cluster.hpp"

/// Closed forms of iterations in the α-β-γ model, for comparison with the simulation: the forecast of iteration.hpp
/// with exact prices, where these exist and nothing overlaps that would share links.
///
/// All ranks exchange all gradients, and nothing else: buckets run one after the other, start[b] = max(end[b-1],
/// released[b]), end[b] = start[b] + cost(b), and the iteration ends at the later of computation and last bucket (the
/// recurrence of S. Shi et al., "MG-WFBP", INFOCOM 2019). If N does not divide a bucket, ranks with smaller blocks end
/// slightly earlier, by up to the time of a byte per step, and the simulation may be ahead by as much. They are exact
/// for the `exact` network if every rank has its own link to one switch. On other fabrics only the ring has one, if the
/// routes between its neighbours share no link and all cost the same. There is none if some rank is idle in some round.
/// carried_cost.hpp adds the costs of transports and protocols.
///
/// Parameter server: each server receives its tensors in order, start = max(end of the last, released), N·b·β + α each,
/// reduces one while the next arrives, and sends all of them back once every server is done, or with PullStart::each as
/// soon as both the reduction and the link allow it. There is no closed form with more servers than workers, with
/// priorities, with costs of the transport, or with PullStart::each on colocated servers.
///
/// Ranks exchange in groups (rows, columns, cells), without stages: if nothing overlaps, all nodes are connected to one
/// switch, and every exchange keeps its ranks in step, an iteration is the sum of a rank's activities,
///
///     microbatches · Σ over layers (computation + each exchange of activations) + Σ buckets
///
/// with the times of a rank that has a part of the layer; the groups of an exchange have disjoint ranks, and so
/// disjoint links (A. Castelló et al., "Analysis of model parallelism for distributed neural networks", EuroMPI 2019;
/// its equations are re-derived). In steps of a layer's core an exchange counts only as far as it takes longer than
/// the computation beside it. If a buffer does not divide into equal blocks, some ranks are ahead of the sum by the
/// time of some bytes: the closed form is given if the sums with every buffer rounded up and down to equal blocks
/// differ by less than a millionth.
///
/// There is none for overlapping iterations (Overlap::across_iterations), with noise, for a layer with fewer parts than
/// rows, with GPipe's order of microbatches, in which computation of one overlaps with exchanges of another, if ranks
/// with different steps would run ahead (trees, halos between more than two), and for other network models.
namespace syncline {

/// Formula of an iteration without exchanges.
inline constexpr const char* no_exchange = "no exchange";
/// In place of the formula, where all exchanges are `nccl-tree`.
inline constexpr const char* no_formula = "none for trees of nodes with chains inside";

struct ClosedForm {
    /// Formula of one bucket's exchange, or no_exchange. The reason why there is none, or no time of the iteration,
    /// may replace or follow it.
    std::string formula;
    std::optional<double> communication_time_s;  ///< all exchanges, without computation
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

    /// Return the seconds of an exchange; empty without a closed form.
    std::optional<double> of(const CollectiveAlgorithm& algorithm, const AlgorithmSpec& spec, std::uint64_t bytes,
                             const Protocol& protocol);
    std::optional<double> of(const Chosen& chosen, std::uint64_t bytes) {
        return of(*chosen.algorithm, chosen.spec, bytes, chosen.protocol);
    }

private:
    const Cluster& cluster_;
    const std::vector<Place>& places_;
    std::map<std::string, std::optional<MessageCost>> messages_;  ///< by algorithm
};

}  // namespace syncline
