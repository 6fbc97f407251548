#include "sim/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/base/trimmed.hpp"

namespace syncline {

namespace {

struct Unit {
    std::string name;
    double factor;  ///< to the base unit
};

struct Family {
    const char* name;
    const char* example;      ///< a common unit, for hints
    std::vector<Unit> units;  ///< all that are accepted
    std::vector<Unit> shown;  ///< the ones used for output, in ascending order
};

constexpr std::pair<const char*, double> decimal[] = {{"", 1},     {"k", 1e3},  {"M", 1e6}, {"G", 1e9},
                                                      {"T", 1e12}, {"P", 1e15}, {"E", 1e18}};
constexpr std::pair<const char*, double> binary[] = {
    {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50}};

std::vector<Unit> prefixed(const std::string& unit) {
    std::vector<Unit> units;
    for (const auto& [prefix, factor] : decimal) units.push_back({prefix + unit, factor});
    return units;
}

std::vector<Unit> sizes(const std::vector<std::string>& suffixes) {
    std::vector<Unit> units;
    for (const auto& [unit, bytes] : {std::pair{"B", 1.0}, std::pair{"b", 0.125}, std::pair{"bit", 0.125}})
        for (const std::string& suffix : suffixes) {
            for (const auto& [prefix, factor] : decimal) units.push_back({prefix + (unit + suffix), factor * bytes});
            for (const auto& [prefix, factor] : binary) units.push_back({prefix + (unit + suffix), factor * bytes});
        }
    return units;
}

const Family& family(Dimension dimension) {
    static const Family bytes{"a size", "MiB", sizes({""}), prefixed("B")};
    // The micro sign is one of two characters, depending on the keyboard: U+00B5 or U+03BC.
    static const Family seconds{"a time",
                                "ms",
                                {{"s", 1},
                                 {"ms", 1e-3},
                                 {"us", 1e-6},
                                 {"\u00b5s", 1e-6},
                                 {"\u03bcs", 1e-6},
                                 {"ns", 1e-9},
                                 {"ps", 1e-12},
                                 {"min", 60},
                                 {"h", 3600},
                                 {"d", 86400},
                                 {"day", 86400},
                                 {"days", 86400}},
                                {{"ps", 1e-12}, {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}};
    static const Family bandwidth{"a bandwidth", "Gbps", sizes({"ps", "/s"}), prefixed("B/s")};
    static const Family flops = [] {
        Family result{"a computing speed", "Tflops", prefixed("flops"), prefixed("flops")};
        for (const Unit& unit : prefixed("flop/s")) result.units.push_back(unit);
        return result;
    }();
    static const Family rate{
        "a rate", "images/s", {{"/s", 1}, {"1/s", 1}, {"samples/s", 1}, {"images/s", 1}, {"img/s", 1}}, {{"/s", 1}}};
    static const Family count{"a count",
                              "B",
                              {{"k", 1e3}, {"M", 1e6}, {"B", 1e9}, {"G", 1e9}, {"T", 1e12}},
                              {{"", 1}, {"k", 1e3}, {"M", 1e6}, {"B", 1e9}, {"T", 1e12}}};
    static const Family power{"a power", "W", prefixed("W"), prefixed("W")};
    // Kilowatt-hours are what meters count; a joule is shown as such up to the first of them.
    static const Family energy = [] {
        Family result{"an energy", "kWh", prefixed("J"), {{"J", 1}, {"kJ", 1e3}}};
        for (const Unit& unit : prefixed("Wh")) {
            result.units.push_back({unit.name, 3600 * unit.factor});
            if (unit.factor >= 1e3) result.shown.push_back(result.units.back());
        }
        return result;
    }();
    switch (dimension) {
        case Dimension::bytes:
            return bytes;
        case Dimension::seconds:
            return seconds;
        case Dimension::bandwidth:
            return bandwidth;
        case Dimension::flops:
            return flops;
        case Dimension::count:
            return count;
        case Dimension::power:
            return power;
        case Dimension::energy:
            return energy;
        case Dimension::rate:
            break;
    }
    return rate;
}

std::string lower(std::string text) {
    for (char& letter : text)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    return text;
}

/// Normalises equivalent spellings: `KB` is `kB`; `FLOPS` and `flop/S` are accepted in any case.
std::string normal(std::string unit) {
    if (unit.size() > 1 && unit[0] == 'K' && unit[1] != 'i') unit[0] = 'k';
    const auto flop = lower(unit).find("flop");
    if (flop <= 1) unit = unit.substr(0, flop) + lower(unit.substr(flop));
    return unit;
}

std::optional<double> factor_of(const std::string& unit, Dimension dimension) {
    const std::string name = normal(unit);
    for (const Unit& known : family(dimension).units)
        if (known.name == name) return known.factor;
    return std::nullopt;
}

/// Returns a hint for a unit that does not belong to `dimension`.
std::string mend(std::string_view number, const std::string& unit, Dimension dimension) {
    std::vector<std::string> names;
    std::string other_case;
    for (const Unit& known : family(dimension).units) {
        names.push_back(known.name);
        if (lower(known.name) != lower(unit)) continue;
        const bool sized = dimension == Dimension::bytes || dimension == Dimension::bandwidth;
        const char* kind = !sized ? "" : known.name.find('B') != std::string::npos ? " (bytes)" : " (bits)";
        other_case = fmt::format("{} {}{}", number, known.name, kind) + (other_case.empty() ? "" : " or " + other_case);
    }
    if (!other_case.empty()) return fmt::format("did you mean {}?", other_case);
    if (factor_of(unit + "/s", dimension)) return fmt::format("did you mean {} {}/s?", number, unit);
    if (const auto name = closest(unit, names)) return fmt::format("did you mean {} {}?", number, *name);
    return fmt::format("write for example {} {}", number, family(dimension).example);
}

Quantity wrong_unit(std::string_view number, const std::string& unit, Dimension wanted) {
    const std::string hint = mend(number, unit, wanted);
    for (const Dimension other : dimensions_with_units)
        if (factor_of(unit, other))
            return {std::nullopt,
                    fmt::format("{} {} is {}, not {}", number, unit, family(other).name, family(wanted).name), hint};
    return {std::nullopt, fmt::format("unknown unit '{}'", unit), hint};
}

bool begins_number(std::string_view text) {
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (text.starts_with('.')) text.remove_prefix(1);
    return !text.empty() && text[0] >= '0' && text[0] <= '9';
}

}  // namespace

Quantity parse_quantity(std::string_view text, Dimension dimension) {
    text = trimmed(text, " ");
    const std::string example = fmt::format("write for example 25 {}", family(dimension).example);
    if (text.empty()) return {std::nullopt, "a number with a unit is missing", example};
    if (!begins_number(text)) return {std::nullopt, fmt::format("'{}' does not begin with a number", text), example};

    double value = 0;
    // std::from_chars takes no plus sign.
    const char* const first = text.data() + (text[0] == '+' ? 1 : 0);
    const auto [end, problem] = std::from_chars(first, text.data() + text.size(), value);
    const std::string_view number = text.substr(0, static_cast<std::size_t>(end - text.data()));
    const std::string unit{trimmed(text.substr(number.size()), " ")};

    const Quantity out_of_range{std::nullopt, fmt::format("{} is out of range", text), "the range is 2e-308 to 2e308"};
    if (problem == std::errc::result_out_of_range) return out_of_range;
    if (unit.empty() && dimension == Dimension::count && std::isfinite(value)) return {value + 0.0, "", ""};
    if (unit.empty())
        return {std::nullopt, fmt::format("{} has no unit", number),
                fmt::format("write for example {} {}", number, family(dimension).example)};
    if (unit[0] == ',') return {std::nullopt, fmt::format("'{}' has a comma", text), "use a decimal point"};
    const auto factor = factor_of(unit, dimension);
    if (!factor) return wrong_unit(number, unit, dimension);
    value *= *factor;
    if (!std::isfinite(value)) return out_of_range;
    return {value + 0.0, "", ""};  // the addition turns -0 into 0
}

std::string format_quantity(double value, Dimension dimension) {
    const std::vector<Unit>& units = family(dimension).shown;
    const Unit* unit = &units.front();
    if (value == 0 || !std::isfinite(value)) {
        unit = &*std::find_if(units.begin(), units.end(), [](const Unit& candidate) { return candidate.factor == 1; });
    } else {
        // Rounded to four digits, 999.95 would print as 1000, so the next unit begins there.
        for (const Unit& candidate : units)
            if (std::abs(value) >= candidate.factor * 0.99995) unit = &candidate;
    }
    const double number = value / unit->factor;
    // Above the largest prefix, all digits are printed rather than an exponent, up to a limit.
    const bool long_number = std::abs(number) >= 1000 && std::abs(number) < 1e15;
    return fmt::format("{}{}{}", long_number ? fmt::format("{:.0f}", number) : fmt::format("{:.4g}", number),
                       unit->name.empty() ? "" : " ", unit->name);
}

std::string format_roughly(double value, Dimension dimension) {
    const auto rounded = [](double number) {
        if (!(number > 0) || !std::isfinite(number)) return number;
        const double unit = std::pow(10, std::floor(std::log10(number)) - 1);
        return std::round(number / unit) * unit;
    };
    constexpr double minute = 60, hour = 3600, day = 86400;
    if (dimension != Dimension::seconds || value < 2 * minute) return format_quantity(rounded(value), dimension);
    if (value < 2 * hour) return fmt::format("{:g} min", rounded(value / minute));
    if (value < 2 * day) return fmt::format("{:g} h", rounded(value / hour));
    return fmt::format("{:g} days", rounded(value / day));
}

}  // namespace syncline
