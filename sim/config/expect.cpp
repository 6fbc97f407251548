#include "sim/config/expect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/did_you_mean.hpp"
#include "sim/plan/collective_plan.hpp"

namespace syncline::config {

namespace {

constexpr const char* expect_key = "expect";
constexpr double absent = std::numeric_limits<double>::quiet_NaN();
constexpr double largest_expected = 1e20;

/// Describes the keys that bound a number, and checks their combination.
void describe_bounds(Fields& fields, Expectation& expectation) {
    const auto number = [&](Key name) -> std::optional<double> {
        double value = absent;
        fields.number(name, value, 0, largest_expected);
        return std::isnan(value) ? std::nullopt : std::optional(value);
    };
    expectation.value = number({"value", "Expected value in the field's unit; requires `tolerance`."});
    bool percent = false;
    fields.number_or_percent({"tolerance", "Maximum deviation from `value`: a number, or a percentage of it (`2 %`)."},
                             expectation.tolerance, percent, 0, largest_expected);
    if (percent) expectation.tolerance *= expectation.value.value_or(0) / 100;
    expectation.least = number({"least", "Minimum, in place of `value`."});
    expectation.most = number({"most", "Maximum, in place of `value`."});

    const bool valued = fields.given("value"), bounded = fields.given("least") || fields.given("most");
    if (valued && bounded)
        fields.reject("value", "'value' excludes 'least' and 'most'", "remove one of the two");
    else if (!valued && fields.given("tolerance"))
        fields.reject("tolerance", "'tolerance' without 'value'", "remove it; 'least' and 'most' take no tolerance");
    else if (valued && !fields.given("tolerance"))
        fields.reject("value", "'value' without 'tolerance'", "write for example `tolerance: 2 %`");
    else if (!valued && !bounded)
        fields.reject("", "this item has no expected value", "write 'value' and 'tolerance', or 'least', or 'most'");
    if (expectation.least && expectation.most && *expectation.least > *expectation.most)
        fields.reject("most", fmt::format("'most' is below 'least', {}", *expectation.least), "");
}

void describe(Fields& fields, Expectation& expectation) {
    fields.text({"variant", "Name of the variant; `base` if the file has no variants.", true}, expectation.variant);
    fields.text(
        {"field", "Number of its result, named as in JSON: iteration_time_s, closed_form.iteration_time_s.", true},
        expectation.field);
    fields.text({"over", "Variant by whose field this one is divided."}, expectation.over);
    double bytes = absent;
    fields.quantity({"bytes", "Size to which the expectation applies, in a single exchange at several sizes."}, bytes,
                    Dimension::bytes, {.zero = true, .most = 1e15});
    if (!std::isnan(bytes)) expectation.bytes = static_cast<std::uint64_t>(bytes);
    if (!std::isnan(bytes) && bytes != std::floor(bytes))
        fields.reject("bytes", "'bytes' is not a whole number of bytes", "");
    describe_bounds(fields, expectation);
    fields.text({"source", "Source of the expectation: a paper, a formula.", true}, expectation.source);
}

const Variant* find(const Scenario& scenario, const std::string& name) {
    const auto found = std::find_if(scenario.variants.begin(), scenario.variants.end(),
                                    [&](const Variant& variant) { return variant.name == name; });
    return found == scenario.variants.end() ? nullptr : &*found;
}

/// An error in the key that names a variant or a size.
struct Mismatch {
    const char* key;
    std::string message, hint;
};

std::optional<Mismatch> missing_variant(const Scenario& scenario, const char* name, const std::string& variant) {
    if (find(scenario, variant)) return {};
    std::vector<std::string> names;
    for (const Variant& other : scenario.variants) names.push_back(other.name);
    return Mismatch{name, fmt::format("there is no variant '{}'", variant),
                    did_you_mean(variant, names, fmt::format("there are '{}'", fmt::join(names, "', '")))};
}

std::optional<Mismatch> missing_size(const Variant& variant, std::optional<std::uint64_t> bytes) {
    if (!variant.collective) {
        if (!bytes) return {};
        return Mismatch{"bytes", "a training has no sizes to choose from", "remove it"};
    }
    const CollectivePlan& plan = *variant.collective;
    const std::vector<std::uint64_t> sizes = plan.sweep.empty() ? std::vector{plan.bytes} : plan.sweep;
    const std::string range =
        fmt::format("its sizes are from {} to {} B", *std::min_element(sizes.begin(), sizes.end()),
                    *std::max_element(sizes.begin(), sizes.end()));
    if (!bytes && sizes.size() > 1)
        return Mismatch{"", fmt::format("variant '{}' has several sizes", variant.name), "choose one with 'bytes'"};
    if (bytes && std::find(sizes.begin(), sizes.end(), *bytes) == sizes.end())
        return Mismatch{"bytes", fmt::format("{} B is not a size of variant '{}'", *bytes, variant.name), range};
    return {};
}

std::optional<Mismatch> mismatch(const Scenario& scenario, const Expectation& expectation) {
    if (const auto missing = missing_variant(scenario, "variant", expectation.variant)) return missing;
    if (!expectation.over.empty())
        if (const auto missing = missing_variant(scenario, "over", expectation.over)) return missing;
    if (const auto missing = missing_size(*find(scenario, expectation.variant), expectation.bytes)) return missing;
    return expectation.over.empty() ? std::nullopt : missing_size(*find(scenario, expectation.over), expectation.bytes);
}

}  // namespace

void describe_expectations(Fields& fields, std::vector<Expectation>& expectations) {
    fields.each(
        {expect_key, "Expected results, each with its source; `syncline run --check` compares results with them."},
        [&](Fields& item) { describe(item, expectations.emplace_back()); });
}

void read_expectations(Assembly& assembly, const Node& list, bool changed, Scenario& scenario) {
    if (list.mark.source == nullptr) return;
    const Node document = mapping_at(list.mark, {{expect_key, list.mark, list}});
    std::vector<Expectation> all;
    assembly.read(document, "scenario", [&](Fields& fields) { describe_expectations(fields, all); });
    // A scenario with errors may lack variants and sizes that are intended.
    if (!assembly.sound()) return;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Node& item = list.items[i];
        const auto wrong = mismatch(scenario, all[i]);
        if (wrong && !changed) {
            const Node* place = item.find(wrong->key);
            assembly.report(place ? place->mark : item.mark, wrong->message, wrong->hint);
        } else if (wrong) {
            ++scenario.expectations_left_out;
        } else {
            all[i].field_at = locate(item.find("field")->mark);
            scenario.expectations.push_back(std::move(all[i]));
        }
    }
}

}  // namespace syncline::config
