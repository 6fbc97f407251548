#include "sim/workload/experts.hpp"

#include <utility>

#include "sim/workload/transformer.hpp"

namespace syncline {

namespace {

/// Returns an expert's counts: those of a feed-forward half without its normalisation.
Layer expert(const Experts& shape, std::int64_t hidden) {
    return feed_forward("", {shape.positions, shape.width, hidden, shape.gated, shape.bias, Norm::none});
}

}  // namespace

std::int64_t expert_parameters(const Experts& shape) {
    return expert(shape, shape.hidden).parameters;
}

std::int64_t router_parameters(const Experts& shape) {
    return shape.width * shape.experts;
}

double row_parameters(const Layer& layer, double part) {
    const auto* shape = std::get_if<Experts>(&layer.shape);
    const double router = shape ? static_cast<double>(router_parameters(*shape)) : 0;
    return static_cast<double>(layer.parameters) * part + router * (1 - part);
}

Layer experts(std::string name, const Experts& shape) {
    Layer layer = residual(std::move(name), shape.positions, shape.width);
    const Layer routed = expert(shape, shape.hidden), shared = expert(shape, shape.shared_hidden);
    const std::int64_t router = router_parameters(shape);
    layer.parameters = router + shape.experts * routed.parameters + norm_parameters(shape.norm, shape.width);
    layer.macs = shape.positions * router + shape.top_k * routed.macs;
    if (shape.shared > 0) {
        layer.parameters += shape.shared * shared.parameters;
        layer.macs += shape.shared * shared.macs;
    }
    layer.shape = shape;
    return layer;
}

}  // namespace syncline
