#pragma once

#include <string>
#include <vector>

#include "sim/config/scenario.hpp"

namespace syncline::config {

/// The training that `syncline plan` asks about, whose parallelism is open.
struct PlanQuestion {
    static constexpr double usual_tokens = 4 * 1024 * 1024;  ///< of an iteration, as Llama 2 had

    Variant variant;
    bool usual_batch = false;  ///< the batch was not given: it is the one of usual_tokens
    std::string batch_from;    ///< the launch file that gave the batch; empty: another source
};

/// Reads the question from options. `model` names a workload, or a launch file with a model, whose batch and sequence
/// hold unless others are given, and `arguments` are `platform`, `ranks`, `framework`, and
/// if they are given `batch`, `tokens` and `price`. Each of `assignments` (`key.path=value`) is applied on top. The
/// optimizer is Adam, and one iteration is asked for. Throws ConfigError,
/// located at the options.
PlanQuestion load_plan_question(const std::string& model, const std::vector<Argument>& arguments,
                                const std::vector<std::string>& assignments, const Inspect& inspect = {});

}  // namespace syncline::config
