#pragma once

#include <cstdint>
#include <vector>

#include "sim/platform/cluster.hpp"
#include "sim/workload/model.hpp"

/// How long a device computes on a layer.
///
/// Roofline: a kernel takes max(flops/F, bytes/M), with the device's peak F and memory bandwidth M. The forward pass of
/// a layer is one kernel of 2·macs·b flops that reads inputs and weights and writes activations; the backward pass is
/// two of the same size, the gradient of the weights and that of the inputs, which the first layer doesn't need.
/// Source: S. Williams, A. Waterman, D. Patterson, "Roofline", Commun. ACM 52(4), 2009.
///
/// Where the device has a calibration for the model, all times are scaled by one factor, so that one device alone
/// reaches the measured throughput at the measured batch. The roofline then only says how that time is split over the
/// layers; optimiser, pooling, activations and framework overhead are within it.
namespace syncline {

struct LayerTime {
    double forward_s = 0;
    double backward_s = 0;
};

/// Seconds of each layer of `model` for a batch of `batch` samples.
std::vector<LayerTime> layer_times(const Model& model, const Device& device, std::int64_t batch);

}  // namespace syncline
