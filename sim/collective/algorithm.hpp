#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/collective/program.hpp"
#include "sim/topology/shape.hpp"

/// Implementations of collective operations: each member's program, and the closed form of its time.
namespace syncline {

/// Hockney's model of a message, α + β·bytes, and γ for each byte that is reduced. If α blocks, a message keeps its
/// sender and its receiver for this time (R. Hockney, "The communication challenge for MPP: Intel Paragon and Meiko
/// CS-2", Parallel Computing 20 (1994) 389-398). If it travels, its sender is free after β·bytes, and its receiver has
/// it α later (the L of LogGP: A. Alexandrov, M. Ionescu, K. Schauser, C. Scheiman, "LogGP", SPAA 1995).
struct MessageCost {
    double alpha_s = 0;
    double beta_s_per_B = 0;
    double gamma_s_per_B = 0;
    bool travels = false;  ///< α
};

class CollectiveAlgorithm {
public:
    CollectiveAlgorithm() = default;
    CollectiveAlgorithm(const CollectiveAlgorithm&) = delete;
    CollectiveAlgorithm& operator=(const CollectiveAlgorithm&) = delete;
    virtual ~CollectiveAlgorithm() = default;

    /// Returns the program of member `rank` in a group of `ranks` for a buffer of `bytes`, in the `round`-th execution
    /// by the group, counted from 0. A single rank does nothing.
    virtual Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes,
                            std::uint32_t round) const = 0;

    /// Returns the number of programs that every member runs side by side, its lanes; program() is that of lane 0. A
    /// lane works on one of slices() slices of the buffer. Its messages are in one of as many channels as there are
    /// lanes, in which they are received in the order in which they are sent: lanes share a channel only if none of
    /// their peers is the same in the same direction.
    virtual std::uint32_t lanes() const { return 1; }

    /// Returns a member's program in lane `lane` < lanes().
    virtual Program lane_program(std::uint32_t lane, std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes,
                                 std::uint32_t round) const {
        (void)lane;
        return program(rank, ranks, bytes, round);
    }

    /// Returns the number of slices. A device divides its reductions among them: each has this fraction of the device's
    /// rate, since its thread blocks run beside the others'.
    virtual std::uint32_t slices() const { return 1; }

    /// Returns the member whose block a block of this slice is, for operations in which blocks belong to members;
    /// empty: block i is member i's.
    virtual std::span<const std::uint32_t> order(std::uint32_t slice) const {
        (void)slice;
        return {};
    }

    /// Returns the number of rounds after which programs repeat.
    virtual std::uint32_t period() const { return 1; }

    /// Returns the seconds until the last member is done, if every member has a full-duplex link of its own to a
    /// non-blocking switch and all start at the same time. Nothing if there is no closed form.
    virtual std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const = 0;

    /// Returns the cost in the literature's notation, for display, if α travels or blocks. Empty if several ranks never
    /// have a closed form.
    virtual std::string formula(bool travels) const = 0;
};

/// Counts the messages that this member sends in a round, in all lanes.
std::uint64_t messages_sent(const CollectiveAlgorithm& algorithm, std::uint32_t rank, std::uint32_t ranks,
                            std::uint64_t bytes, std::uint32_t round);

/// Returns whether some rank has nothing to do in some round. Its state after that round depends on its neighbours'.
bool leaves_idle(const CollectiveAlgorithm& algorithm, std::uint32_t ranks);

/// The all-reduce that also involves processes other than ranks: see parameter_server.hpp.
inline const std::string served_allreduce = "parameter-server";

/// The all-reduce that also involves switches: see in_network.hpp.
inline const std::string in_network_allreduce = "in-network";

/// Peers of a rank in one round of gossip: all its neighbours; one, in turn; or by groups of the size of the innermost
/// level of a hierarchical overlay, as in inner_outer.cpp and machine_gossip.cpp.
enum class Peers { all, one, inner_outer, machine };

/// The all-reduce, reduce-scatter, allgather or all-to-all whose steps are in a file: see msccl_schedule.hpp.
inline const std::string scheduled = "msccl";

struct MscclSchedule;

/// An algorithm and its parameters.
///
/// The operations, for N ranks and a buffer of S bytes, cut into N blocks where needed: `allreduce`, every rank ends
/// with the sum; `reduce-scatter`, rank r with block r of the sum; `allgather`, all with every rank's block;
/// `broadcast`, all with rank 0's buffer; `reduce`, rank 0 with the sum; `scatter`, rank r with block r of rank 0's
/// buffer; `gather`, rank 0 with every rank's block; `all-to-all`, rank r with block r of every buffer; `barrier`, no
/// bytes; `neighbour-exchange`, an average with the neighbours in an overlay. The first ranks contribute and receive,
/// if not all do: see contributors.cpp.
struct AlgorithmSpec {
    std::string operation = "allreduce";
    std::string name = "ring";
    /// For pipelined-tree (default: a binary tree), hierarchical and gossip (default: directed exponential).
    std::optional<TopologySpec> overlay = {};
    /// Maximum size of the pieces into which the buffer, or each block of it, is cut; 0: one piece, except that
    /// double-binary-tree uses pieces of 512 KiB.
    double segment_bytes = 0;
    Peers peers = Peers::all;                            ///< for gossip
    std::shared_ptr<const MscclSchedule> schedule = {};  ///< for msccl
    /// For allgather and allreduce: number of ranks that contribute, and number of ranks that receive; 0: all.
    std::uint32_t contributors = 0, receivers = 0;
    /// The plan names the algorithm, so that a transport's selection may not choose another.
    bool named = false;
    /// For nccl-tree: the number of consecutive ranks on each node; empty: one. Whoever knows the machine fills it in.
    std::vector<std::uint32_t> node_ranks = {};
};

/// An invalid choice. `key` is the parameter to blame: "algorithm", "overlay", "segment", "peers", "msccl",
/// "contributors", "receivers" or "ranks".
class AlgorithmError : public std::runtime_error {
public:
    AlgorithmError(std::string blamed, const std::string& message, std::string advice = "")
        : std::runtime_error(message), key(std::move(blamed)), hint(std::move(advice)) {}
    std::string key, hint;
};

/// Returns the names of the operations, allreduce first.
const std::vector<std::string>& operation_names();

/// Returns the algorithms of an operation whose members are ranks alone and whose steps are not in a file, its default
/// first. Throws std::logic_error if the operation is unknown.
std::vector<std::string> algorithm_names(const std::string& operation);

/// Returns those and the operations of ranks with parameter servers: `push`, every rank's buffer to the servers, which
/// add them up, and `pull`, the servers' buffer to every rank. An allreduce is both.
const std::vector<std::string>& exchange_operations();

/// Returns the algorithms of one of these, with `in-network` for switches and `parameter-server` for servers. Throws
/// like algorithm_names().
std::vector<std::string> exchange_algorithms(const std::string& operation);

/// Returns true if an algorithm can leave out ranks that do not contribute.
bool takes_subsets(const std::string& operation, const std::string& name);

/// Returns true if an algorithm runs in channels (channels.hpp) with these parameters: most rings, PAT, and the
/// trees of all-reduces.
bool takes_channels(const AlgorithmSpec& spec);

/// Names the operation's algorithms that run in channels, for a hint.
std::string hint_for_channels(const std::string& operation);

/// Returns the algorithm for a group of `ranks`. Throws AlgorithmError if ranks, overlay and algorithm do not fit each
/// other; std::logic_error if there is no algorithm of that name.
std::shared_ptr<const CollectiveAlgorithm> make_algorithm(const AlgorithmSpec& spec, std::uint32_t ranks);

}  // namespace syncline
