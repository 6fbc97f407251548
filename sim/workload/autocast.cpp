#include "sim/workload/autocast.hpp"

#include <algorithm>
#include <utility>

#include "sim/workload/pass_kernels.hpp"

namespace syncline {

namespace {

constexpr double narrow_bytes = 2, wide_bytes = 4;

Kernel conversion(const char* name, double values) {
    return moving(name, 0, (narrow_bytes + wide_bytes) * values, Pointwise::copy);
}

/// Returns the number of weights of a product.
double weights_of(const MatrixProduct& product, Pass pass) {
    return (pass == Pass::weight_gradient ? product.m * product.n : product.n * product.k) * product.batch;
}

}  // namespace

std::vector<Kernel> autocast(std::vector<Kernel> kernels, Pass pass, double values, std::size_t branches,
                             bool separate) {
    // Casts of weights may be there already.
    const bool cast = std::any_of(kernels.begin(), kernels.end(), [](const Kernel& kernel) { return kernel.cast; });
    if (branches > 0 && pass != Pass::weight_gradient) {
        Kernel& sum = kernels.back();
        sum.bytes += (wide_bytes - narrow_bytes) * (pass == Pass::forward ? 2 * values : sum.elements);
    }
    std::vector<Kernel> result;
    if (separate && pass == Pass::input_gradient)
        result.assign(branches, conversion("conversion for a branch", values));
    for (Kernel& kernel : kernels) {
        const bool norm = kernel.kind == Pointwise::normalisation,
                   norm_gradient = kernel.kind == Pointwise::normalisation_gradient;
        if (norm || norm_gradient) kernel.bytes += (wide_bytes - narrow_bytes) * kernel.elements;
        const double weights =
            kernel.product && pass != Pass::input_gradient ? weights_of(*kernel.product, pass) * real(kernel.count) : 0;
        const bool has_weights = weights > 0 && !kernel.core && !cast;
        if (separate && norm_gradient) result.push_back(conversion("conversion of a gradient", values));
        if (separate && has_weights && pass == Pass::forward)
            result.push_back(conversion("conversion of weights", weights));
        result.push_back(std::move(kernel));
        if (separate && norm) result.push_back(conversion("conversion", values));
        if (separate && has_weights && pass == Pass::weight_gradient)
            result.push_back(conversion("conversion of a gradient", weights));
    }
    return result;
}

}  // namespace syncline
