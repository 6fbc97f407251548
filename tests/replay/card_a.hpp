#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "sim/plan/plan.hpp"
#include "sim/platform/cluster.hpp"
#include "tests/unit/layers.hpp"

/// Model parallelism after A. Castelló et al., "Analysis of model parallelism for distributed neural networks", EuroMPI
/// 2019, as a sum over layers: an independent oracle, derived from the layers' shapes alone.
///
/// A rank has ⌈co/P⌉ output channels. A kernel takes max(flops/F, 4 · elements/M); a convolution's passes are im2col(k,
/// n) + GEMM(c, n, k); GEMM(c, k, n); GEMM(k, n, c) + col2im(k, n), with k = ci·kh·kw, n = b·ho·wo and c the rank's
/// channels. Forward, an allgather of b·d_i; backward, an all-reduce of b·d_{i-1} except for the first layer, which has
/// no gradient of its inputs either. A message takes α + n·β.
namespace syncline::test {

struct CardMachine {
    double F = 4e12, M = 50e9;  ///< FLOP/s, bytes/s
    double alpha_s = 0.5e-6;    ///< from rank to rank
    double link_bps = 1e9;

    double beta() const { return 8 / link_bps; }
    double kernel_s(double flops, double elements) const { return std::max(flops / F, 4 * elements / M); }
    double gemm_s(double m, double n, double k) const { return kernel_s(2 * m * n * k, m * n + m * k + n * k); }

    Cluster cluster(std::int64_t nodes) const {
        Cluster made;
        made.nodes = nodes;
        made.device.flops_per_s = F;
        made.device.memory_Bps = M;
        made.fabric.topology.bandwidth_Bps = {1 / beta()};
        made.fabric.topology.latency_s = {alpha_s / 2};  // of each of two links
        return made;
    }
};

/// Properties of a layer that the card needs.
struct CardLayer {
    double inputs = 0, outputs = 0;  ///< d_{i-1} as the layer reads it, after pooling, and d_i
    double channels = 0;             ///< co
    double k = 0, pixels = 0;        ///< of its matrices, pixels of one sample
    bool convolution = false;
};

inline CardLayer card_layer(const Layer& layer) {
    if (const auto* fc = std::get_if<Dense>(&layer.shape)) {
        const auto in = static_cast<double>(fc->inputs), out = static_cast<double>(fc->outputs);
        return {in, out, out, in, 1, false};
    }
    const auto& conv = std::get<Convolution>(layer.shape);
    const std::int64_t in[2] = {conv.height, conv.width};
    double area = 1;
    for (int axis = 0; axis < 2; ++axis)
        area *= static_cast<double>((in[axis] + 2 * conv.padding[axis] - conv.kernel[axis]) / conv.stride[axis] + 1);
    const auto ci = static_cast<double>(conv.channels), co = static_cast<double>(conv.filters);
    return {ci * static_cast<double>(in[0] * in[1]),
            co * area,
            co,
            ci * static_cast<double>(conv.kernel[0] * conv.kernel[1]),
            area,
            true};
}

inline std::vector<CardLayer> card_layers(const Model& model) {
    std::vector<CardLayer> layers;
    for (const Layer& layer : model.layers) layers.push_back(card_layer(layer));
    return layers;
}

/// Returns the number of ranks that have channels.
inline double contributors(const CardLayer& layer, double P) {
    return std::ceil(layer.channels / std::ceil(layer.channels / P));
}

/// Returns the seconds that the slowest rank computes.
inline double card_compute_s(const std::vector<CardLayer>& layers, const CardMachine& machine, double b, double P) {
    double sum_s = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const CardLayer& layer = layers[i];
        const double c = std::ceil(layer.channels / P), k = layer.k, n = b * layer.pixels;
        const double copied = layer.convolution ? k * n : 0;
        sum_s += machine.kernel_s(0, copied) + 2 * machine.gemm_s(c, n, k);  // forward, and the weights' gradient
        if (i > 0) sum_s += machine.gemm_s(k, n, c) + machine.kernel_s(copied, copied);
    }
    return sum_s;
}

/// Returns the seconds of a collective of n bytes on P ranks, q of which contribute.
using CardCost = std::function<double(const CardMachine&, double n, double P, double q)>;

inline double card_exchanges_s(const std::vector<CardLayer>& layers, const CardMachine& machine, double b, double P,
                               const CardCost& allgather, const CardCost& allreduce) {
    if (P == 1) return 0;
    double sum_s = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const double q = contributors(layers[i], P), each = std::ceil(layers[i].channels / P);
        // Counts all contributors with as many channels as the first.
        sum_s += allgather(machine, 4 * b * layers[i].outputs * each * q / layers[i].channels, P, q);
        if (i > 0) sum_s += allreduce(machine, 4 * b * layers[i].inputs, P, q);
    }
    return sum_s;
}

/// Returns a plan in which all ranks hold a part of each layer, and the whole batch is processed by all: one column,
/// compute im2col, no overlap.
inline Plan card_plan(std::int64_t P, std::int64_t b) {
    Plan plan;
    plan.ranks = P;
    plan.batch_per_rank = b;
    plan.iterations = 1;
    plan.parallelism.layout.rows = P;
    plan.compute = ComputeKind::im2col;
    plan.overlap = Overlap::none;
    plan.input_copy = InputCopy::none;
    return plan;
}

}  // namespace syncline::test
