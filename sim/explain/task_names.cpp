#include "sim/explain/task_names.hpp"

#include <fmt/format.h>

#include "sim/taskgraph/phase_words.hpp"

namespace syncline {

TaskNames::TaskNames(const Lowered& training)
    : ranks_(static_cast<std::uint32_t>(training.plan.ranks)), served_(training.served()) {
    for (const Layer& layer : training.model.layers) layers_.push_back(layer.name);
    for (const Bucket& bucket : training.buckets) {
        // The layers are in backward order: the first one to be ready is the last one in the model.
        const std::string &first = layers_[bucket.layers.front()], &last = layers_[bucket.layers.back()];
        std::string name = fmt::format("bucket {} ({}{}{})", buckets_.size(), first,
                                       bucket.layers.size() > 2   ? " ... "
                                       : bucket.layers.size() > 1 ? ", "
                                                                  : "",
                                       bucket.layers.size() > 1 ? last : "");
        if (training.plan.partition_bytes > 0) name += fmt::format(" piece {}", bucket.piece);
        buckets_.push_back(std::move(name));
    }
}

TaskNames::TaskNames(std::uint32_t ranks, const std::vector<std::string>& names)
    : ranks_(ranks), served_(false), layers_(names), buckets_(names) {}

std::string TaskNames::bucket(std::uint32_t number) const {
    return number < buckets_.size() ? buckets_[number] : fmt::format("bucket {}", number);
}

std::string TaskNames::task(const Task& task) const {
    const PhaseWords& words = words_of(task.phase);
    const auto layer = [&] { return task.subject < layers_.size() ? layers_[task.subject] : "the last layer"; };
    if (words.subject == Subject::none) return words.phrase;
    return words.phrase + (words.subject == Subject::layer ? layer() : bucket(task.subject));
}

std::string TaskNames::process(ProcessId process) const {
    return process < ranks_ ? fmt::format("rank {}", process)
                            : fmt::format("{} {}", served_ ? "server" : "switch", process - ranks_);
}

std::vector<std::string> TaskNames::of(const TaskGraph& graph) const {
    std::vector<std::string> names;
    for (const Task& one : graph.tasks()) names.push_back(task(one));
    return names;
}

}  // namespace syncline
