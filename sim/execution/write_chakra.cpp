#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "sim/execution/chakra.pb.h"
#include "sim/execution/chakra_trace.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_readers.hpp"

namespace syncline {

namespace {

void append(std::string& file, const google::protobuf::MessageLite& message) {
    for (auto length = static_cast<std::uint32_t>(message.ByteSizeLong());; length >>= 7) {
        if (length < 0x80) {
            file += static_cast<char>(length);
            break;
        }
        file += static_cast<char>((length & 0x7f) | 0x80);
    }
    message.AppendToString(&file);
}

chakra::Attribute& attribute(chakra::Node& node, const char* name) {
    chakra::Attribute& added = *node.add_attr();
    added.set_name(name);
    return added;
}

/// The file of one rank.
class RankFile {
public:
    RankFile(const ExecutionTrace& trace, std::uint32_t rank) : trace_(trace), rank_(rank) {
        chakra::GlobalMetadata metadata;
        metadata.set_version("0.0.4");
        append(bytes_, metadata);
    }

    /// Writes PyTorch's list of process groups, which ASTRA-sim reads. Groups of all ranks need no name.
    void add_groups() {
        std::vector<std::uint32_t> all(trace_.ranks);
        std::iota(all.begin(), all.end(), 0);
        nlohmann::ordered_json list = nlohmann::ordered_json::array();
        for (const std::vector<std::uint32_t>& ranks : trace_.groups) {
            named_.push_back(ranks != all);
            if (ranks != all) list.push_back({{"pg_name", std::to_string(named_.size() - 1)}, {"ranks", ranks}});
        }
        if (list.empty()) return;
        chakra::Node node;
        node.set_id(next_id_++);
        node.set_name("process groups");
        node.set_type(static_cast<std::uint32_t>(ChakraType::metadata));
        node.mutable_inputs()->set_values(fmt::format("['{}']", list.dump()));
        append(bytes_, node);
    }

    void add(std::uint32_t number, std::vector<std::uint64_t>& ids) {
        const TraceNode& from = trace_.nodes()[number];
        chakra::Node node;
        node.set_id(ids[number] = next_id_++);
        node.set_name(trace_.names[from.name]);
        std::vector<std::uint64_t> dependencies;
        for (const std::uint32_t on : trace_.dependencies_of(number)) dependencies.push_back(ids[on]);
        std::ranges::sort(dependencies);
        node.mutable_data_deps()->Add(dependencies.begin(), dependencies.end());
        attribute(node, "is_cpu_op").set_bool_val(from.kind == NodeKind::host);
        switch (from.kind) {
            case NodeKind::nothing:
                break;
            case NodeKind::compute:
            case NodeKind::host:
            case NodeKind::copy:
                set_type(node, ChakraType::compute);
                compute(from, node);
                break;
            case NodeKind::collective:
                set_type(node, ChakraType::collective);
                collective(from, node);
                break;
            case NodeKind::send:
            case NodeKind::receive: {
                const bool sends = from.kind == NodeKind::send;
                set_type(node, sends ? ChakraType::send : ChakraType::receive);
                set_size(node, from.bytes);
                attribute(node, "comm_src").set_int32_val(static_cast<std::int32_t>(sends ? rank_ : from.peer));
                attribute(node, "comm_dst").set_int32_val(static_cast<std::int32_t>(sends ? from.peer : rank_));
                attribute(node, "comm_tag").set_uint32_val(from.tag);
                break;
            }
        }
        append(bytes_, node);
    }

    const std::string& bytes() const { return bytes_; }

private:
    static void set_type(chakra::Node& node, ChakraType type) { node.set_type(static_cast<std::uint32_t>(type)); }
    static void set_size(chakra::Node& node, std::uint64_t bytes) {
        attribute(node, "comm_size").set_int64_val(static_cast<std::int64_t>(bytes));
    }

    void compute(const TraceNode& from, chakra::Node& node) {
        const double micros = from.seconds * 1e6;
        node.set_duration_micros(static_cast<std::uint64_t>(std::llround(micros)));
        if (static_cast<double>(node.duration_micros()) * 1e-6 != from.seconds)
            attribute(node, "seconds").set_double_val(from.seconds);
        if (from.seconds == 0 && from.flop > 0)
            attribute(node, "num_ops").set_int64_val(static_cast<std::int64_t>(std::llround(from.flop)));
        auto& streams = from.kind == NodeKind::host ? threads_ : streams_;
        const std::size_t stream = streams.try_emplace(from.stream, streams.size()).first->second;
        attribute(node, from.kind == NodeKind::host ? "tid" : "stream")
            .set_int64_val(static_cast<std::int64_t>(stream));
    }

    void collective(const TraceNode& from, chakra::Node& node) const {
        const std::string& operation = trace_.operations[from.operation];
        const auto type = chakra_of_operation(operation);
        if (!type) throw TraceError(fmt::format("Chakra has no collective '{}'", operation));
        const std::uint64_t members = gathers(operation) ? trace_.groups[from.group].size() : 1;
        attribute(node, "comm_type").set_int64_val(*type);
        set_size(node, from.bytes / members + (from.bytes % members != 0 ? 1 : 0));
        if (named_[from.group]) attribute(node, "pg_name").set_string_val(std::to_string(from.group));
    }

    const ExecutionTrace& trace_;
    const std::uint32_t rank_;
    std::string bytes_;
    std::uint64_t next_id_ = 0;
    std::vector<bool> named_;
    std::map<std::uint32_t, std::size_t> streams_, threads_;  ///< numbered by first use
};

}  // namespace

std::vector<std::string> write_chakra(const ExecutionTrace& trace, const std::string& path, const WriteFile& write) {
    std::vector<std::vector<std::uint32_t>> of_rank(trace.ranks);
    for (std::uint32_t i = 0; i < trace.size(); ++i) of_rank[trace.nodes()[i].rank].push_back(i);
    std::vector<std::uint64_t> ids(trace.size());
    std::vector<std::string> files;
    for (std::uint32_t rank = 0; rank < trace.ranks; ++rank) {
        RankFile file(trace, rank);
        file.add_groups();
        for (const std::uint32_t node : of_rank[rank]) file.add(node, ids);
        files.push_back(fmt::format("{}.{}.et", path, rank));
        write(files.back(), file.bytes());
    }
    return files;
}

}  // namespace syncline
