#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/execution/trace_error.hpp"

/// What the ranks of a program do, as another program recorded or described it: nodes that compute, exchange and send,
/// with the dependencies among them. "Execution trace" is the word of MLCommons Chakra (S. Sridharan et al., "Chakra:
/// Advancing Performance Benchmarking and Co-design using Standardized Execution Traces", 2023). Readers of formats
/// make it, and a task graph is made of it.
namespace syncline {

enum class NodeKind : std::uint8_t {
    nothing,     ///< takes no time: joins dependencies
    compute,     ///< on the rank's device, one at a time in each of its streams
    host,        ///< on the rank's processor
    copy,        ///< beside the device's computation, one at a time in each of its streams
    collective,  ///< one node of each member; the n-th nodes of all members in a group are the same exchange
    send,        ///< matched with receives of the peer from this rank with this tag, in the order of the nodes
    receive
};

/// A node of a rank. Seconds, or work that a device's peak makes seconds of; bytes of collectives are those of the
/// larger of a member's two buffers, as everywhere here (see AlgorithmSpec).
struct TraceNode {
    static constexpr std::uint32_t own_stream = ~std::uint32_t{0};

    NodeKind kind = NodeKind::nothing;
    std::uint8_t operation = 0;  ///< of a collective: index into ExecutionTrace::operations
    std::uint32_t rank = 0;
    std::uint32_t stream = own_stream;  ///< nodes of a rank with the same one run one after the other, in their order
    std::uint32_t name = 0;             ///< index into ExecutionTrace::names
    std::uint32_t group = 0;            ///< of a collective: index into ExecutionTrace::groups
    std::uint32_t peer = 0, tag = 0;    ///< of a send or receive
    std::uint64_t bytes = 0;            ///< of a collective, a send or a receive
    double seconds = 0;                 ///< of computation
    double flop = 0;                    ///< of computation, in place of seconds
};

class ExecutionTrace {
public:
    std::uint32_t ranks = 0;
    std::vector<std::string> names;                  ///< of nodes: "allreduce of layer 3"
    std::vector<std::string> operations;             ///< names as in operation_names(): "allreduce"
    std::vector<std::vector<std::uint32_t>> groups;  ///< ranks of each, in the order of their blocks
    /// Messages of up to this size start when their senders are ready; others wait for their receivers, too.
    double eager_bytes = 0;
    /// Messages of 0 B take no time: they are dependencies among ranks.
    bool free_signals = false;
    /// What was not understood, or left out: sentences without a full stop.
    std::vector<std::string> notes;

    /// Adds a node, after those it depends on, and returns its number.
    std::uint32_t add(const TraceNode& node, std::span<const std::uint32_t> dependencies);

    std::size_t size() const { return nodes_.size(); }
    const std::vector<TraceNode>& nodes() const { return nodes_; }
    /// A node of a trace that is still being made.
    TraceNode& node(std::uint32_t number) { return nodes_[number]; }
    std::span<const std::uint32_t> dependencies_of(std::uint32_t node) const {
        return std::span(dependencies_).subspan(start_[node], start_[node + 1] - start_[node]);
    }

    /// Throws TraceError if sends and receives do not match in number or bytes, if members of a group differ in number,
    /// operation or bytes of their collectives, or if a rank, group or peer does not exist.
    void check() const;

    /// Returns the trace of `count` ranks that do what the only rank of this one does, each collective among all of
    /// them. Throws TraceError if it sends to others, or has several ranks.
    ExecutionTrace repeated(std::uint32_t count) const;

private:
    std::vector<TraceNode> nodes_;
    std::vector<std::uint32_t> start_{0}, dependencies_;
};

/// Nodes of a rank that wait for each other. Each of `ids` depends on the one after it, and the last on the first.
struct TraceCycle : TraceError {
    TraceCycle(std::uint32_t of_rank, std::vector<std::uint64_t> of_nodes);
    std::vector<std::uint64_t> ids;
};

/// Nodes as a file lists them: dependencies are names of nodes that may follow later.
class UnsortedTrace {
public:
    /// Adds a node that the file knows under `id`, which is unique within its rank.
    void add(const TraceNode& node, std::uint64_t id, std::span<const std::uint64_t> dependencies);

    /// Adds all nodes to `trace`, each after those it depends on, and otherwise in the order in which they were added.
    /// Throws TraceError on an unknown or repeated id, and TraceCycle.
    void sort_into(ExecutionTrace& trace) const;

private:
    struct Entry {
        TraceNode node;
        std::uint64_t id;
        std::size_t first, last;  ///< of dependencies_
    };
    std::vector<Entry> entries_;
    std::vector<std::uint64_t> dependencies_;
};

}  // namespace syncline
