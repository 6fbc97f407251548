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

/// The all-reduce that is no collective of ranks alone: see parameter_server.hpp.
inline const std::string served_allreduce = "parameter-server";

/// Which algorithm, and its parameters. Operations and their algorithms:
///
/// allreduce: `ring`, `recursive-doubling`, `pipelined-tree` (over an overlay's spanning tree), `hierarchical` (split
/// inside the groups of an overlay) and `hierarchical-leaders` (through the groups' leaders);
///
/// all-to-all: `direct`;
///
/// neighbour-exchange: `gossip` (with the neighbours of an overlay).
struct AlgorithmSpec {
    std::string operation = "allreduce";
    std::string name = "ring";
    /// Of pipelined-tree (default: a binary tree), hierarchical and gossip (default: directed exponential).
    std::optional<TopologySpec> overlay = {};
    double segment_bytes = 0;  ///< pipelined-tree: the buffer travels in pieces of at most so many; 0: in one
    bool one_peer = false;     ///< gossip: with one neighbour a round, the next one every time
};

/// A choice that does not fit. `key` says which part: "algorithm", "overlay", "segment", "peers" or "ranks".
class AlgorithmError : public std::runtime_error {
public:
    AlgorithmError(std::string blamed, const std::string& message, std::string advice = "")
        : std::runtime_error(message), key(std::move(blamed)), hint(std::move(advice)) {}
    std::string key, hint;
};

/// The algorithms of an operation, by name.
std::vector<std::string> algorithm_names(const std::string& operation);

/// For a group of `ranks`. Throws AlgorithmError when they, the overlay and the algorithm do not fit each other;
/// std::logic_error if there is no algorithm of that name.
std::shared_ptr<const CollectiveAlgorithm> make_algorithm(const AlgorithmSpec& spec, std::uint32_t ranks);

}  // namespace syncline
