#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/collective/algorithm.hpp"
#include "sim/collective/predicted_time.hpp"

/// Selection of algorithms by operation, size and group: a table, like those in the sources of MPI libraries, or the
/// minimum of NCCL's predicted times. The first row of the operation whose conditions are all met decides. Left out:
/// what the library learns at run time, datatypes, commutativity.
namespace syncline {

/// Conditions, all of which must be met. Sizes refer to the whole buffer, in bytes, or to one of its N blocks.
struct SelectionCondition {
    std::optional<double> below_bytes, block_below_bytes;
    std::optional<std::uint32_t> ranks_below, ranks_from;
    std::optional<std::uint32_t> nodes_below, nodes_from;  ///< nodes that have a rank
    std::optional<std::uint32_t> node_ranks_below;         ///< mean number of ranks on these
    std::optional<bool> even_ranks, power_of_two;

    bool holds(std::uint64_t bytes, const Terrain& terrain) const;
    /// Returns true if it can be met by groups of this size for some size of the buffer and number of nodes.
    bool holds_for_ranks(std::uint32_t ranks) const;
    /// Returns the largest buffer, up to `bytes`, for which it may be met.
    std::uint64_t most_bytes(std::uint64_t bytes, std::uint32_t ranks) const;
    bool always() const;
    /// Returns the condition for display: "below 2.049 kB, power-of-two ranks"; "always".
    std::string words() const;
};

struct Candidate {
    AlgorithmSpec algorithm;
    ProtocolTerms protocol;
};

struct SelectionRow {
    SelectionCondition condition;
    std::vector<Candidate> candidates;  ///< one; or several, of which the one with the minimum predicted time is used

    const std::string& operation() const { return candidates.front().algorithm.operation; }
};

struct Selection {
    std::string name = "selection";
    std::vector<SelectionRow> rows;

    bool covers(const std::string& operation) const;
};

/// Says whether an algorithm is possible among the ranks in question.
using Possible = std::function<bool(const AlgorithmSpec&)>;

struct Choice {
    AlgorithmSpec algorithm;
    Protocol protocol;
    std::string why;  ///< explanation for display
    std::size_t row = 0, candidate = 0;
};

/// Returns "ring/LL", or "ring" without a protocol.
std::string candidate_name(const AlgorithmSpec& algorithm, const Protocol& protocol);

/// Returns the choice for an exchange of `bytes`, among the candidates that are possible; nothing if no row has one.
std::optional<Choice> choose(const Selection& selection, const std::string& operation, std::uint64_t bytes,
                             const Terrain& terrain, const Possible& possible);

}  // namespace syncline
