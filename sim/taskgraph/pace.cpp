#include "sim/taskgraph/pace.hpp"

#include <xxhash.h>

#include <array>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

namespace syncline {

namespace {

// Counters beside those of ranks and iterations, which have 32 bits: no two draws share their counters.
constexpr std::uint64_t of_node = std::uint64_t{1} << 32;
constexpr std::uint64_t of_messages = ~std::uint64_t{0} - 1;

}  // namespace

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t first, std::uint64_t second) {
    const std::array<std::uint64_t, 2> counters{first, second};
    return XXH3_64bits_withSeed(counters.data(), sizeof counters, seed);
}

double lognormal_sigma(double variation) {
    return std::sqrt(std::log1p(variation * variation));
}

double lognormal_factor(double variation, std::uint64_t bits) {
    // Takes the middle of one of 2^52 parts of (0, 1), which a double represents exactly.
    const double uniform = (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
    const double z = boost::math::quantile(boost::math::normal(), uniform);
    const double variance = std::log1p(variation * variation);
    return std::exp(std::sqrt(variance) * z - variance / 2);
}

double Pace::drawn(std::uint32_t iteration) const {
    double factor = 1;
    if (jitter > 0) factor = lognormal_factor(jitter, random_bits(seed, rank, iteration));
    if (node_jitter > 0) factor *= lognormal_factor(node_jitter, random_bits(seed, of_node + node, iteration));
    return factor;
}

double Lateness::drawn(std::uint32_t channel, std::uint32_t from, std::uint32_t to, std::uint64_t number) const {
    const std::uint64_t connection = random_bits(seed, std::uint64_t{from} << 32 | to, of_messages - channel);
    return lognormal_factor(jitter, random_bits(connection, number, of_messages));
}

}  // namespace syncline
