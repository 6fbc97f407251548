#include "sim/platform/image_kernels.hpp"

#include <cmath>
#include <iterator>

namespace syncline {

bool ImageKernelRates::add(const ImageWork& work, bool channels_last, double bytes_per_s) {
    return all_[static_cast<std::size_t>(work.kernel)][channels_last]
        .emplace(std::log(work.size), std::log(bytes_per_s))
        .second;
}

std::optional<double> ImageKernelRates::rate(const ImageWork& work, bool channels_last) const {
    const Curve& curve = all_[static_cast<std::size_t>(work.kernel)][channels_last];
    if (curve.empty()) return std::nullopt;
    const double x = std::log(work.size);
    const auto above = curve.lower_bound(x);
    if (above == curve.begin()) return std::exp(above->second);
    const auto below = std::prev(above);
    if (above == curve.end()) return std::exp(below->second);
    const double way = (x - below->first) / (above->first - below->first);
    return std::exp(below->second * (1 - way) + above->second * way);
}

}  // namespace syncline
