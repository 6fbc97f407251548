#include "sim/output/field_cells.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/base/units.hpp"
#include "sim/output/cells.hpp"

namespace syncline::text {

namespace {

std::string spelled_out(const std::string& field, Unit unit) {
    std::string name = without_unit(field, unit);
    for (char& letter : name)
        if (letter == '_' || letter == '.') letter = ' ';
    if (unit != Unit::samples_per_s && unit != Unit::tokens_per_s) return name;
    const std::string symbol = syncline::symbol(unit);
    return symbol == name + "/s" ? symbol : fmt::format("{} ({})", name, symbol);
}

/// Formats a time that may be that of a whole training: "23.4 days".
std::string long_time(double time_s) {
    constexpr double hour = 3600, day = 24 * hour;
    return time_s < 2 * hour     ? seconds(time_s)
           : time_s < 2 * day    ? fmt::format("{:.3g} h", time_s / hour)
           : time_s < 1000 * day ? fmt::format("{:.3g} days", time_s / day)
                                 : fmt::format("{:.0f} days", time_s / day);
}

}  // namespace

std::string heading_of(const std::string& field, Unit unit) {
    const auto known = field_units().find(field);
    if (known != field_units().end()) return spelled_out(field, known->second);
    const std::size_t end = field.rfind('_');
    const auto grouped = end == field.npos ? field_units().end() : field_units().find(field.substr(0, end));
    if (grouped == field_units().end()) return unit == Unit::number ? field : spelled_out(field, unit);
    const std::string part = field.substr(end + 1);
    return spelled_out(grouped->first, grouped->second) + (part == "least"  ? " min"
                                                           : part == "most" ? " max"
                                                                            : " " + part);
}

std::string cell_of(double value, Unit unit) {
    if (unit == Unit::seconds) return long_time(value);
    if (unit == Unit::money)
        return std::abs(value) < 1000 ? fmt::format("{:.4g}", value) : fmt::format("{:.0f}", value);
    if (unit == Unit::bandwidth) return bandwidth(value);
    if (unit == Unit::joules) return format_quantity(value, Dimension::energy);
    if (unit == Unit::watts) return format_quantity(value, Dimension::power);
    if (unit == Unit::bytes) return format_quantity(value, Dimension::bytes);
    if (unit == Unit::samples_per_s || unit == Unit::tokens_per_s)
        return fmt::format(fmt::runtime(std::abs(value) < 100   ? "{:.4g}"
                                        : std::abs(value) < 1e4 ? "{:.1f}"
                                                                : "{:.0f}"),
                           value);
    return unit == Unit::share ? fmt::format("{:.4g}", value) : fmt::format("{:.6g}", value);
}

}  // namespace syncline::text
