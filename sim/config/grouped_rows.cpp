#include "sim/config/grouped_rows.hpp"

#include <fmt/format.h>

#include <set>
#include <tuple>

#include "sim/config/rate_rows.hpp"

namespace syncline::config {

namespace {

constexpr std::string_view grouped_header = "pass,groups,m,n,k,tflops";
constexpr std::size_t most_groups = 10'000;

}  // namespace

std::vector<MeasuredGroup> read_grouped_products(const std::string& path, const std::string& text) {
    std::vector<MeasuredGroup> rows;
    std::set<std::tuple<std::size_t, double, double, double, double>> seen;
    const RateTable table{grouped_header, "this is not the header of a table of experts' products",
                          fmt::format("it begins with `{}`", grouped_header)};
    each_rate_row(path, text, table, [&](const std::string& line, const FailAtLine& fail) {
        const auto cell = rate_cells<6>(line);
        const auto pass = cell ? rate_word((*cell)[0], product_passes) : std::nullopt;
        const auto groups = cell ? rate_number((*cell)[1]) : std::nullopt;
        const auto m = cell ? rate_number((*cell)[2]) : std::nullopt;
        const auto n = cell ? rate_number((*cell)[3]) : std::nullopt;
        const auto k = cell ? rate_number((*cell)[4]) : std::nullopt;
        const auto tflops = cell ? rate_number((*cell)[5], 1e-6) : std::nullopt;
        if (!pass || !groups || !m || !n || !k || !tflops)
            return fail("this is not a pass and five numbers",
                        "`forward,32,1024,4096,7168,1028.5`; passes are forward, inputs and weights");
        if (!seen.insert({*pass, *groups, *m, *n, *k}).second)
            return fail("these products are there already", "leave one of both rates");
        if (rows.size() == most_groups) return fail(fmt::format("the table has more than {} rows", most_groups), "");
        const MatrixProduct products{*m, *n, *k, *groups};
        rows.push_back({static_cast<GroupedPass>(*pass), products, products.flops() / (*tflops * 1e12)});
    });
    return rows;
}

}  // namespace syncline::config
