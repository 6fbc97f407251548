#include "sim/taskgraph/pace.hpp"

#include <xxhash.h>

#include <array>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

namespace syncline {

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t first, std::uint64_t second) {
    const std::array<std::uint64_t, 2> counters{first, second};
    return XXH3_64bits_withSeed(counters.data(), sizeof counters, seed);
}

double Pace::drawn(std::uint32_t iteration) const {
    // Takes the middle of one of 2^52 parts of (0, 1), which a double represents exactly.
    const double uniform = (static_cast<double>(random_bits(seed, rank, iteration) >> 12) + 0.5) * 0x1p-52;
    const double z = boost::math::quantile(boost::math::normal(), uniform);
    const double variance = std::log1p(jitter * jitter);
    return std::exp(std::sqrt(variance) * z - variance / 2);
}

}  // namespace syncline
