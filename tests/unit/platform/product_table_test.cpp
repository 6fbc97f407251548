#include "sim/platform/product_table.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/rate_tables.hpp"
#include "sim/platform/kernel_rates.hpp"
#include "tests/catch.hpp"
#include "tests/unit/devices.hpp"

// Tables of measured matrix products: the grid's points, interpolation by hand, monotony, and rows that were left out.

using namespace syncline;
using namespace syncline::test;

namespace {

double measured_s(const MeasuredProduct& row) {
    return row.product.flops() / row.flops_per_s;
}

/// Returns a row that takes this time.
MeasuredProduct taking(double seconds, double m, double n, double k, double batch = 1) {
    const MatrixProduct product{m, n, k, batch};
    return {product, product.flops() / seconds};
}

/// Returns the grid of two extents, with the times 1, 2, 4, … 128 s in proportion to the product.
std::vector<MeasuredProduct> proportional() {
    std::vector<MeasuredProduct> rows;
    for (const double m : {64.0, 128.0})
        for (const double n : {64.0, 128.0})
            for (const double k : {64.0, 128.0}) rows.push_back(taking(m * n * k / 262144, m, n, k));
    return rows;
}

double one(const MatrixProduct&) {
    return 1;
}

std::vector<MeasuredProduct> shipped_rows(const std::string& name, Factors factors = Factors::half) {
    const std::string path = SYNCLINE_SOURCE_DIR "/platforms/devices/" + name + "-gemm.csv";
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    std::vector<MeasuredProduct> rows;
    for (const MeasuredProduct& row : config::read_products(path, text.str()))
        if (row.factors == factors) rows.push_back(row);
    return rows;
}

/// Returns the table of these rows with the rates of a shipped device beyond them.
ProductTable table_of(const std::vector<MeasuredProduct>& rows, const Device& device) {
    return ProductTable(
        rows, [&](const MatrixProduct& product) { return device.kernels->tiled_s(product, product.elements() * 2); });
}

std::vector<double*> extents(MatrixProduct& product) {
    return {&product.m, &product.n, &product.k, &product.batch};
}

struct Errors {
    double median, worst;
};

Errors errors_of(std::vector<double> ratios) {
    REQUIRE_FALSE(ratios.empty());
    for (double& ratio : ratios) ratio = std::abs(ratio - 1);
    std::sort(ratios.begin(), ratios.end());
    return {ratios[ratios.size() / 2], ratios.back()};
}

}  // namespace

TEST_CASE("products: between points the logarithm of the time is linear in those of the extents", "[memory]") {
    // 3 s more or less in one corner changes the middle by a factor of its eighth root.
    std::vector<MeasuredProduct> rows = proportional();
    CHECK(ProductTable(rows, one).seconds({64, 64, 64}) == Approx(1));
    CHECK(ProductTable(rows, one).seconds({128, 64, 128}) == Approx(4));
    const double half = std::sqrt(64.0 * 128);
    CHECK(ProductTable(rows, one).seconds({half, 64, 64}) == Approx(std::sqrt(2)));
    CHECK(ProductTable(rows, one).seconds({half, half, half}) == Approx(std::pow(2, 1.5)));
    rows.back() = taking(32, 128, 128, 128);  // four times as long
    CHECK(ProductTable(rows, one).seconds({half, half, half}) == Approx(std::pow(2, 1.5) * std::pow(4, 1.0 / 8)));
    CHECK(ProductTable(rows, one).seconds({96, 64, 64}) == Approx(1.5));
}

TEST_CASE("products: outside of the grid the nearest point's time grows as the modelled time", "[memory]") {
    // Modelled in proportion to k alone: 4 s at (128, 128, 64), so 16 s at k = 256, and no more for a larger m.
    const ProductTable table(proportional(), [](const MatrixProduct& product) { return product.k; });
    CHECK(table.seconds({128, 128, 512}) == Approx(8 * 4));
    CHECK(table.seconds({128, 128, 16}) == Approx(4.0 / 4));
    CHECK(table.seconds({512, 128, 64}) == Approx(4));
    CHECK(table.seconds({64, 64, 64, 16}) == Approx(1));
    // Beyond the modelled range time is proportional, and below it nothing is saved.
    const double most = 1 << 18;
    CHECK(table.seconds({4 * most, 64, 64}) == Approx(4 * table.seconds({most, 64, 64})));
    CHECK(table.seconds({1, 1, 1}) == table.seconds({16, 16, 16}));
    CHECK(table.seconds({64, 64, 64, 1 << 14}) == Approx(4 * table.seconds({64, 64, 64, 1 << 12})));
}

TEST_CASE("products: a measured time that is longer than that of a larger product becomes the latter", "[memory]") {
    std::vector<MeasuredProduct> rows = proportional();
    rows[0] = taking(5, 64, 64, 64);
    const ProductTable table(rows, one);
    CHECK(table.seconds({64, 64, 64}) == Approx(2));
    CHECK(table.smoothed().points == 1);
    CHECK(table.smoothed().most == Approx(2.5));
    CHECK(ProductTable(proportional(), one).smoothed().points == 0);
}

TEST_CASE("products: rows that are no grid are refused", "[memory]") {
    std::vector<MeasuredProduct> rows = proportional();
    rows.pop_back();
    CHECK_THROWS_WITH(ProductTable(rows, one), "the product m = 128, n = 128, k = 128, batch 1 is missing");
    rows = proportional();
    rows.push_back(rows[1]);
    CHECK_THROWS_WITH(ProductTable(rows, one), "the product m = 64, n = 64, k = 128, batch 1 is listed twice");
    CHECK_THROWS_WITH(ProductTable({taking(1, 1, 1, 1)}, one), "there are fewer than two values of m");
    CHECK_THROWS_AS(ProductTable({}, one), std::invalid_argument);
}

TEST_CASE("products: shipped tables have their measured times, except those of a larger product that is faster",
          "[memory]") {
    const std::vector<Factors> ada{Factors::half, Factors::fp8},
        blackwell{Factors::half, Factors::fp8, Factors::mxfp8, Factors::nvfp4};
    const std::vector<std::pair<const char*, std::vector<Factors>>> shipped{
        {"h100-sxm", ada},   {"h200", ada},        {"l40s", ada},       {"b200", blackwell},
        {"b300", blackwell}, {"gb200", blackwell}, {"gb300", blackwell}};
    for (const auto& [name, formats] : shipped)
        for (const Factors factors : formats) {
            const std::vector<MeasuredProduct> rows = shipped_rows(name, factors);
            CAPTURE(name, word_of(factors));
            REQUIRE(rows.size() == 288);
            Device device = shipped_device(name);
            REQUIRE(device.kernels);
            device.kernels->sustained_flops_per_s = 0;
            const ProductTable& table =
                factors == Factors::half ? *device.kernels->table : *device.kernels->others.at(factors).table;
            std::size_t changed = 0;
            double most = 1;
            for (const MeasuredProduct& row : rows) {
                double least_s = measured_s(row);
                for (const MeasuredProduct& other : rows)
                    if (other.product.m >= row.product.m && other.product.n >= row.product.n &&
                        other.product.k >= row.product.k && other.product.batch >= row.product.batch)
                        least_s = std::min(least_s, measured_s(other));
                changed += least_s < measured_s(row);
                most = std::max(most, measured_s(row) / least_s);
                CHECK(device.kernels->product_s(row.product, 0, factors) == Approx(least_s).epsilon(1e-9));
            }
            CHECK(table.smoothed().points == changed);
            CHECK(table.smoothed().most == Approx(most));
            UNSCOPED_INFO(changed << " smoothed, at most by " << most);
            CHECK(changed < 43);  // 15 %
            // One small product on a GB300, of 128 x 2048 x 512, took three times as long as larger ones.
            CHECK(most < (factors == Factors::fp8 && std::string(name) == "gb300" ? 3 : 1.5));
        }
}

TEST_CASE("products: no larger product takes less time", "[memory]") {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> exponent(0, 20), growth(0, 3);
    std::uniform_int_distribution<std::size_t> which(0, 3);
    for (const char* name : {"h100-sxm", "b200", "gb200", "a100-sxm4-80gb", "mi300x"}) {
        CAPTURE(name);
        const Device device = shipped_device(name);
        const KernelRates& rates = *device.kernels;
        for (int trial = 0; trial < 20000; ++trial) {
            MatrixProduct small{std::exp2(exponent(random)), std::exp2(exponent(random)), std::exp2(exponent(random)),
                                std::exp2(exponent(random) / 2)};
            if (trial % 2 == 0)
                for (double* extent : extents(small)) *extent = std::ceil(*extent);
            MatrixProduct large = small;
            *extents(large)[which(random)] *= std::exp2(growth(random));
            const double less_s = rates.product_s(small, 2 * small.elements());
            const double more_s = rates.product_s(large, 2 * large.elements());
            if (more_s < less_s * (1 - 1e-12)) {
                CAPTURE(small.m, small.n, small.k, small.batch, large.m, large.n, large.k, large.batch);
                CHECK(more_s >= less_s);
            }
        }
    }
}

TEST_CASE("products: rows of a size that is left out are predicted from the sizes around it", "[memory]") {
    for (const char* name : {"h100-sxm", "b200"}) {
        const std::vector<MeasuredProduct> rows = shipped_rows(name);
        const Device device = shipped_device(name);
        std::vector<double> inside, above, below;
        for (std::size_t d = 0; d < 3; ++d) {
            const double first = d == 0 ? 128 : 512, last = d == 0 ? 32768 : 16384;
            for (const double left_out : {first, 1024.0, 2048.0, 4096.0, 8192.0, last}) {
                std::vector<MeasuredProduct> kept, predicted;
                for (MeasuredProduct row : rows)
                    (*extents(row.product)[d] == left_out ? predicted : kept).push_back(row);
                const ProductTable table = table_of(kept, device);
                std::vector<double>& ratios = left_out == first ? below : left_out == last ? above : inside;
                for (const MeasuredProduct& row : predicted)
                    ratios.push_back(table.seconds(row.product) / measured_s(row));
            }
        }
        const Errors between = errors_of(inside), larger = errors_of(above), smaller = errors_of(below);
        INFO(name << ": " << between.median << " and " << between.worst << " inside, " << larger.median << " and "
                  << larger.worst << " above, " << smaller.median << " and " << smaller.worst << " below");
        // The README states these errors.
        CHECK(between.median < 0.06);
        CHECK(between.worst < 0.35);
        CHECK(larger.median < 0.08);
        CHECK(smaller.median < 0.15);
    }
}
