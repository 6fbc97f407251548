#include "sim/plot/curve_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sim/base/units.hpp"
#include "sim/plot/plot_axis.hpp"

namespace syncline::batch {

std::string text_of(const Value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *whole);
    if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
    return "none";
}

std::string base_unit(const std::string& text) {
    for (const auto& [dimension, name] :
         {std::pair{Dimension::bytes, "B"}, std::pair{Dimension::seconds, "s"}, std::pair{Dimension::bandwidth, "B/s"},
          std::pair{Dimension::flops, "flops"}, std::pair{Dimension::rate, "/s"}, std::pair{Dimension::power, "W"},
          std::pair{Dimension::energy, "J"}})
        if (parse_quantity(text, dimension).value) return name;
    return "";
}

std::string binary_size(double bytes) {
    for (const auto& [factor, unit] : {std::pair{0x1p30, "GiB"}, std::pair{0x1p20, "MiB"}, std::pair{0x1p10, "KiB"}})
        if (bytes >= factor) return fmt::format("{:g} {}", bytes / factor, unit);
    return fmt::format("{:g} B", bytes);
}

namespace {

/// Returns a value of a result with its unit: "64 KiB", "12.5 GB/s", "700 samples/s".
std::string value_text(const Value& value, Unit unit) {
    const auto number = std::holds_alternative<std::string>(value) ? std::nullopt : number_of(value);
    if (!number) return text_of(value);
    const bool whole_kibibytes = *number > 0 && std::fmod(*number, 1024) == 0;
    switch (unit) {
        case Unit::bytes:
            return whole_kibibytes ? binary_size(*number) : format_quantity(*number, Dimension::bytes);
        case Unit::seconds:
            return format_quantity(*number, Dimension::seconds);
        case Unit::bandwidth:
            return format_quantity(*number, Dimension::bandwidth);
        default:
            break;
    }
    const std::string symbol_text = symbol(unit);
    return symbol_text.empty() ? text_of(value) : fmt::format("{:.4g} {}", *number, symbol_text);
}

}  // namespace

std::string curve_name(const Table& table, const std::vector<std::string>& columns, const std::vector<Value>& values) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const std::string text = value_text(values[i], table.unit(columns[i]));
        const bool bare = text == text_of(values[i]) && (!std::holds_alternative<std::string>(values[i]) ||
                                                         text == "true" || text == "false" || text == "none");
        parts.push_back(columns.size() > 1 && bare ? fmt::format("{} {}", spoken(table, columns[i]).name, text) : text);
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string coinciding(const std::vector<Curve>& curves) {
    const auto near = [](const Curve& a, const Curve& b) {
        return std::equal(a.knots.begin(), a.knots.end(), b.knots.begin(), b.knots.end(),
                          [](const Knot& one, const Knot& other) {
                              const double least = std::min(std::abs(one.mean), std::abs(other.mean));
                              return one.x == other.x && std::abs(one.mean - other.mean) <= 0.005 * least;
                          });
    };
    std::vector<bool> told(curves.size());
    std::vector<std::string> groups;
    for (std::size_t i = 0; i < curves.size(); ++i) {
        std::vector<std::string> names{curves[i].name};
        for (std::size_t j = i + 1; j < curves.size() && !told[i]; ++j)
            if (!told[j] && near(curves[i], curves[j])) {
                told[j] = true;
                names.push_back(curves[j].name);
            }
        if (names.size() > 1) groups.push_back(fmt::format("{}", fmt::join(names, " = ")));
    }
    return fmt::format("{}", fmt::join(groups, "; "));
}

}  // namespace syncline::batch
