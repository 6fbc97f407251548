#include "sim/config/pointwise_rows.hpp"

#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "sim/config/rate_rows.hpp"

namespace syncline::config {

std::vector<PointwiseTable::Row> read_pointwise(const std::string& path, const std::string& text) {
    constexpr double above_zero = std::numeric_limits<double>::denorm_min(), most_bytes = 1e15, most_s = 3600;
    std::vector<PointwiseTable::Row> rows;
    std::set<std::pair<Pointwise, double>> seen;
    const RateTable table{"kind,bytes,seconds", "this is not the header of a table of memory-bound kernels",
                          "it begins with its header"};
    each_rate_row(path, text, table, [&](const std::string& line, const FailAtLine& fail) {
        const auto kind = pointwise_kind(std::string_view(line).substr(0, line.find(',')));
        if (!kind) return fail("this is no kind of memory-bound kernels", pointwise_words());
        const auto cell = rate_cells<3>(line);
        const auto bytes = cell ? rate_number((*cell)[1], above_zero, most_bytes) : std::nullopt;
        const auto seconds = cell ? rate_number((*cell)[2], above_zero, most_s) : std::nullopt;
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
