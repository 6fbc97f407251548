#include "sim/config/pointwise_rows.hpp"

#include <charconv>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "sim/config/rate_rows.hpp"

namespace syncline::config {

namespace {

/// Returns a number above 0 that is at most `most`.
std::optional<double> number(std::string_view cell, double most) {
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc{} || end != cell.data() + cell.size() || !(value > 0 && value <= most)) return std::nullopt;
    return value;
}

}  // namespace

std::vector<PointwiseTable::Row> read_pointwise(const std::string& path, const std::string& text) {
    constexpr double most_bytes = 1e15, most_s = 3600;
    std::vector<PointwiseTable::Row> rows;
    std::set<std::pair<Pointwise, double>> seen;
    const RateTable table{"kind,bytes,seconds", "this is not the header of a table of memory-bound kernels",
                          "it begins with its header"};
    each_rate_row(path, text, table, [&](const std::string& line, const FailAtLine& fail) {
        const std::string_view all = line;
        const std::size_t first = all.find(','), second = first == all.npos ? first : all.find(',', first + 1);
        const auto kind = pointwise_kind(all.substr(0, first));
        if (!kind) {
            fail("this is no kind of memory-bound kernels", pointwise_words());
            return;
        }
        const auto bytes =
            second == all.npos ? std::nullopt : number(all.substr(first + 1, second - first - 1), most_bytes);
        const auto seconds = second == all.npos ? std::nullopt : number(all.substr(second + 1), most_s);
        if (!bytes || !seconds)
            fail("this is not a kind, a number of bytes and a number of seconds, both above 0",
                 "`addition,2.0e8,6e-5`");
        else if (!seen.insert({*kind, *bytes}).second)
            fail("this size of this kind is there already", "leave one of both times");
        else
            rows.push_back({*kind, *bytes, *seconds});
    });
    return rows;
}

}  // namespace syncline::config
