#include "sim/output/expected_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "sim/base/number.hpp"
#include "sim/output/cells.hpp"
#include "sim/output/result_fields.hpp"
#include "sim/output/writers.hpp"

namespace syncline {

using namespace text;

namespace {

/// Returns the fields that a variant can be expected to have: its own and those of its point of size `bytes`, or of its
/// first point if no size is given.
Json fields_at(Json result, std::optional<std::uint64_t> bytes) {
    const auto points = result.find("points");
    if (points == result.end()) return result;
    const Json all = *points;
    result.erase("points");
    for (const Json& point : all)
        if (!bytes || point.at("bytes") == *bytes) {
            result.update(point);
            break;
        }
    return result;
}

/// Adds a null for each field that only some results have, and this one has not.
template <class T>
Json with_absent(Json result) {
    for (const ResultField<T>& field : fields_of<T>()) {
        if (!field.in_json || !field.if_given) continue;
        std::string path = "/" + field.name;
        std::ranges::replace(path, '.', '/');
        const Json::json_pointer place(path);
        if (!result.contains(place)) result[place] = nullptr;
    }
    return result;
}

/// Returns the value at `path`: null if the path leads through a null or beyond the end of a list, empty if results
/// have no such field.
std::optional<Json> at(const Json& fields, std::string_view path) {
    const std::size_t dot = path.find('.');
    const std::string part{path.substr(0, dot)};
    Json value;
    if (fields.is_object()) {
        const auto found = fields.find(part);
        if (found == fields.end()) return {};
        value = *found;
    } else if (fields.is_array()) {
        const auto place = number_in<std::size_t>(part);
        if (!place) return {};
        if (*place < fields.size()) value = fields[*place];
    } else if (!fields.is_null()) {
        return {};
    }
    if (dot == std::string_view::npos || value.is_null()) return value;
    return at(value, path.substr(dot + 1));
}

/// Appends the paths of all fields that are numbers, or null in place of a number.
void list_numbers(const Json& fields, const std::string& before, std::vector<std::string>& paths) {
    for (const auto& [key, value] : fields.items()) {
        if (value.is_object()) list_numbers(value, before + key + ".", paths);
        if (value.is_number() || value.is_null()) paths.push_back(before + key);
    }
}

/// Returns an error if the field of `expectation` does not exist or is not a number.
std::optional<Diagnostic> wrong_field(const Json& fields, const Expectation& expectation) {
    const std::optional<Json> value = at(fields, expectation.field);
    if (value && (value->is_number() || value->is_null())) return {};
    std::vector<std::string> paths;
    list_numbers(fields, "", paths);
    const auto meant = closest(expectation.field, paths);
    return Diagnostic{expectation.field_at,
                      value ? fmt::format("'{}' is not a number", expectation.field)
                            : fmt::format("results have no field '{}'", expectation.field),
                      meant ? fmt::format("did you mean '{}'?", *meant)
                            : fmt::format("the numeric fields are {}", fmt::join(paths, ", "))};
}

std::optional<double> number_at(const Json& fields, const Expectation& expectation) {
    if (const auto wrong = wrong_field(fields, expectation)) throw ConfigError({*wrong});
    const Json value = *at(fields, expectation.field);
    return value.is_number() && std::isfinite(value.get<double>()) ? std::optional(value.get<double>()) : std::nullopt;
}

void require(const std::vector<Expectation>& expectations, const Json& fields) {
    std::vector<Diagnostic> errors;
    for (const Expectation& expectation : expectations)
        if (auto wrong = wrong_field(fields, expectation)) errors.push_back(std::move(*wrong));
    if (!errors.empty()) throw ConfigError(std::move(errors));
}

bool as_expected(const Expectation& expectation, double found) {
    if (expectation.value)
        return *expectation.value - expectation.tolerance <= found &&
               found <= *expectation.value + expectation.tolerance;
    return expectation.least.value_or(found) <= found && found <= expectation.most.value_or(found);
}

template <class AnyReport>
std::vector<Check> compare(const std::vector<Expectation>& expectations, const AnyReport& report) {
    Json results = object_of(report).at("results");
    if constexpr (std::is_same_v<AnyReport, Report>)
        for (Json& result : results) result = with_absent<Result>(std::move(result));
    const auto value_of = [&](const std::string& variant, const Expectation& expectation) {
        const auto result =
            std::find_if(results.begin(), results.end(), [&](const Json& one) { return one.at("variant") == variant; });
        return number_at(fields_at(*result, expectation.bytes), expectation);
    };
    std::vector<Check> checks;
    for (const Expectation& expectation : expectations) {
        Check one{expectation, value_of(expectation.variant, expectation)};
        if (!expectation.over.empty()) {
            const std::optional<double> divisor = value_of(expectation.over, expectation);
            one.found = one.found && divisor && *divisor != 0 ? std::optional(*one.found / *divisor) : std::nullopt;
        }
        one.ok = one.found && as_expected(expectation, *one.found);
        checks.push_back(std::move(one));
    }
    return checks;
}

Json object(const Check& check) {
    const Expectation& expectation = check.expectation;
    return {{"variant", expectation.variant},
            {"field", expectation.field},
            {"over", text_or_null(expectation.over)},
            {"bytes", expectation.bytes ? Json(*expectation.bytes) : Json()},
            {"value", number_or_null(expectation.value)},
            {"tolerance", expectation.value ? Json(expectation.tolerance) : Json()},
            {"least", number_or_null(expectation.least)},
            {"most", number_or_null(expectation.most)},
            {"found", number_or_null(check.found)},
            {"ok", check.ok},
            {"source", expectation.source}};
}

template <class AnyReport>
std::string beside(const AnyReport& report, const std::vector<Check>& checks) {
    Json json = object_of(report);
    Json list = Json::array();
    for (const Check& check : checks) list.push_back(object(check));
    json["checks"] = std::move(list);
    return dumped(json);
}

std::string what(const Expectation& expectation) {
    const std::string over = expectation.over.empty() ? "" : " / " + expectation.over;
    const std::string size = expectation.bytes ? fmt::format(" at {}", bytes(*expectation.bytes)) : "";
    return fmt::format("{}{}: {}{}", expectation.variant, over, expectation.field, size);
}

std::string bounds(const Expectation& expectation) {
    if (expectation.value) return fmt::format("{:.5g} ± {:.2g}", *expectation.value, expectation.tolerance);
    if (!expectation.most) return fmt::format("at least {:.5g}", *expectation.least);
    if (!expectation.least) return fmt::format("at most {:.5g}", *expectation.most);
    return fmt::format("{:.5g} to {:.5g}", *expectation.least, *expectation.most);
}

}  // namespace

void require_fields(const std::vector<Expectation>& expectations, bool exchanges_alone) {
    if (!exchanges_alone) return require_result_fields(expectations, false);
    SweepResult exchange;
    exchange.points.emplace_back();
    require(expectations, fields_at(object_of(exchange), {}));
}

void require_result_fields(const std::vector<Expectation>& expectations, bool exchanges_alone) {
    require(expectations, exchanges_alone ? object_of(CollectiveResult{}) : with_absent<Result>(object_of(Result{})));
}

std::optional<double> number_of(const Json& result, const std::string& field) {
    Expectation wanted;
    wanted.field = field;
    return number_at(result, wanted);
}

std::vector<Check> check(const std::vector<Expectation>& expectations, const Report& report) {
    return compare(expectations, report);
}
std::vector<Check> check(const std::vector<Expectation>& expectations, const SweepReport& report) {
    return compare(expectations, report);
}

std::string to_json(const Report& report, const std::vector<Check>& checks) {
    return beside(report, checks);
}
std::string to_json(const SweepReport& report, const std::vector<Check>& checks) {
    return beside(report, checks);
}

std::string to_csv(const std::vector<Check>& checks) {
    std::string text =
        line({"variant", "field", "over", "bytes", "value", "tolerance", "least", "most", "found", "ok", "source"});
    for (const Check& check : checks) {
        const Expectation& expectation = check.expectation;
        text += line({quoted(expectation.variant), quoted(expectation.field), quoted(expectation.over),
                      expectation.bytes ? field(*expectation.bytes) : "", field(expectation.value),
                      expectation.value ? field(expectation.tolerance) : "", field(expectation.least),
                      field(expectation.most), field(check.found), check.ok ? "true" : "false",
                      quoted(expectation.source)});
    }
    return text;
}

std::string to_table(const std::vector<Check>& checks, const TableLayout& layout) {
    std::vector<Row> rows{{"expectation", "expected", "found", "", "source"}};
    for (const Check& check : checks)
        rows.push_back({what(check.expectation), bounds(check.expectation),
                        check.found ? fmt::format("{:.5g}", *check.found) : "none", check.ok ? "ok" : "FAILED",
                        check.expectation.source});
    return aligned(rows, 2, layout);
}

}  // namespace syncline
