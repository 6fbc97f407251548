#pragma once

#include <cstdint>
#include <string>

#include "sim/document/fields.hpp"

namespace syncline::config {

/// The distribution from which a study's `draw` draws a key's values. Parameters are numbers, percentages or
/// quantities, of one unit or of convertible units. Values have the unit of the first parameter and six significant
/// digits, and are whole numbers if all parameters are. They are not bounded: a value that the key does not accept
/// makes a point that does not fit.
class Distribution {
public:
    enum class Kind { uniform, normal, lognormal };

    /// Describes its keys.
    void describe(Fields& fields);

    /// Returns a value, which is the same for the same seed, key and distribution, whatever else is drawn.
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
