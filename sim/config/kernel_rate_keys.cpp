
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/config/platform_parts.hpp"
#include "sim/config/rate_tables.hpp"

namespace syncline::config {

namespace {

void describe_attention(Fields& fields, KernelRates& rates) {
    fields.quantity({"attention_rate",
                     "Rate of fused attention (`attention: flash`), in place of the file `attention`: `180 Tflops`. "
                     "Default: that file, or `product_rate`."},
                    rates.attention_flops_per_s, Dimension::flops, {.least = 1, .most = 1e24});
    const bool one_rate = fields.given("attention_rate");
    if (!one_rate) rates.attention_flops_per_s = rates.product_flops_per_s;
    std::string name;
    fields.text(
        {"attention_kernel",
         "Fused attention kernel of the software, by its name in the file `attention`, which needs it: `cudnn`."},
        name);
    fields.file({"attention",
                 "File with measured rates of fused attention: `kernel,pass,mask,head_size,sequence,tflops`; pass "
                 "`forward` or `backward`, mask `causal` or `none`."},
                [&](const std::string& path, const std::string& text, const Fields::Beside&) {
                    if (!fields.sound()) return;
                    const AttentionRows rows = read_attention(path, text);
                    const auto kernel = rows.find(name);
                    if (kernel == rows.end()) {
                        std::string names;
                        for (const auto& known : rows) names += (names.empty() ? "" : ", ") + known.first;
                        if (fields.given("attention_kernel"))
                            fields.reject("attention_kernel", fmt::format("{} has no kernel '{}'", path, name), names);
                        else
                            fields.reject("attention",
                                          "'attention_kernel' does not say which kernel of this file is used",
                                          fmt::format("write `attention_kernel:` with one of {}", names));
                        return;
                    }
                    for (const auto& [known, points] : rows) {
                        try {
                            rates.attention_kernels[known] = std::make_shared<const AttentionTable>(points);
                        } catch (const std::invalid_argument& error) {
                            throw ConfigError({{{path, 1, 1, ""},
                                                fmt::format("{}: {}", known, error.what()),
                                                "a kernel has rows of both passes"}});
                        }
                    }
                    if (one_rate)
                        rates.attention_kernels.clear();
                    else
                        rates.attention = rates.attention_kernels.at(name);
                });
    if (fields.given("attention_kernel") && !fields.given("attention"))
        fields.reject("attention_kernel", "there is no file that has the rates of this kernel",
                      "give `attention`, too");
}

/// Adds the tables of the factors that the rows have, and the rates of those that have none.
void add_tables(const std::string& path, const std::vector<MeasuredProduct>& all, KernelRates& rates) {
    std::map<Factors, std::vector<MeasuredProduct>> measured;
    for (const MeasuredProduct& row : all) measured[row.factors].push_back(row);
    for (const auto& [factors, rows] : measured) {
        const bool half = factors == Factors::half;
        double& rate = half ? rates.product_flops_per_s : rates.others[factors].flops_per_s;
        if (rate == 0)
            for (const MeasuredProduct& row : rows) rate = std::max(rate, row.flops_per_s);
        try {
            auto table =
                std::make_shared<const ProductTable>(rows, [rates, kind = factors](const MatrixProduct& product) {
                    // What is read and written before and after a cast has 2 bytes in all of them.
                    constexpr double element_bytes = 2;
                    return rates.tiled_s(product, product.elements() * element_bytes, kind);
                });
            (half ? rates.table : rates.others[factors].table) = std::move(table);
        } catch (const std::invalid_argument& error) {
            throw ConfigError({{{path, 1, 1, ""},
                                measured.size() > 1 || !half ? fmt::format("{}: {}", word_of(factors), error.what())
                                                             : std::string(error.what()),
                                "a table has one row for each combination of its m, n, k and batch, and of each kind "
                                "of factors"}});
        }
    }
}

void describe_convolutions(Fields& fields, KernelRates& rates) {
    fields.file({"convolutions",
                 "File with measured convolutions: `factors,pass,kernel,filters,pixels,channels,tflops`; factors "
                 "`fp32`, `tf32`, `16-bit`, pass `forward`, `inputs`, `weights`. Default: rates of GEMMs."},
                [&](const std::string& path, const std::string& text, const Fields::Beside&) {
                    if (!fields.sound()) return;
                    const std::vector<ConvolutionTable::Row> rows = read_convolutions(path, text);
                    try {
                        rates.convolutions = std::make_shared<const ConvolutionTable>(
                            rows, [rates](const MatrixProduct& product, Factors factors) {
                                const double known = rates.product_rate(factors);
                                const double ratio = known > 0 ? rates.product_flops_per_s / known : 1;
                                const double bytes = product.elements() * (factors == Factors::half ? 2 : 4);
                                return rates.fixed_s + std::max((rates.tiled_s(product, 0) - rates.fixed_s) * ratio,
                                                                bytes / rates.memory_Bps);
                            });
                    } catch (const std::invalid_argument& error) {
                        throw ConfigError({{{path, 1, 1, ""},
                                            error.what(),
                                            "each of the factors has the same rows for each pass and kernel"}});
                    }
                });
    fields.file({"image_kernels",
                 "File with measured rates of kernels beside convolutions: `kernel,channels,size,GBps`; kernel "
                 "`batch-norm`, `max-pool`, …, channels `first` or `last`. Default: `memory_bandwidth`."},
                [&](const std::string& path, const std::string& text, const Fields::Beside&) {
                    if (!fields.sound()) return;
                    rates.images = std::make_shared<const ImageKernelRates>(read_image_kernels(path, text));
                });
}

/// Describes experts' products; the rates of other products must be known.
void describe_grouped(Fields& fields, KernelRates& rates) {
    fields.quantity({"group_launch",
                     "Host time to launch one of a rank's expert GEMMs in a loop of compiled code: `9 us`; `none`: one "
                     "grouped GEMM."},
                    rates.group_launch_s, Dimension::seconds, {.word = "none", .most = 3600});
    fields.file({"grouped_products",
                 "File with measured grouped GEMMs of experts, 16-bit: `pass,groups,m,n,k,tflops`; pass `forward`, "
                 "`inputs` or `weights`. Default: a batched GEMM whose weights come from memory."},
                [&](const std::string& path, const std::string& text, const Fields::Beside&) {
                    if (!fields.sound()) return;
                    rates.grouped = std::make_shared<const GroupedProducts>(
                        read_grouped_products(path, text), [rates](GroupedPass pass, const MatrixProduct& products) {
                            constexpr double element = 2, sum = 2 * 4;
                            const bool weights = pass == GroupedPass::weights;
                            const double results = products.m * products.n * products.batch;
                            const double bytes =
                                products.elements() * element + (weights ? results * (sum - element) : 0);
                            return rates.grouped_rule_s(products, bytes, Factors::half, weights);
                        });
                });
}

}  // namespace

void describe(Fields& fields, KernelRates& rates) {
    const QuantityRange speeds{.least = 1, .most = 1e24};
    fields.quantity({"product_rate",
                     "Rate of large 16-bit GEMMs, which fill all multiprocessors: `256 Tflops`. Smaller ones are "
                     "computed in tiles and waves.",
                     true},
                    rates.product_flops_per_s, Dimension::flops, speeds);
    const QuantityRange optional{.word = "none", .least = 1, .most = 1e24};
    fields.quantity({rate_key(Factors::fp8),
                     "Rate of large 8-bit GEMMs: `1382 Tflops`. `precision: {products: fp8}` needs it, or rows in "
                     "`products`, whose highest rate is the default."},
                    rates.others[Factors::fp8].flops_per_s, Dimension::flops, optional);
    fields.quantity(
        {rate_key(Factors::mxfp8), "Rate of large GEMMs with `precision: {products: mxfp8}`: `2968 Tflops`."},
        rates.others[Factors::mxfp8].flops_per_s, Dimension::flops, optional);
    fields.quantity(
        {rate_key(Factors::nvfp4), "Rate of large GEMMs with `precision: {products: nvfp4}`: `4789 Tflops`."},
        rates.others[Factors::nvfp4].flops_per_s, Dimension::flops, optional);
    fields.quantity({"sustained_product_rate",
                     "Maximum rate of 16-bit GEMMs in a row, where the device reaches its power limit: `697 Tflops`; "
                     "tables are measured in bursts. Default: no limit."},
                    rates.sustained_flops_per_s, Dimension::flops, optional);
    fields.quantity({"tf32_product_rate",
                     "Rate of large 32-bit GEMMs on matrix units (TF32): `409 Tflops`. Without it `fp32_product_rate` "
                     "applies; without both they count as 16-bit, and a note says so."},
                    rates.others[Factors::tf32].flops_per_s, Dimension::flops, optional);
    fields.quantity({"tf32_weights_rate",
                     "Rate of large TF32 GEMMs of weight gradients, whose factors are both transposed: `262 Tflops`. "
                     "Default: `tf32_product_rate`."},
                    rates.tf32_weights_flops_per_s, Dimension::flops, {.least = 1, .most = 1e24});
    fields.quantity({"fp32_attention_rate",
                     "Rate of fused 32-bit attention, with TF32 and without: `20 Tflops`. Default: the 16-bit rate, "
                     "scaled like that of GEMMs."},
                    rates.fp32_attention_flops_per_s, Dimension::flops, {.least = 1, .most = 1e24});
    fields.quantity({"fp32_product_rate", "Rate of large 32-bit GEMMs without matrix units (FP32): `50 Tflops`."},
                    rates.others[Factors::fp32].flops_per_s, Dimension::flops, optional);
    describe_attention(fields, rates);
    fields.quantity({"memory_bandwidth", "Measured bandwidth of the device's memory: `1.7 TBps`.", true},
                    rates.memory_Bps, Dimension::bandwidth, bandwidths);
    fields.quantity({"fixed_cost", "Fixed cost of each kernel on the device: `4.5 us`."}, rates.fixed_s,
                    Dimension::seconds, {.word = "none", .most = 3600});
    fields.quantity({"host_launch",
                     "Host time to launch a kernel in an eager framework: `23 us`. A layer's pass takes at least that "
                     "per kernel, or that in addition (`training.launches`)."},
                    rates.host_launch_s, Dimension::seconds, {.word = "none", .most = 3600});
    fields.quantity(
        {"host_launch_backward", "Host time to launch a kernel in the backward pass: `45 us`. Default: `host_launch`."},
        rates.host_launch_backward_s, Dimension::seconds, {.word = "none", .most = 3600});
    fields.text({"source", "Sources of the rates: who measured them, and how; or that they are chosen.", true},
                rates.source);
    fields.file({"pointwise",
                 "File with measured times of memory-bound kernels: `kind,bytes,seconds`, with the bytes read and "
                 "written. Default: all at `memory_bandwidth`."},
                [&](const std::string& path, const std::string& text, const Fields::Beside&) {
                    try {
                        rates.pointwise = std::make_shared<const PointwiseTable>(read_pointwise(path, text));
                    } catch (const std::invalid_argument& error) {
                        throw ConfigError({{{path, 1, 1, ""}, error.what(), "larger kernels take longer"}});
                    }
                });
    fields.file({"products",
                 "File with measured GEMMs: `batch,m,n,k,tflops` (16-bit), or with the number format first: "
                 "`factors,batch,m,n,k,tflops` (`16-bit`, `tf32`, `fp8`, …). Default: tiles and waves alone."},
                [&](const std::string& path, const std::string& text, const Fields::Beside&) {
                    if (!fields.sound()) return;
                    add_tables(path, read_products(path, text), rates);
                });
    describe_convolutions(fields, rates);
    describe_grouped(fields, rates);
}

}  // namespace syncline::config
