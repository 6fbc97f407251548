#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/execution/trace_builder.hpp"
#include "sim/execution/trace_files.hpp"

namespace syncline {

/// The types of nodes and collectives, with the numbers of Chakra's schema.
enum class ChakraType : std::uint32_t { invalid, metadata, mem_load, mem_store, compute, send, receive, collective };

/// Returns the operation of a CollectiveCommType, nothing if there is no such number.
std::optional<std::string_view> operation_of_chakra(std::uint64_t comm_type);
std::optional<std::uint32_t> chakra_of_operation(std::string_view operation);

/// A node as both forms of Chakra's traces have it.
struct ChakraNode {
    std::uint64_t id = 0;
    std::string_view name, process_group, inputs;
    ChakraType type = ChakraType::invalid;
    std::uint64_t micros = 0;
    double seconds = 0;  ///< if it is not a whole number of microseconds: our own attribute
    std::optional<bool> on_cpu;
    bool some_dimensions = false;  ///< involved_dim has a false
    std::optional<std::uint64_t> comm_type, bytes, source, destination, tag, stream, thread, operations;
    std::vector<std::uint64_t> control, data;  ///< dependencies

    /// Makes it an empty node, which keeps the memory of its dependencies.
    void clear();
};

/// Makes an execution trace of the nodes of Chakra's traces.
class ChakraTrace {
public:
    /// `files`: number of ranks that have one.
    ChakraTrace(std::size_t files, const TraceOptions& options, TraceBuilder& builder);

    /// The rank's nodes are those of PyTorch, converted by Chakra. Their control dependencies are the functions that
    /// call them, by numbers from before the conversion, which has made data dependencies of them.
    void from_pytorch(std::uint32_t rank) { from_pytorch_[rank] = true; }

    /// Throws TraceError.
    void add(std::uint32_t rank, const ChakraNode& node);

    void finish();

private:
    enum class Stream : std::uint8_t { compute, host, group };
    std::uint32_t stream(Stream kind, std::uint64_t key);
    std::uint32_t group(std::uint32_t rank, std::string_view name);
    void exchange(std::uint32_t rank, const ChakraNode& from, TraceNode& node);
    bool define_groups(std::string_view text);
    void define_group(const std::string& name, const std::vector<std::uint32_t>& ranks);
    void read_groups_file(const std::string& name);

    struct Group {
        std::string name;
        std::vector<std::uint32_t> users;  ///< sorted
    };
    TraceBuilder& builder_;
    const std::uint32_t ranks_, repetitions_;
    UnsortedTrace nodes_;
    std::vector<Group> groups_;  ///< as ExecutionTrace::groups
    std::map<std::string, std::uint32_t, std::less<>> numbers_;
    std::map<std::string, std::vector<std::uint32_t>> defined_;
    std::map<std::pair<Stream, std::uint64_t>, std::uint32_t> streams_;
    std::vector<std::uint64_t> dependencies_;
    std::vector<bool> begun_;  ///< ranks with a node
    std::vector<bool> from_pytorch_;
    std::vector<std::optional<std::uint64_t>> last_kernel_;  ///< by rank
    std::vector<std::optional<std::uint64_t>> dropped_;
};

}  // namespace syncline
