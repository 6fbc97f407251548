#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/collective/algorithm.hpp"
#include "sim/collective/predicted_time.hpp"
#include "sim/collective/protocol.hpp"

/// Which algorithm runs, by operation, size and group: a table, as MPI libraries have it in their sources, or NCCL's
/// least predicted time.
///
/// The first row of the operation whose conditions all hold decides. The choice is a function of its arguments and of
/// nothing else: the same exchange is carried out the same way every time. Left out: what the library learns while it
/// runs, datatypes, commutativity.
namespace syncline {

/// All that are set hold. Sizes are of the whole buffer, in bytes, or of one of the N blocks into which it is cut.
struct SelectionCondition {
    std::optional<double> below_bytes, block_below_bytes;
    std::optional<std::uint32_t> ranks_below, ranks_from;
    std::optional<bool> even_ranks, power_of_two;

    bool holds(std::uint64_t bytes, std::uint32_t ranks) const;
    /// Whether it holds for groups of this size at some size of the buffer.
    bool holds_for_ranks(std::uint32_t ranks) const;
    /// The largest buffer for which it may hold, if there is none of more than `bytes`.
    std::uint64_t most_bytes(std::uint64_t bytes, std::uint32_t ranks) const;
    bool always() const;
    /// For people: "below 2.049 kB, power-of-two ranks"; "always".
    std::string words() const;
};

struct Candidate {
    AlgorithmSpec algorithm;
    Protocol protocol;
};

struct SelectionRow {
    SelectionCondition condition;
    std::vector<Candidate> candidates;  ///< one; or several, of which the least predicted time is taken

    const std::string& operation() const { return candidates.front().algorithm.operation; }
};

struct Selection {
    std::string name = "selection";
    std::vector<SelectionRow> rows;

    bool covers(const std::string& operation) const;
};

struct Choice {
    AlgorithmSpec algorithm;
    Protocol protocol;
    std::string why;  ///< a sentence for people
    std::size_t row = 0, candidate = 0;
};

/// "ring/LL", or "ring" without a protocol.
std::string candidate_name(const AlgorithmSpec& algorithm, const Protocol& protocol);

/// Throws std::logic_error if no row fits, which readers of selections rule out.
Choice choose(const Selection& selection, const std::string& operation, std::uint64_t bytes, const Terrain& terrain);

}  // namespace syncline
