#pragma once

#include <cstdint>
#include <vector>

/// Work that differs from one replica, microbatch or iteration to another: factors on a part of the time of tasks.
namespace syncline {

/// The part of a task's time that varies, and the row of its factors.
struct VaryingPart {
    double seconds = 0;  ///< at the factor 1; 0: nothing varies
    std::uint32_t row = 0;
    bool operator==(const VaryingPart&) const = default;
};

struct VaryingWork {
    std::uint32_t rows = 0;
    std::vector<double> factors;  ///< of each row, iteration by iteration; after the last one they come round

    double factor(std::uint32_t row, std::uint32_t iteration) const {
        return factors[iteration % iterations() * rows + row];
    }
    std::size_t iterations() const { return factors.size() / rows; }
};

}  // namespace syncline
