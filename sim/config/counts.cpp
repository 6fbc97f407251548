#include "sim/config/counts.hpp"

#include <fmt/format.h>

namespace syncline::config {

namespace {

void check(Fields& fields, const char* key, double count, const char* what, double most) {
    if (count > most)
        fields.reject(key, fmt::format("{:.3g} {} are too many", count, what),
                      fmt::format("the maximum is {:.0e}", most));
}

}  // namespace

void check_extents(Fields& fields, const char* key, const std::vector<std::int64_t>& values) {
    for (const std::int64_t value : values)
        if (value > largest_extent)
            fields.reject(key, fmt::format("'{}': {} is too large", key, value),
                          fmt::format("the maximum is {}", largest_extent));
}

void check_count(Fields& fields, const char* key, double count, const char* what) {
    check(fields, key, count, what, static_cast<double>(largest_count));
}

void check_macs(Fields& fields, const char* key, double macs) {
    check(fields, key, macs, "multiply-accumulates", static_cast<double>(largest_macs));
}

double product(const std::vector<std::int64_t>& values) {
    double result = 1;
    for (const std::int64_t value : values) result *= static_cast<double>(value);
    return result;
}

}  // namespace syncline::config
