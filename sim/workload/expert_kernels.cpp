#include <utility>

#include "sim/workload/pass_kernels.hpp"

namespace syncline {

namespace {

/// Networks of the same shape, each with its own weights and the same number of rows.
struct Networks {
    const char *up, *down;
    double number, rows, width, hidden;  ///< rows and hidden units of each
    bool gated;

    /// Marks products as those of several experts.
    Kernel own(Kernel product, GroupedPass pass) const {
        product.weights = pass == GroupedPass::weights;
        if (number > 1) product.grouped = pass;
        return linear(std::move(product));
    }

    std::vector<Kernel> kernels(Pass pass) const {
        const double first = (gated ? 2 : 1) * hidden, units = number * rows * hidden;
        switch (pass) {
            case Pass::forward:
                return {own(gemm(up, rows, first, width, number), GroupedPass::forward), activation(gated, units),
                        own(gemm(down, rows, width, hidden, number), GroupedPass::forward)};
            case Pass::weight_gradient:
                return {own(gemm(down, hidden, width, rows, number), GroupedPass::weights),
                        own(gemm(up, width, first, rows, number), GroupedPass::weights)};
            case Pass::input_gradient:
                break;
        }
        return {own(gemm(down, rows, hidden, width, number), GroupedPass::inputs), activation_gradient(gated, units),
                own(gemm(up, rows, width, first, number), GroupedPass::inputs)};
    }
};

/// Returns the choice of experts, whose results are counted by its outputs.
Kernel choice(double elements, bool launched, std::int64_t kernels) {
    Kernel kernel = moving("choice of experts", elements);
    if (launched) kernel.count = kernels;
    return kernel;
}

}  // namespace

std::vector<Kernel> kernels_of(const Experts& experts, Pass pass, const Share& share, bool launched) {
    const double width = real(experts.width), all = real(experts.experts), own = all * share.experts;
    const double rows = share.samples * real(experts.positions), copies = rows * experts.copies();
    // Routing is done like a normalisation: whole, or for the rank's positions.
    const double between = rows * share.positions, sent = copies * share.positions;
    const Networks routed{"experts: to hidden units",
                          "experts: from hidden units",
                          own,
                          copies / own * share.load * share.routed_tokens(),
                          width,
                          real(experts.hidden) * share.routed_fraction(),
                          experts.gated};
    const Networks shared{"shared experts: to hidden units",
                          "shared experts: from hidden units",
                          1,
                          rows,
                          width,
                          real(experts.shared * experts.shared_hidden) * share.fraction,
                          experts.gated};
    const bool fused = experts.fused_permutation;
    // One kernel adds up the K copies of a token; otherwise the sum is cleared, and each copy reads and writes it.
    const double summed = (fused ? sent : 3 * sent) + between;
    const Kernel weighted = moving("products with router weights", 2 * sent * width, Pointwise::row_product);
    std::vector<Kernel> result;
    // Megatron-Core's sort_chunks_by_idxs, or the transposition that replaces it with a capacity.
    const bool sorts = own > 1 && pass != Pass::weight_gradient;
    const Kernel sort =
        moving("sort by expert", 2 * copies * share.load * share.routed_tokens() * width, Pointwise::copy);
    const auto add_networks = [&] {
        if (sorts) append(result, core({sort}));
        append(result, core(routed.kernels(pass)));
        if (sorts) append(result, core({sort}));
        if (experts.shared > 0) append(result, shared.kernels(pass));
    };
    constexpr std::int64_t choice_forward = 44, choice_backward = 14;
    Kernel dispatch = moving("dispatch", 2 * sent * width);
    dispatch.waits = launched && experts.capacity == 0;
    switch (pass) {
        case Pass::forward:
            if (experts.norm != Norm::none) result.push_back(normalisation(experts.norm, between, width));
            append(result, {gemm("router", between, all, width), choice(2 * between * all, launched, choice_forward),
                            dispatch});
            add_networks();
            if (!fused) result.push_back(weighted);
            append(result,
                   {moving("combination", summed * width, fused ? Pointwise::other : Pointwise::scatter_addition),
                    moving("residual addition", 3 * between * width)});
            break;
        case Pass::weight_gradient:
            add_networks();
            result.push_back(gemm("router", width, all, between));
            break;
        case Pass::input_gradient:
            // The gradients of the router's weights need the experts' outputs, too.
            if (fused)
                result.push_back(moving("combination", (2 * sent + between) * width));
            else
                append(result,
                       {moving("combination", 2 * sent * width), weighted,
                        moving("products with results", 3 * sent * width), moving("sums of products", sent * width)});
            add_networks();
            append(result, {moving("dispatch", summed * width, fused ? Pointwise::other : Pointwise::index_addition),
                            choice(3 * between * all, launched, choice_backward), gemm("router", between, width, all)});
            if (experts.norm != Norm::none) result.push_back(normalisation_gradient(experts.norm, between, width));
            result.push_back(moving("residual addition", 3 * between * width));
    }
    return result;
}

}  // namespace syncline
