#pragma once

#include <optional>

#include "sim/plan/checkpointing.hpp"
#include "sim/workload/model.hpp"

/// Length of a whole training in samples or tokens, as papers give it (300 billion tokens: T. Brown et al., "Language
/// models are few-shot learners", NeurIPS 2020): ⌈S/B⌉ iterations of B samples for S. Left out: a batch that grows
/// during the training, evaluation.
namespace syncline {

struct RunLength {
    double tokens = 0, samples = 0;  ///< 0: not given
    Checkpointing checkpoint = {};

    bool given() const { return tokens > 0 || samples > 0; }
};

/// Returns the number of iterations of `batch` samples; empty if no length is given, or one in tokens for a model
/// without tokens.
std::optional<double> run_iterations(const RunLength& run, const Model& model, double batch);

}  // namespace syncline
