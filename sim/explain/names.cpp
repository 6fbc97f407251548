#include "sim/explain/names.hpp"

#include <fmt/format.h>

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
        if (training.plan.partition_bytes > 0) name += fmt::format(" part {}", bucket.part);
        buckets_.push_back(std::move(name));
    }
}

std::string TaskNames::bucket(std::uint32_t number) const {
    return number < buckets_.size() ? buckets_[number] : fmt::format("bucket {}", number);
}

std::string TaskNames::task(const Task& task) const {
    const auto layer = [&] { return task.subject < layers_.size() ? layers_[task.subject] : "the last layer"; };
    switch (task.phase) {
        case Phase::forward:
            return "forward of " + layer();
        case Phase::backward:
            return "backward of " + layer();
        case Phase::optimizer:
            return "optimizer step";
        case Phase::update:
            return "update";
        case Phase::input_copy:
            return "input copy";
        case Phase::release:
            return "fusion cycle";
        case Phase::exchange:
            return bucket(task.subject);
        case Phase::push:
            return "push of " + bucket(task.subject);
        case Phase::pull:
            return "pull of " + bucket(task.subject);
        case Phase::aggregate:
            return "reduction of " + bucket(task.subject);
        case Phase::barrier:
            return "barrier";
        case Phase::activations:
            return "activations of " + layer();
        case Phase::halo:
            return "halo of " + layer();
        case Phase::transfer:
            return "stage transfer before " + layer();
        case Phase::weights:
            return "weights of " + layer();
        case Phase::encode:
            return "encoding of " + layer();
        case Phase::factor:
            return "second factor of " + bucket(task.subject);
        case Phase::decode:
            return "decoding of " + bucket(task.subject);
        case Phase::recompute:
            return "recomputation of " + layer();
        case Phase::context:
            return "context of " + layer();
        case Phase::dispatch:
            return "dispatch of " + layer();
        case Phase::combine:
            return "combine of " + layer();
        case Phase::to_host:
            return "gradients to the host";
        case Phase::to_device:
            return "weights to the device";
    }
    return "task";
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
