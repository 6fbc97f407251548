#include "sim/document/size_range.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/base/number.hpp"
#include "sim/base/trimmed.hpp"
#include "sim/base/units.hpp"

namespace syncline::config {

namespace {

constexpr const char* range_example = "write for example 4B..512MiB, or 4B..512MiB*4";

SizeRange wrong(const std::string& error, const std::string& hint = range_example) {
    return {{}, error, hint};
}

}  // namespace

bool is_size_range(std::string_view text) {
    return text.find("..") != std::string_view::npos;
}

SizeRange parse_size_range(std::string_view text) {
    const std::size_t dots = text.find("..");
    const std::size_t star = text.find('*');
    double factor = 2;
    if (star != std::string_view::npos) {
        const std::string_view number = trimmed(text.substr(star + 1), " ");
        factor = number_in<double>(number).value_or(0);
        if (!(factor >= 1.01) || !std::isfinite(factor))
            return wrong(fmt::format("'{}' is not a factor above 1", number));
    }
    double ends[2];
    const std::string_view parts[2] = {text.substr(0, dots), text.substr(dots + 2, star - dots - 2)};
    for (int i = 0; i < 2; ++i) {
        const Quantity size = parse_quantity(parts[i], Dimension::bytes);
        if (!size.value) return wrong(size.error, size.hint);
        if (*size.value < 1 || *size.value > largest_size || *size.value != std::floor(*size.value))
            return wrong(fmt::format("'{}' is not a whole number of bytes from 1 B to {}", trimmed(parts[i], " "),
                                     format_quantity(largest_size, Dimension::bytes)));
        ends[i] = *size.value;
    }
    if (ends[0] > ends[1])
        return wrong(fmt::format("{} is more than {}", trimmed(parts[0], " "), trimmed(parts[1], " ")));
    SizeRange range;
    for (double size = ends[0]; size <= ends[1]; size *= factor) {
        const auto bytes = static_cast<std::uint64_t>(size);
        if (range.sizes.empty() || range.sizes.back() != bytes) range.sizes.push_back(bytes);
        if (range.sizes.size() > most_sizes)
            return wrong(fmt::format("the range has more than {} sizes", most_sizes), "write a larger factor");
    }
    return range;
}

}  // namespace syncline::config
