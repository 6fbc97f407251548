#pragma once

#include <optional>

#include "sim/workload/model.hpp"

/// Length of a whole training, of which one iteration is simulated: a number of samples, or of tokens, as the papers
/// give it (300 billion tokens: T. Brown et al., "Language models are few-shot learners", NeurIPS 2020).
///
/// A training of S samples takes ⌈S/B⌉ iterations of B samples. Left out: a batch that grows during the training,
/// evaluation, checkpoints, failures and restarts.
namespace syncline {

struct RunLength {
    double tokens = 0, samples = 0;  ///< 0: not given

    bool given() const { return tokens > 0 || samples > 0; }
};

/// Returns the number of iterations of `batch` samples; empty if no length is given, or one in tokens for a model
/// without tokens.
std::optional<double> run_iterations(const RunLength& run, const Model& model, double batch);

}  // namespace syncline
