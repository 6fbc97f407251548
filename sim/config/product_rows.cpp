#include "sim/config/product_rows.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "sim/config/rate_rows.hpp"

namespace syncline::config {

namespace {

constexpr std::string_view product_header = "batch,m,n,k,tflops";
constexpr std::size_t most_products = 10'000;

/// Returns the numbers of a line; nothing if they are not exactly five, or one is not from 1e-6 to 1e9.
std::optional<std::array<double, 5>> numbers(std::string_view line) {
    std::array<double, 5> values{};
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::string_view field = line.substr(0, line.find(','));
        const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), values[i]);
        if (error != std::errc{} || end != field.data() + field.size()) return std::nullopt;
        if (!(values[i] >= 1e-6 && values[i] <= 1e9)) return std::nullopt;
        const bool last = field.size() == line.size();
        if (last != (i + 1 == values.size())) return std::nullopt;
        if (!last) line.remove_prefix(field.size() + 1);
    }
    return values;
}

}  // namespace

std::vector<MeasuredProduct> read_products(const std::string& path, const std::string& text) {
    std::vector<MeasuredProduct> rows;
    const RateTable table{product_header, "this is not the header of a table of matrix products",
                          fmt::format("it begins with `{}`", product_header)};
    each_rate_row(path, text, table, [&](const std::string& line, const FailAtLine& fail) {
        const auto row = numbers(line);
        if (!row)
            fail("this is not a row of five numbers from 1e-6 to 1e9",
                 "batch, m, n, k and Tflops: `1,4096,4096,1024,684.5`");
        else
            rows.push_back({{(*row)[1], (*row)[2], (*row)[3], (*row)[0]}, (*row)[4] * 1e12});
        if (rows.size() > most_products) fail(fmt::format("the table has more than {} rows", most_products), "");
    });
    return rows;
}

}  // namespace syncline::config
