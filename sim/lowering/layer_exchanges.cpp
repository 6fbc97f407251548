#include "sim/lowering/layer_exchanges.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/collective/halo.hpp"
#include "sim/lowering/recomputed_spans.hpp"

namespace syncline {

namespace {

std::string words(const Layout& layout) {
    std::string text = fmt::format("{} rows", layout.rows);
    if (layout.cells() > layout.context) text += fmt::format(" and {}×{} cells", layout.height, layout.width);
    return text;
}

/// Returns a halo exchange in lines of cells: neighbours send each other `depth` elements for each element of an edge's
/// length, which is `lengths[i]` in the i-th line.
ActivationExchange halo(const Grouping& lines, double depth, const std::vector<std::int64_t>& lengths,
                        double element_bytes) {
    ActivationExchange exchange{
        lines, {.operation = "halo", .name = ""}, std::make_shared<const Halo>(), {}, Phase::halo};
    for (const std::int64_t length : lengths)
        exchange.bytes.push_back(whole_bytes(depth * static_cast<double>(length), element_bytes));
    return exchange;
}

}  // namespace

std::uint64_t whole_bytes(double elements, double element_bytes) {
    constexpr double most = 9e15;  // below 2^53, so sums are exact
    const double bytes = std::ceil(elements * element_bytes);
    if (!(bytes <= most))
        throw ParallelismError("activations", fmt::format("an exchange of {:.3g} B of activations is too large", bytes),
                               "use fewer samples per microbatch");
    return static_cast<std::uint64_t>(bytes);
}

ActivationExchange ExchangePlanner::make(const Grouping& groups, const std::string& operation, double elements,
                                         std::uint32_t contributors) {
    const bool uneven = contributors != 0 && contributors < groups.size;
    AlgorithmSpec spec;
    spec.operation = operation;
    if (operation == "allgather") spec.name = uneven ? algorithms_->uneven_allgather : algorithms_->allgather;
    if (operation == "allreduce") spec.name = uneven ? algorithms_->uneven_allreduce : algorithms_->allreduce;
    if (operation == "reduce-scatter") spec.name = algorithms_->reduce_scatter;
    if (operation == "all-to-all") spec.name = algorithms_->all_to_all;
    // Other all-reduces include every rank, ranks without data with zeros.
    if (uneven && (operation == "allgather" || takes_subsets(operation, spec.name))) spec.contributors = contributors;
    try {
        return {groups,
                spec,
                make_algorithm(spec, groups.size),
                {whole_bytes(elements, activation_element(model_))},
                Phase::activations};
    } catch (const AlgorithmError& error) {
        throw ParallelismError("activations",
                               fmt::format("{} among {} ranks: {}", operation, groups.size, error.what()), error.hint);
    }
}

bool ExchangePlanner::gathers_positions(std::uint32_t layer) const {
    if (!parallelism_.sequence || layers_[layer].layout.rows == 1) return false;
    const auto* experts = std::get_if<Experts>(&model_.layers[layer].shape);
    return !experts || experts->shared > 0;
}

bool ExchangePlanner::keeps_gathered(const Layer& layer) const {
    if (std::holds_alternative<Experts>(layer.shape)) return false;
    return plan_.saved.gathered && !recomputes_inputs(plan_.recomputation, layer);
}

ActivationExchange ExchangePlanner::sum_over_rows(std::uint32_t layer, double elements) {
    const PlacedLayer& placed = layers_[layer];
    return make({narrow(placed.layout.rows), 1}, "allreduce", elements, placed.contributors);
}

void ExchangePlanner::add(std::uint32_t layer, const ActivationAlgorithms& algorithms) {
    algorithms_ = &algorithms;
    const bool summed = layer > 0 && layers_[layer].layout != layers_[layer - 1].layout && add_transition(layer);
    PlacedLayer& placed = layers_[layer];
    if (gathers_positions(layer))
        add_sequence(layer);
    else if (placed.layout.rows > 1 && !parallelism_.sequence)
        add_rows(layer);
    // The gradients that a transition returns come after the sum over this layer's rows, or replace it.
    if (placed.layout.rows > 1 && !parallelism_.sequence && layer > 0 && !summed) {
        const double inputs = placed.share.samples * static_cast<double>(model_.layers[layer].inputs);
        auto& after = placed.exchanges.after_backward;
        after.insert(after.begin(), sum_over_rows(layer, inputs / static_cast<double>(placed.layout.cells())));
    }
    if (placed.layout.cells() > 1) add_halos(layer);
}

Boundary ExchangePlanner::boundary(std::uint32_t layer, const ActivationAlgorithms& algorithms) {
    algorithms_ = &algorithms;
    const PlacedLayer& from = layers_[layer - 1];
    const double element_bytes = activation_element(model_);
    const double elements = from.share.samples * static_cast<double>(model_.layers[layer].inputs) /
                            static_cast<double>(from.layout.cells());
    const auto rows = static_cast<double>(from.layout.rows);
    if (parallelism_.sequence) return {whole_bytes(elements / rows, element_bytes)};
    // Megatron-LM sends the whole where shares would differ.
    const bool even = std::fmod(elements, rows) == 0;
    if (!parallelism_.pipeline.scatter_gather || rows == 1 || !even || layers_[layer].layout != from.layout)
        return {whole_bytes(elements, element_bytes)};
    const ActivationExchange gathering = make({narrow(from.layout.rows), 1}, "allgather", elements);
    return {whole_bytes(elements / rows, element_bytes), gathering, gathering};
}

void ExchangePlanner::add_rows(std::uint32_t number) {
    const Layer& layer = model_.layers[number];
    PlacedLayer& placed = layers_[number];
    const double outputs =
        placed.share.samples * static_cast<double>(layer.activations) / static_cast<double>(placed.layout.cells());
    if (split_of(layer) == Split::inside) {
        placed.exchanges.after_forward.push_back(sum_over_rows(number, outputs));
        return;
    }
    const auto* dense = std::get_if<Dense>(&layer.shape);
    const bool last = number + 1 == model_.layers.size();
    if (dense && !dense->gathered && last) return;
    placed.exchanges.after_forward.push_back(
        make({narrow(placed.layout.rows), 1}, "allgather", outputs * placed.padded, placed.contributors));
}

void ExchangePlanner::add_sequence(std::uint32_t number) {
    const Layer& layer = model_.layers[number];
    PlacedLayer& placed = layers_[number];
    if (std::holds_alternative<Convolution>(layer.shape))
        throw ParallelismError(
            "sequence", fmt::format("layer '{}' has no sequence positions that can be divided among ranks", layer.name),
            "sequence parallelism applies to transformers only");
    const Grouping rows{narrow(placed.layout.rows), 1};
    const auto in_chunks = [&](double product_s, const char* operation, double elements) {
        const std::uint32_t chunks = product_s > 0 ? placed.chunked.chunks : 1;
        ActivationExchange exchange = make(rows, operation, elements / chunks);
        exchange.chunks = chunks;
        exchange.synchronous = true;
        return exchange;
    };
    const double samples = placed.share.samples / static_cast<double>(placed.layout.cells());
    const double inputs = samples * static_cast<double>(layer.inputs);
    const double outputs = samples * static_cast<double>(layer.activations);
    LayerExchanges& exchanges = placed.exchanges;
    if (number > 0) {
        exchanges.before_forward.push_back(in_chunks(placed.chunked.inputs_forward_s, "allgather", inputs));
        if (!keeps_gathered(layer)) exchanges.beside_backward.push_back(make(rows, "allgather", inputs));
        exchanges.after_backward.push_back(make(rows, "reduce-scatter", inputs));
    }
    const auto* dense = std::get_if<Dense>(&layer.shape);
    const bool last = number + 1 == model_.layers.size();
    if (dense && !dense->gathered && last) return;
    // Split outputs are gathered, and every row continues with its positions of them.
    exchanges.after_forward.push_back(in_chunks(
        placed.chunked.outputs_forward_s, split_of(layer) == Split::inside ? "reduce-scatter" : "allgather", outputs));
    exchanges.before_backward.push_back(in_chunks(placed.chunked.outputs_backward_s, "allgather", outputs));
}

void ExchangePlanner::add_halos(std::uint32_t number) {
    const auto* conv = std::get_if<Convolution>(&model_.layers[number].shape);
    if (!conv) return;
    PlacedLayer& placed = layers_[number];
    const Layout& layout = placed.layout;
    const std::int64_t edge[2] = {conv->kernel[0] / 2, conv->kernel[1] / 2};
    const std::int64_t parts[2] = {layout.height, layout.width};
    const std::int64_t in[2] = {conv->height, conv->width};
    const std::int64_t out[2] = {output_size(*conv, 0), output_size(*conv, 1)};
    const Grouping lines[2] = {{narrow(layout.height), narrow(layout.rows * layout.width)},
                               {narrow(layout.width), narrow(layout.rows)}};
    for (int axis = 0; axis < 2; ++axis) {
        if (parts[axis] == 1 || edge[axis] == 0) continue;
        if (in[axis] / parts[axis] < edge[axis])
            throw ParallelismError("domain",
                                   fmt::format("layer '{}': {} of {} pixels in {} parts leaves fewer than the {} that "
                                               "the kernel reaches beyond a part",
                                               model_.layers[number].name, axis == 0 ? "a height" : "a width", in[axis],
                                               parts[axis], edge[axis]),
                                   "give this and the following layers another layout under `layers`");
        const int other = 1 - axis;
        // Rows first; the columns that follow are longer by the received rows, which brings the corners: from two
        // neighbours, except for the cells at the top and at the bottom.
        const auto lengths = [&](const std::int64_t* size) {
            const std::int64_t own = up(size[other], parts[other]);
            if (axis == 0) return std::vector{own};
            std::vector<std::int64_t> all(static_cast<std::size_t>(parts[0]), own);
            for (std::size_t line = 1; line < all.size(); ++line) all[line - 1] += edge[0], all[line] += edge[0];
            return all;
        };
        const double deep = placed.share.samples * static_cast<double>(edge[axis]);
        placed.exchanges.before_forward.push_back(
            halo(lines[axis], deep * static_cast<double>(conv->channels), lengths(in), activation_element(model_)));
        if (number > 0)
            placed.exchanges.before_backward.push_back(
                halo(lines[axis], deep * static_cast<double>(conv->filters) * placed.share.fraction, lengths(out),
                     activation_element(model_)));
    }
}

bool ExchangePlanner::add_transition(std::uint32_t number) {
    const Layout& from = layers_[number - 1].layout;
    PlacedLayer& placed = layers_[number];
    const Layout& to = placed.layout;
    const auto inputs = static_cast<double>(model_.layers[number].inputs);
    LayerExchanges& exchanges = placed.exchanges;
    const auto reject = [&]() -> bool {
        throw ParallelismError(
            "layers",
            fmt::format("activations cannot be moved from layer '{0}' with {2} to layer '{1}' with {3}",
                        model_.layers[number - 1].name, model_.layers[number].name, words(from), words(to)),
            to.context > 1 ? "with `context` all layers have the same layout; remove `layers`, or `context`"
                           : "one number of rows must divide the other, and cells must become rows or replicas");
    };
    if (parallelism_.sequence || to.context > 1) return reject();
    const double before = layers_[number - 1].share.samples * inputs, after = placed.share.samples * inputs;

    // Cells become columns, or columns cells; every rank has all channels.
    if (from.rows == 1 && to.rows == 1 && (from.cells() == 1 || to.cells() == 1)) {
        const std::int64_t cells = from.cells() * to.cells();
        const ActivationExchange turn =
            make({narrow(cells), 1}, "all-to-all", before / static_cast<double>(from.cells()));
        exchanges.before_forward.push_back(turn);
        exchanges.after_backward.push_back(turn);
        return true;
    }
    // More ranks need all of the samples' activations: ranks that hold different samples gather them.
    const bool gathers = to.cells() == 1 && to.rows > from.rows && to.rows % from.rows == 0 &&
                         (from.cells() == 1 || to.rows == from.replica());
    if (gathers) {
        const Grouping groups{narrow(to.rows / from.rows), narrow(from.rows)};
        exchanges.before_forward.push_back(make(groups, "allgather", after));
        exchanges.after_backward.push_back(make(groups, "reduce-scatter", after));
        if (from.rows > 1)
            exchanges.after_backward.push_back(
                make({narrow(from.rows), 1}, "allreduce", before / static_cast<double>(from.cells())));
        return true;
    }
    // Every rank has what it needs, and more; the gradients of the rest are on other ranks.
    const bool slices = from.cells() == 1 && from.rows > to.rows && from.rows % to.rows == 0 &&
                        (to.cells() == 1 || from.rows == to.replica());
    if (!slices) return reject();
    exchanges.after_backward.push_back(make({narrow(from.rows / to.rows), narrow(to.rows)}, "allgather", before));
    return false;
}

}  // namespace syncline
