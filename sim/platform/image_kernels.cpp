#include "sim/platform/image_kernels.hpp"

#include <cmath>

#include "sim/platform/between.hpp"

namespace syncline {

bool ImageKernelRates::add(const ImageWork& work, bool channels_last, double bytes_per_s) {
    return all_[static_cast<std::size_t>(work.kernel)][channels_last]
        .emplace(std::log(work.size), std::log(bytes_per_s))
        .second;
}

std::optional<double> ImageKernelRates::rate(const ImageWork& work, bool channels_last) const {
    const Curve& curve = all_[static_cast<std::size_t>(work.kernel)][channels_last];
    if (curve.empty()) return std::nullopt;
    return std::exp(between(curve, std::log(work.size), [](double rate) { return rate; }));
}

}  // namespace syncline
