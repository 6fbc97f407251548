#include "sim/study/distribution.hpp"

#include <fmt/format.h>

#include <boost/random/lognormal_distribution.hpp>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/seed_seq.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <boost/random/uniform_real_distribution.hpp>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

namespace syncline::config {

namespace {

/// A number with its unit: `1.5 us`.
struct Measured {
    double number = 0;
    std::string unit;  ///< as written; empty: a plain number
    bool whole = false;
};

std::optional<Measured> measured(const std::string& text) {
    Measured result;
    const char* const end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, result.number);
    if (problem != std::errc() || !std::isfinite(result.number)) return {};
    result.unit = std::string(stop, end);
    result.unit.erase(0, result.unit.find_first_not_of(' '));
    // Beyond 2^53 a double cannot represent every whole number.
    result.whole = result.unit.empty() && std::abs(result.number) < 0x1p53 &&
                   text.find_first_not_of("-0123456789") == std::string::npos;
    return result;
}

/// Returns a value converted to unit `to`, or nothing if the units differ in dimension.
std::optional<double> converted(const Measured& value, const std::string& to) {
    if (value.unit == to) return value.number;
    for (const Dimension dimension : dimensions_with_units) {
        const Quantity one = parse_quantity("1 " + to, dimension), other = parse_quantity("1 " + value.unit, dimension);
        if (one.value && other.value) return value.number * (*other.value / *one.value);
    }
    return {};
}

}  // namespace

void Distribution::describe(Fields& fields) {
    fields.one_of({"distribution", "Kind of distribution."}, kind_,
                  {{"uniform", Kind::uniform}, {"normal", Kind::normal}, {"lognormal", Kind::lognormal}});
    struct Parameter {
        Kind of;
        const char* name;
        const char* doc;
        std::string text = {};
    };
    Parameter parameters[] = {
        {Kind::uniform, "least", "Minimum of a uniform distribution."},
        {Kind::uniform, "most", "Maximum of a uniform distribution."},
        {Kind::normal, "mean", "Mean of a normal distribution."},
        {Kind::normal, "deviation", "Standard deviation of a normal distribution."},
        {Kind::lognormal, "median", "Median of a lognormal distribution."},
        {Kind::lognormal, "sigma", "Standard deviation of the logarithm of a lognormal distribution."}};
    std::vector<const Parameter*> own;
    for (Parameter& parameter : parameters) {
        fields.text({parameter.name, parameter.doc}, parameter.text);
        if (parameter.of == kind_)
            own.push_back(&parameter);
        else if (fields.given(parameter.name))
            fields.reject(parameter.name, fmt::format("'{}' has no effect here", parameter.name),
                          "uniform has 'least' and 'most', normal 'mean' and 'deviation', lognormal 'median' and "
                          "'sigma'");
    }
    for (const Parameter* parameter : own)
        if (!fields.given(parameter->name)) fields.reject("", fmt::format("missing key '{}'", parameter->name), "");
    if (fields.sound()) measure(fields, own[0]->name, own[0]->text, own[1]->name, own[1]->text);
}

void Distribution::measure(Fields& fields, const char* first, const std::string& first_text, const char* second,
                           const std::string& second_text) {
    constexpr const char* example_of_draws = "write for example 5 us, 10 %, or 0.5";
    const auto a = measured(first_text), b = measured(second_text);
    if (!a)
        fields.reject(first, fmt::format("'{}' is not a number, with or without a unit", first_text), example_of_draws);
    if (!b)
        fields.reject(second, fmt::format("'{}' is not a number, with or without a unit", second_text),
                      example_of_draws);
    if (!a || !b) return;
    // A logarithm has no unit.
    const auto other = kind_ != Kind::lognormal ? converted(*b, a->unit) : converted(*b, "");
    if (!other)
        return fields.reject(second,
                             fmt::format("the units of '{}' and '{}' differ in dimension", second_text, first_text),
                             example_of_draws);
    first_ = a->number;
    second_ = *other;
    unit_ = a->unit;
    whole_ = a->whole && (b->whole || kind_ == Kind::lognormal);
    if (kind_ == Kind::uniform && second_ < first_)
        fields.reject(second, fmt::format("'most' is below 'least', {}", first_text), "");
    if (kind_ != Kind::uniform && second_ < 0) fields.reject(second, fmt::format("'{}' is negative", second_text), "");
    if (kind_ == Kind::lognormal && first_ <= 0) fields.reject(first, "'median' must be above zero", "");
}

std::string Distribution::draw(std::uint64_t seed, const std::string& key) const {
    std::vector<std::uint32_t> words{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
    for (const char c : key) words.push_back(static_cast<unsigned char>(c));
    boost::random::seed_seq sequence(words.begin(), words.end());
    boost::random::mt19937_64 engine(sequence);
    const auto value = [&]() -> double {
        switch (kind_) {
            case Kind::uniform:
                if (first_ == second_) return first_;
                if (whole_)
                    return static_cast<double>(boost::random::uniform_int_distribution<std::int64_t>(
                        static_cast<std::int64_t>(first_), static_cast<std::int64_t>(second_))(engine));
                return boost::random::uniform_real_distribution<double>(first_, second_)(engine);
            case Kind::normal:
                return boost::random::normal_distribution<double>(first_, second_)(engine);
            default:
                return boost::random::lognormal_distribution<double>(std::log(first_), second_)(engine);
        }
    }();
    if (whole_) return fmt::format("{:.0f}", value);
    const std::string number = fmt::format("{:.6g}", value);
    return unit_.empty() ? number : number + " " + unit_;
}

}  // namespace syncline::config
