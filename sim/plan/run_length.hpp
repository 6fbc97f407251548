#pragma once

#include <optional>
#include <vector>

#include "sim/plan/checkpointing.hpp"
#include "sim/plan/samples_to_accuracy.hpp"
#include "sim/workload/model.hpp"

/// Length of a whole training in samples or tokens, as papers give it (300 billion tokens: T. Brown et al., "Language
/// models are few-shot learners", NeurIPS 2020): ⌈S/B⌉ iterations of B samples for S. Left out: a batch that grows
/// during the training, evaluation.
namespace syncline {

struct RunLength {
    double tokens = 0, samples = 0;               ///< 0: not given
    std::vector<AccuracyPoint> to_accuracy = {};  ///< in place of both: the user's curve
    Checkpointing checkpoint = {};

    bool given() const { return tokens > 0 || samples > 0 || !to_accuracy.empty(); }
};

/// Returns the number of iterations of `batch` samples; empty if no length is given, one in tokens for a model without
/// tokens, or one of a curve, which needs more: see samples_to_accuracy().
std::optional<double> run_iterations(const RunLength& run, const Model& model, double batch);

}  // namespace syncline
