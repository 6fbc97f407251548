#pragma once

#include <optional>
#include <string>
#include <vector>

/// Number of samples that a training needs to reach an accuracy, by the batch of an update and the staleness of its
/// gradients: a curve that the user has measured or read, since no simulation of time knows it. Larger batches need
/// more samples beyond a critical size (S. McCandlish et al., "An empirical model of large-batch training", 2018,
/// arXiv:1812.06162; C. Shallue et al., "Measuring the effects of data parallelism on neural network training", JMLR
/// 20, 2019), and so do stale gradients (S. Gupta et al., "Model accuracy and runtime tradeoff in distributed deep
/// learning", ICDM 2016).
///
/// Between points of one staleness, log(samples) is linear in log(batch), as in the plots of these papers; between two
/// stalenesses samples are linear in the staleness. Nothing is extrapolated.
namespace syncline {

struct AccuracyPoint {
    double batch = 0;      ///< samples of an update
    double staleness = 0;  ///< mean number of updates between the reading of weights and the own update
    double samples = 0;
};

struct SamplesNeeded {
    std::optional<double> samples;
    std::string why;  ///< there are none: the end of a sentence
};

/// Interpolates between points of different batch and staleness.
SamplesNeeded samples_to_accuracy(const std::vector<AccuracyPoint>& points, double batch, double staleness);

}  // namespace syncline
