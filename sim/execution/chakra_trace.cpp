#include "sim/execution/chakra_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "sim/base/utf8.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_readers.hpp"

namespace syncline {

namespace {

constexpr std::array<std::string_view, 10> chakra_operations{
    "allreduce", "reduce",     "allgather",      "gather",         "scatter",
    "broadcast", "all-to-all", "reduce-scatter", "reduce-scatter", "barrier"};

/// Returns the ranks of a JSON list, nothing if it is none.
std::optional<std::vector<std::uint32_t>> ranks_of(const nlohmann::json& list) {
    if (!list.is_array()) return std::nullopt;
    std::vector<std::uint32_t> ranks;
    for (const nlohmann::json& rank : list) {
        if (!rank.is_number_unsigned() || rank.get<std::uint64_t>() >= most_trace_ranks) return std::nullopt;
        ranks.push_back(rank.get<std::uint32_t>());
    }
    return ranks;
}

}  // namespace

std::optional<std::string_view> operation_of_chakra(std::uint64_t comm_type) {
    return comm_type < chakra_operations.size() ? std::optional(chakra_operations[comm_type]) : std::nullopt;
}

std::optional<std::uint32_t> chakra_of_operation(std::string_view operation) {
    const auto* const found = std::ranges::find(chakra_operations, operation);
    return found == chakra_operations.end()
               ? std::nullopt
               : std::optional(static_cast<std::uint32_t>(found - chakra_operations.begin()));
}

void ChakraNode::clear() {
    ChakraNode empty;
    empty.control = std::move(control);
    empty.data = std::move(data);
    empty.control.clear();
    empty.data.clear();
    *this = std::move(empty);
}

ChakraTrace::ChakraTrace(std::size_t files, const TraceOptions& options, TraceBuilder& builder)
    : builder_(builder),
      ranks_(static_cast<std::uint32_t>(files)),
      repetitions_(files == 1 ? std::max(options.ranks, 1U) : 1),
      begun_(files, false),
      from_pytorch_(files, false),
      last_kernel_(files),
      dropped_(files) {
    if (files > most_trace_ranks) throw TraceError(fmt::format("there are at most {} ranks", most_trace_ranks));
    builder.trace.ranks = ranks_;
    // A send is done when it has left, and nothing waits for its receiver (ASTRA-sim, Workload.cc).
    builder.trace.eager_bytes = std::numeric_limits<double>::infinity();
    if (!options.groups_file.empty())
        in_trace_file(options.groups_file, [&] { read_groups_file(options.groups_file); });
}

void ChakraTrace::read_groups_file(const std::string& name) {
    const TraceFile file = read_trace_file(name);
    const nlohmann::json groups = nlohmann::json::parse(file.bytes, nullptr, false);
    if (!groups.is_object()) throw TraceError("it should have groups of ranks, as {\"0\": [0, 1]}");
    for (const auto& [group, list] : groups.items()) {
        const auto ranks = ranks_of(list);
        if (!ranks) throw TraceError(fmt::format("group '{}' is no list of ranks", printable(group)));
        define_group(group, *ranks);
    }
}

void ChakraTrace::define_group(const std::string& name, const std::vector<std::uint32_t>& ranks) {
    const auto [found, is_new] = defined_.try_emplace(name, ranks);
    if (!is_new && found->second != ranks)
        builder_.note(fmt::format("process group '{}' has other ranks later, which are left out", printable(name)));
}

/// PyTorch's list of its process groups: [{"pg_name": "0", "ranks": [0, 1]}], in brackets and quotes.
bool ChakraTrace::define_groups(std::string_view text) {
    const std::size_t begin = text.find("[{"), end = text.rfind("}]");
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return false;
    const nlohmann::json groups = nlohmann::json::parse(text.substr(begin, end + 2 - begin), nullptr, false);
    if (!groups.is_array()) return false;
    bool found = false;
    for (const nlohmann::json& group : groups) {
        if (!group.is_object() || !group.contains("pg_name") || !group.contains("ranks")) continue;
        const nlohmann::json& name = group["pg_name"];
        const auto ranks = ranks_of(group["ranks"]);
        if (!name.is_string() || !ranks) continue;
        define_group(name.get<std::string>(), *ranks);
        found = true;
    }
    return found;
}

std::uint32_t ChakraTrace::stream(Stream kind, std::uint64_t key) {
    return streams_.try_emplace({kind, key}, static_cast<std::uint32_t>(streams_.size())).first->second;
}

std::uint32_t ChakraTrace::group(std::uint32_t rank, std::string_view name) {
    auto found = numbers_.find(name);
    if (found == numbers_.end()) {
        constexpr std::size_t most_groups = 1 << 16;
        if (groups_.size() == most_groups) throw TraceError(fmt::format("it has more than {} groups", most_groups));
        found = numbers_.emplace(name, static_cast<std::uint32_t>(groups_.size())).first;
        groups_.push_back({std::string(name), {}});
    }
    std::vector<std::uint32_t>& users = groups_[found->second].users;
    if (users.empty() || users.back() != rank) users.push_back(rank);  // ranks are read in their order
    return found->second;
}

void ChakraTrace::exchange(std::uint32_t rank, const ChakraNode& from, TraceNode& node) {
    const auto need = [&](const std::optional<std::uint64_t>& attribute, const char* name) {
        if (!attribute) throw TraceError(fmt::format("node {} has no {}", from.id, name));
        return *attribute;
    };
    if (from.micros > 0) builder_.note("recorded durations of exchanges are left out");
    if (from.type == ChakraType::collective) {
        const std::uint64_t type = need(from.comm_type, "comm_type");
        const auto operation = operation_of_chakra(type);
        if (!operation) throw TraceError(fmt::format("node {} has an unknown comm_type {}", from.id, type));
        node.kind = NodeKind::collective;
        node.operation = builder_.operation(*operation);
        node.bytes = *operation == "barrier" ? 0 : need(from.bytes, "comm_size");
        node.group = group(rank, from.process_group);
        node.stream = stream(Stream::group, node.group);
        if (from.some_dimensions)
            builder_.note("collectives in some dimensions of a network (involved_dim) are among their whole group");
        if (*operation == "broadcast" || *operation == "reduce" || *operation == "gather" || *operation == "scatter")
            builder_.note(fmt::format("the root of a {} is the first rank of its group", *operation));
        return;
    }
    const bool sends = from.type == ChakraType::send;
    node.kind = sends ? NodeKind::send : NodeKind::receive;
    node.bytes = need(from.bytes, "comm_size");
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    const std::uint64_t peer = sends ? need(from.destination, "comm_dst") : need(from.source, "comm_src");
    const std::uint64_t tag = from.tag.value_or(0), self = (sends ? from.source : from.destination).value_or(rank);
    if (peer > most || tag > most)
        throw TraceError(fmt::format("node {} has a rank or tag that is no number of 32 bits", from.id));
    if (self != rank)
        throw TraceError(fmt::format("node {} is of rank {}, and the file of rank {}", from.id, self, rank));
    node.peer = static_cast<std::uint32_t>(peer);
    node.tag = static_cast<std::uint32_t>(tag);
}

void ChakraTrace::add(std::uint32_t rank, const ChakraNode& from) {
    const bool first = !begun_[rank];
    begun_[rank] = true;
    if (from.type == ChakraType::metadata && define_groups(from.inputs) && first && from.control.empty() &&
        from.data.empty()) {
        // It is the only one that no other node can depend on before it is known.
        dropped_[rank] = from.id;
        return;
    }
    TraceNode node;
    node.rank = rank;
    node.name = builder_.name(from.name);
    const bool on_cpu = from.on_cpu.value_or(false);
    switch (from.type) {
        case ChakraType::compute:
            if (!from.on_cpu) builder_.note("nodes that do not say if they run on the processor run on the device");
            node.kind = on_cpu ? NodeKind::host : NodeKind::compute;
            node.seconds = from.seconds > 0 ? from.seconds : static_cast<double>(from.micros) * 1e-6;
            if (node.seconds == 0) node.flop = static_cast<double>(from.operations.value_or(0));
            node.stream = on_cpu ? stream(Stream::host, from.thread.value_or(0))
                                 : stream(Stream::compute, from.stream.value_or(from.thread.value_or(0)));
            break;
        case ChakraType::send:
        case ChakraType::receive:
        case ChakraType::collective:
            if (!on_cpu) {
                exchange(rank, from, node);
                break;
            }
            builder_.note("exchanges on the processor, which the device does too, exchange nothing");
            node.kind = NodeKind::host;
            node.seconds = static_cast<double>(from.micros) * 1e-6;
            node.stream = stream(Stream::host, from.thread.value_or(0));
            break;
        case ChakraType::mem_load:
        case ChakraType::mem_store:
            builder_.note(fmt::format("nodes of type {} take no time",
                                      from.type == ChakraType::mem_load ? "MEM_LOAD" : "MEM_STORE"));
            break;
        case ChakraType::invalid:
        case ChakraType::metadata:
            break;
        default:
            builder_.note(
                fmt::format("nodes of type {}, which is unknown, take no time", static_cast<std::uint32_t>(from.type)));
    }
    dependencies_ = from.data;
    if (from_pytorch_[rank]) {
        if (!from.control.empty())
            builder_.note("control dependencies of PyTorch's nodes, which are data dependencies too, are left out",
                          from.control.size());
    } else {
        dependencies_.insert(dependencies_.end(), from.control.begin(), from.control.end());
    }
    if (from_pytorch_[rank]) {
        // ProcessGroupNCCL makes its stream wait for the current one; what waits for its exchanges is not in the file.
        if (node.kind == NodeKind::compute) last_kernel_[rank] = from.id;
        if (node.kind == NodeKind::collective && last_kernel_[rank]) {
            dependencies_.push_back(*last_kernel_[rank]);
            builder_.note(
                "exchanges begin after the kernels that were launched before them, as in PyTorch; no kernel "
                "waits for an exchange, which the trace does not say: times may be too short");
        }
    }
    if (dropped_[rank]) std::erase(dependencies_, *dropped_[rank]);
    std::ranges::sort(dependencies_);
    dependencies_.erase(std::unique(dependencies_.begin(), dependencies_.end()), dependencies_.end());
    builder_.count(dependencies_.size());
    nodes_.add(node, from.id, dependencies_);
}

void ChakraTrace::finish() {
    ExecutionTrace& trace = builder_.trace;
    nodes_.sort_into(trace);
    std::vector<std::uint32_t> all(ranks_);
    std::iota(all.begin(), all.end(), 0);
    for (const Group& group : groups_) {
        const auto defined = defined_.find(group.name);
        const bool listed =
            defined != defined_.end() && !defined->second.empty();  // PyTorch's default group has no list
        if (ranks_ == 1 && listed && defined->second.size() != repetitions_)
            builder_.remark(fmt::format("process group '{}' of {} ranks is taken as all ranks, of which there are {}",
                                        printable(group.name), defined->second.size(), repetitions_));
        const bool by_use = !listed && defined == defined_.end() && !group.name.empty();
        if (by_use && ranks_ > 1) builder_.note("process groups without a list of ranks have the ranks that use them");
        builder_.count_members(ranks_ == 1 || !listed ? ranks_ : defined->second.size());
        trace.groups.push_back(ranks_ == 1 ? all : listed ? defined->second : by_use ? group.users : all);
    }
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
        TraceNode& node = trace.node(i);
        if (node.kind != NodeKind::collective || !gathers(trace.operations[node.operation])) continue;
        // Chakra's size is what each rank gives, ours what it has at the end.
        const std::uint64_t members = ranks_ == 1 ? repetitions_ : trace.groups[node.group].size();
        if (node.bytes > std::numeric_limits<std::uint64_t>::max() / std::max<std::uint64_t>(members, 1))
            throw TraceError(fmt::format("{} has too many bytes", trace.names[node.name]));
        node.bytes *= members;
    }
}

}  // namespace syncline
