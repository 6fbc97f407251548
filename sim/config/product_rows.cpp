#include "sim/config/product_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "sim/config/rate_rows.hpp"

namespace syncline::config {

namespace {

constexpr std::string_view product_header = "batch,m,n,k,tflops", factors_header = "factors,batch,m,n,k,tflops";
constexpr std::size_t most_products = 10'000;
constexpr double least_number = 1e-6;

bool names_factors(const std::string& text) {
    return text.rfind(factors_header, 0) == 0 || text.find("\n" + std::string(factors_header)) != std::string::npos;
}

/// Returns the row of five numbers; nothing if they are not exactly five, or one is not from 1e-6 to 1e9.
std::optional<MeasuredProduct> product_row(std::string_view line, Factors factors) {
    const auto cells = rate_cells<5>(line);
    if (!cells) return std::nullopt;
    std::array<double, 5> values{};
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto number = rate_number((*cells)[i], least_number);
        if (!number) return std::nullopt;
        values[i] = *number;
    }
    return MeasuredProduct{{values[1], values[2], values[3], values[0]}, values[4] * 1e12, factors};
}

}  // namespace

std::vector<MeasuredProduct> read_products(const std::string& path, const std::string& text) {
    std::vector<MeasuredProduct> rows;
    const bool named = names_factors(text);
    const RateTable table{named ? factors_header : product_header,
                          "this is not the header of a table of matrix products",
                          fmt::format("it begins with `{}`", product_header)};
    each_rate_row(path, text, table, [&](const std::string& line, const FailAtLine& fail) {
        std::string_view numbers = line;
        auto factors = std::optional(Factors::half);
        if (named) {
            const std::size_t comma = std::min(numbers.find(','), numbers.size());
            factors = rate_factors(numbers.substr(0, comma));
            numbers.remove_prefix(std::min(comma + 1, numbers.size()));
        }
        if (!factors) fail("these are no factors", "16-bit, fp8, mxfp8, nvfp4, tf32 or fp32");
        const auto row = product_row(numbers, *factors);
        if (!row)
            fail("this is not a row of five numbers from 1e-6 to 1e9",
                 named ? "factors, batch, m, n, k and Tflops: `fp8,1,4096,4096,1024,1024.5`"
                       : "batch, m, n, k and Tflops: `1,4096,4096,1024,684.5`");
        else
            rows.push_back(*row);
        if (rows.size() > most_products) fail(fmt::format("the table has more than {} rows", most_products), "");
    });
    return rows;
}

}  // namespace syncline::config
