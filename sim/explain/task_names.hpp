#pragma once

#include <string>
#include <vector>

#include "sim/lowering/lowered.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Names of the tasks and processes of an iteration, for people.
namespace syncline {

class TaskNames {
public:
    explicit TaskNames(const Lowered& training);
    /// `names`: of tasks that are an execution trace's (iteration/trace_graph.hpp), by Task::subject.
    TaskNames(std::uint32_t ranks, const std::vector<std::string>& names);

    /// Returns for example "backward of fc6", "bucket 3 (fc6)", "push of bucket 0 (fc8)", "activations of fc6".
    std::string task(const Task& task) const;
    /// Returns for example "rank 3", "server 0", "switch 0".
    std::string process(ProcessId process) const;

    /// Returns the names of all tasks of `graph`.
    std::vector<std::string> of(const TaskGraph& graph) const;

private:
    std::string bucket(std::uint32_t number) const;

    std::uint32_t ranks_;
    bool served_;  ///< processes that are not ranks are servers, else switches
    std::vector<std::string> layers_, buckets_;
};

}  // namespace syncline
