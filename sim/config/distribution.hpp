#pragma once

#include <cstdint>
#include <string>

#include "sim/config/fields.hpp"

namespace syncline::config {

/// What a study's `draw` draws a key's values from. Parameters are numbers, per cents or quantities, of one unit or of
/// several that convert; values have that of the first one, six significant digits, and are whole numbers where all
/// parameters are. They are not bounded: one that the key does not take makes a point that does not fit.
class Distribution {
public:
    enum class Kind { uniform, normal, lognormal };

    /// The table of its keys.
    void describe(Fields& fields);

    /// The same for the same seed, key and distribution, whatever else is drawn.
    std::string draw(std::uint64_t seed, const std::string& key) const;

private:
    void measure(Fields& fields, const char* first, const std::string& first_text, const char* second,
                 const std::string& second_text);

    Kind kind_ = Kind::uniform;
    double first_ = 0;   ///< least, mean or median
    double second_ = 0;  ///< most, deviation or sigma
    std::string unit_;
    bool whole_ = false;
};

}  // namespace syncline::config
