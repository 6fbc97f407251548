#include "sim/collective/segments.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/collective/algorithm.hpp"

namespace syncline {

std::uint32_t segment_count(std::uint64_t bytes, double segment_bytes, std::uint32_t blocks) {
    constexpr double most = 1 << 24, most_together = 1u << 31;
    if (segment_bytes == 0 || bytes == 0) return 1;
    // Segments hold whole bytes.
    const double count = std::ceil(static_cast<double>(bytes) / std::floor(segment_bytes));
    if (count > most || count * blocks > most_together)
        throw AlgorithmError("segment",
                             fmt::format("{} B in segments of {} B are more than {} segments", bytes, segment_bytes,
                                         static_cast<std::uint64_t>(std::min(most, most_together / blocks))),
                             "use larger segments");
    return static_cast<std::uint32_t>(count);
}

}  // namespace syncline
