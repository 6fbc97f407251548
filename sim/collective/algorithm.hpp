#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/collective/program.hpp"
#include "sim/topology/shape.hpp"

/// A way of carrying out a collective operation: each member's program, and beside it the closed form of its time.
namespace syncline {

/// Hockney's model of a message, α + β·bytes, and γ for each byte that is reduced.
struct MessageCost {
    double alpha_s = 0;
    double beta_s_per_B = 0;
    double gamma_s_per_B = 0;
};

class CollectiveAlgorithm {
public:
    CollectiveAlgorithm() = default;
    CollectiveAlgorithm(const CollectiveAlgorithm&) = delete;
    CollectiveAlgorithm& operator=(const CollectiveAlgorithm&) = delete;
    virtual ~CollectiveAlgorithm() = default;

    /// What member `rank` of a group of `ranks` does with a buffer of `bytes` when the group does it for the `round`-th
    /// time, counted from 0. One rank alone does nothing.
    virtual Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes,
                            std::uint32_t round) const = 0;

    /// Programs are the same again after so many rounds.
    virtual std::uint32_t period() const { return 1; }

    /// Seconds until the last member is done, where every member has a full-duplex link of its own to a switch that
    /// never blocks, and all start at once. Nothing where there is no closed form.
    virtual std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const = 0;

    /// The cost in the literature's notation, for people.
    virtual std::string formula() const = 0;
};

/// Whether some rank has nothing to do in some round: what comes after then depends on how far its neighbours are.
bool leaves_idle(const CollectiveAlgorithm& algorithm, std::uint32_t ranks);

/// The all-reduce that is no collective of ranks alone: see parameter_server.hpp.
inline const std::string served_allreduce = "parameter-server";

/// With whom a rank gossips in a round: all its neighbours; one, the next one every time; or as in inner_outer.hpp, in
/// groups that the innermost level of a hierarchical overlay counts.
enum class Peers { all, one, inner_outer };

/// Which algorithm, and its parameters.
///
/// What the operations mean for N ranks and a buffer of S bytes, cut into N blocks where it is cut: `allreduce`, every
/// rank ends with the sum of all buffers; `reduce-scatter`, rank r with block r of the sum; `allgather`, rank r has
/// block r and every rank ends with all; `broadcast`, every rank ends with rank 0's buffer; `reduce`, rank 0 with the
/// sum; `scatter`, rank r with block r of rank 0's buffer; `gather`, rank 0 with every rank's block; `all-to-all`, rank
/// r with block r of every rank's buffer; `barrier`, no rank leaves before all have come (no bytes);
/// `neighbour-exchange`, averages with the neighbours of an overlay. Sums and roots are those of MPI with root 0.
///
/// With fewer contributors or receivers than ranks, the first of them contribute and the first of them receive: see
/// contributors.hpp.
struct AlgorithmSpec {
    std::string operation = "allreduce";
    std::string name = "ring";
    /// Of pipelined-tree (default: a binary tree), hierarchical and gossip (default: directed exponential).
    std::optional<TopologySpec> overlay = {};
    /// The buffer, or each block of it, travels in pieces of at most so many; 0: in one, with two trees in pieces of
    /// 512 KiB.
    double segment_bytes = 0;
    Peers peers = Peers::all;  ///< of gossip
    /// Of allgather and allreduce: how many of the group have something to give, and how many want the result; 0: all.
    std::uint32_t contributors = 0, receivers = 0;
};

/// A choice that does not fit. `key` says which part: "algorithm", "overlay", "segment", "peers", "contributors",
/// "receivers" or "ranks".
class AlgorithmError : public std::runtime_error {
public:
    AlgorithmError(std::string blamed, const std::string& message, std::string advice = "")
        : std::runtime_error(message), key(std::move(blamed)), hint(std::move(advice)) {}
    std::string key, hint;
};

/// The operations that there are, allreduce first.
const std::vector<std::string>& operation_names();

/// The algorithms of an operation, its default first. Throws std::logic_error if there is no such operation.
std::vector<std::string> algorithm_names(const std::string& operation);

/// Those, and what ranks do with parameter servers: `push`, every rank's buffer to the servers, which add them up, and
/// `pull`, the servers' to every rank. An allreduce is both.
const std::vector<std::string>& exchange_operations();

/// The algorithms of one of these, with `parameter-server` for what servers do. Throws like algorithm_names().
std::vector<std::string> exchange_algorithms(const std::string& operation);

/// Whether an algorithm can leave ranks out that do not contribute.
bool takes_subsets(const std::string& operation, const std::string& name);

/// For a group of `ranks`. Throws AlgorithmError when they, the overlay and the algorithm do not fit each other;
/// std::logic_error if there is no algorithm of that name.
std::shared_ptr<const CollectiveAlgorithm> make_algorithm(const AlgorithmSpec& spec, std::uint32_t ranks);

}  // namespace syncline
