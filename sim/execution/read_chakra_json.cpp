#include <fmt/format.h>

#include "sim/execution/chakra_trace.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_json.hpp"
#include "sim/execution/trace_readers.hpp"

namespace syncline {

namespace {

/// Reads the nodes of {"workload_graph": [{"Id": 216, "NodeType": 4, "data_deps": [3], "runtime": 318, …}, …]} one by
/// one.
class WorkloadGraph : public TraceJson {
public:
    WorkloadGraph(const TraceFile& file, std::uint32_t rank, ChakraTrace& trace)
        : TraceJson(file), rank_(rank), trace_(trace) {}

    bool start_object(std::size_t) override {
        if (depth_ == node_depth - 1 && in_graph_) begin_node();
        deeper();
        return true;
    }
    bool end_object() override {
        higher();
        if (depth_ == node_depth - 1 && in_graph_) end_node();
        return true;
    }
    bool start_array(std::size_t) override {
        if (depth_ == 1) in_graph_ = key_ == "workload_graph", found_ = found_ || in_graph_;
        deeper();
        return true;
    }
    bool end_array() override {
        higher();
        if (depth_ == 1) in_graph_ = false;
        return true;
    }
    bool key(string_t& text) override {
        if (depth_ <= node_depth) key_ = text;
        return true;
    }
    bool boolean(bool value) override {
        if (is_of_node()) {
            if (key_ == "is_cpu_op") node_.on_cpu = value;
        } else if (key_ == "involved_dim" && !value) {
            node_.some_dimensions = true;
        }
        return true;
    }
    bool number_integer(number_integer_t value) override {
        return number_unsigned(static_cast<number_unsigned_t>(value));
    }
    bool number_unsigned(number_unsigned_t value) override {
        if (!in_graph_) return true;
        if (depth_ == node_depth + 1 && (key_ == "ctrlDeps" || key_ == "ctrl_deps")) node_.control.push_back(value);
        if (depth_ == node_depth + 1 && key_ == "data_deps") node_.data.push_back(value);
        if (is_of_node()) take(value);
        return true;
    }
    bool number_float(number_float_t value, const string_t&) override {
        if (is_of_node() && (key_ == "runtime" || key_ == "duration_micros") && value > 0) node_.seconds = value * 1e-6;
        return true;
    }
    bool string(string_t& text) override {
        if (!is_of_node()) return true;
        if (key_ == "Name" || key_ == "name") name_ = text;
        if (key_ == "pg_name") group_ = text;
        return true;
    }

    void check_found() const {
        if (!found_) throw TraceError("it has no list \"workload_graph\"");
    }

private:
    /// Of a node's members: in the object in the list in the file's object.
    static constexpr int node_depth = 3;

    bool is_of_node() const { return in_graph_ && depth_ == node_depth; }

    void begin_node() {
        node_.clear();
        name_.clear();
        group_.clear();
        has_id_ = false;
    }

    void take(std::uint64_t value) {
        if (key_ == "Id" || key_ == "id") {
            node_.id = value;
            has_id_ = true;
        }
        if (key_ == "NodeType" || key_ == "type") node_.type = static_cast<ChakraType>(value);
        if (key_ == "runtime" || key_ == "duration_micros") node_.micros = value;
        if (key_ == "is_cpu_op") node_.on_cpu = value != 0;
        if (key_ == "comm_type") node_.comm_type = value;
        if (key_ == "comm_size") node_.bytes = value;
        if (key_ == "comm_src") node_.source = value;
        if (key_ == "comm_dst") node_.destination = value;
        if (key_ == "comm_tag") node_.tag = value;
        if (key_ == "stream") node_.stream = value;
        if (key_ == "tid") node_.thread = value;
        if (key_ == "num_ops") node_.operations = value;
    }

    void end_node() {
        if (!has_id_) throw TraceError("a node has no Id");
        node_.name = name_;
        node_.process_group = group_;
        trace_.add(rank_, node_);
    }

    const std::uint32_t rank_;
    ChakraTrace& trace_;
    bool in_graph_ = false, found_ = false, has_id_ = false;
    std::string key_, name_, group_;
    ChakraNode node_;
};

}  // namespace

void read_chakra_json(const std::vector<std::string>& files, const TraceOptions& options, TraceBuilder& builder) {
    ChakraTrace trace(files.size(), options, builder);
    for (std::uint32_t rank = 0; rank < files.size(); ++rank)
        in_trace_file(files[rank], [&] {
            const TraceFile file = read_trace_file(files[rank]);
            WorkloadGraph graph(file, rank, trace);
            parse_json(file, graph);
            graph.check_found();
        });
    in_trace_files(files, [&] { trace.finish(); });
}

}  // namespace syncline
