#include "sim/config/kernel_rates.hpp"

#include <stdexcept>

#include "sim/base/diagnostics.hpp"
#include "sim/config/bandwidths.hpp"
#include "sim/config/product_rows.hpp"

namespace syncline::config {

void describe(Fields& fields, KernelRates& rates) {
    const QuantityRange speeds{.least = 1, .most = 1e24};
    fields.quantity({"product_rate",
                     "Rate of large matrix products, which fill all multiprocessors: `256 Tflops`. Smaller ones are "
                     "computed in tiles and waves.",
                     true},
                    rates.product_flops_per_s, Dimension::flops, speeds);
    fields.quantity({"fp8_product_rate",
                     "The same for products of 8-bit factors: `1382 Tflops`. Needed by `precision: {products: fp8}`."},
                    rates.narrow_flops_per_s, Dimension::flops, {.word = "none", .least = 1, .most = 1e24});
    fields.quantity({"attention_rate",
                     "Rate of attention that is fused into one kernel (`attention: flash`): `180 Tflops`. Default: "
                     "`product_rate`."},
                    rates.attention_flops_per_s, Dimension::flops, speeds);
    if (!fields.given("attention_rate")) rates.attention_flops_per_s = rates.product_flops_per_s;
    fields.quantity({"memory_bandwidth", "Measured bandwidth of the device's memory: `1.7 TBps`.", true},
                    rates.memory_Bps, Dimension::bandwidth, bandwidths);
    fields.quantity({"fixed_cost", "Fixed cost of each kernel on the device: `4.5 us`."}, rates.fixed_s,
                    Dimension::seconds, {.word = "none", .most = 3600});
    fields.quantity(
        {"host_launch",
         "Time of the host to issue a kernel in an eager framework, with Python and dispatch: `23 us`. A layer's pass "
         "takes at least that for each of its kernels, or that longer, as `training.launches` says."},
        rates.host_launch_s, Dimension::seconds, {.word = "none", .most = 3600});
    fields.text({"source", "Sources of the rates: who measured them, and how; or that they are chosen.", true},
                rates.source);
    fields.file({"products",
                 "File with a grid of measured matrix products in the precision of `flops`: `batch,m,n,k,tflops`. "
                 "Between its points the logarithm of the time is linear in the logarithms of the extents; beyond them "
                 "tiles and waves extend it. Default: tiles and waves alone."},
                [&](const std::string& path, const std::string& text, const Fields::Beside&) {
                    if (!fields.sound()) return;
                    const std::vector<MeasuredProduct> rows = read_products(path, text);
                    try {
                        // The table measured 16-bit products.
                        constexpr double element_bytes = 2;
                        rates.table = std::make_shared<const ProductTable>(rows, [&](const MatrixProduct& product) {
                            return rates.tiled_s(product, product.elements() * element_bytes);
                        });
                    } catch (const std::invalid_argument& error) {
                        throw ConfigError({{{path, 1, 1, ""},
                                            error.what(),
                                            "a table has one row for each combination of its m, n, k and batch"}});
                    }
                });
}

}  // namespace syncline::config
