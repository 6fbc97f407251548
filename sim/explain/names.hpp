#pragma once

#include <string>
#include <vector>

#include "sim/taskgraph/task_graph.hpp"
#include "sim/training/lowered.hpp"

/// What people call the tasks and processes of an iteration.
namespace syncline {

class Names {
public:
    explicit Names(const Lowered& training);

    /// "backward of fc6", "bucket 3 (fc6)", "push of bucket 0 (fc8)", "activations of fc6".
    std::string task(const Task& task) const;
    /// "rank 3", "server 0".
    std::string process(ProcessId process) const;

    /// By task.
    std::vector<std::string> of(const TaskGraph& graph) const;

private:
    std::string bucket(std::uint32_t number) const;

    std::uint32_t ranks_;
    std::vector<std::string> layers_, buckets_;
};

}  // namespace syncline
