#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/dot.hpp"
#include "sim/base/number.hpp"
#include "sim/execution/task_dag.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_readers.hpp"

namespace syncline {

namespace {

DotGraph graph_of(const TraceFile& file) {
    const auto grows = [](std::size_t tasks, std::size_t edges) {
        if (tasks > most_trace_nodes) throw TraceError(fmt::format("it has more than {} nodes", most_trace_nodes));
        if (edges > most_trace_nodes) throw TraceError(fmt::format("it has more than {} edges", most_trace_nodes));
    };
    try {
        DotGraph graph = read_dot(file.bytes, {"size"}, grows);
        if (!graph.directed) refuse(file, 0, "tasks are a directed graph, which begins with 'digraph'");
        return graph;
    } catch (const DotError& error) {
        refuse(file, error.position, error.what());
    }
}

/// Returns 0 if there is no size or it is negative.
double size_of(const TraceFile& file, const DotValue& value) {
    if (value.text.empty()) return 0;
    const auto number = number_in<double>(value.text);
    if (!number || !std::isfinite(*number) || *number > 9e18) refuse(file, value.position, "a size must be a number");
    return std::max(*number, 0.0);
}

std::size_t task_of(DotGraph& graph, const std::string& name) {
    const auto found = std::ranges::find(graph.vertices, name, &DotGraph::Vertex::name);
    if (found == graph.vertices.end()) return graph.vertices.push_back({name, {DotValue{}}}), graph.vertices.size() - 1;
    return static_cast<std::size_t>(found - graph.vertices.begin());
}

/// As SimGrid's loader and its example do: 'root' is before all others, and 'end' after them, both on the first rank.
/// The others are in the order in which they are named first.
void read_tasks(const TraceFile& file, TraceBuilder& builder, TaskDag& dag) {
    DotGraph graph = graph_of(file);
    const std::size_t root = task_of(graph, "root"), end = task_of(graph, "end");
    std::vector<std::uint32_t> added(graph.vertices.size());
    const auto add = [&](std::size_t task) {
        const auto& [name, values] = graph.vertices[task];
        added[task] = dag.add(name, size_of(file, values[0]), 0);
    };
    add(root);
    for (std::size_t task = 0; task < graph.vertices.size(); ++task)
        if (task != root && task != end) add(task);
    add(end);
    dag.put_first(added[end]);
    std::set<std::pair<std::size_t, std::size_t>> handed;
    for (const auto& [from, to, values, position] : graph.edges) {
        const auto bytes = static_cast<std::uint64_t>(std::llround(size_of(file, values[0])));
        if (bytes == 0 || handed.emplace(from, to).second)
            dag.connect(added[from], added[to], bytes);
        else
            builder.note("what a task hands on to the same one again is left out");
    }
    dag.put_at_begin(added[root]);
    dag.put_at_end(added[end]);
}

}  // namespace

void read_dag_dot(const std::vector<std::string>& files, const TraceOptions& options, TraceBuilder& builder) {
    const std::string& name = only_trace_file(files);
    in_trace_file(name, [&] {
        const TraceFile file = read_trace_text(name);
        TaskDag dag(builder);
        read_tasks(file, builder, dag);
        dag.place(options);
    });
}

}  // namespace syncline
