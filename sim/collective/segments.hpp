#pragma once

#include <cstdint>

/// Segmentation of blocks, so that one segment is passed on while the next one arrives.
namespace syncline {

/// Returns the minimum number of segments that keeps each within `segment_bytes`; 0: one. Throws AlgorithmError on key
/// "segment" if there are too many, for each of `blocks` blocks of `bytes`.
std::uint32_t segment_count(std::uint64_t bytes, double segment_bytes, std::uint32_t blocks = 1);

}  // namespace syncline
