#include "sim/config/rate_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <limits>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "sim/config/rate_rows.hpp"

namespace syncline::config {

namespace {

using Words = std::string_view[];
/// The passes of a product, in the order of GroupedPass and of ConvolutionPass.
constexpr Words product_passes{"forward", "inputs", "weights"};
constexpr Words attention_passes{"forward", "backward"}, masks{"none", "causal"}, orders{"first", "last"};

constexpr std::string_view product_header = "batch,m,n,k,tflops", factors_header = "factors,batch,m,n,k,tflops";
constexpr std::string_view grouped_header = "pass,groups,m,n,k,tflops";
constexpr std::string_view convolution_header = "factors,pass,kernel,filters,pixels,channels,tflops";
constexpr std::string_view image_header = "kernel,channels,size,GBps";
constexpr std::size_t most_rows = 10'000;  // of products, and of experts' products

bool names_factors(const std::string& text) {
    return text.rfind(factors_header, 0) == 0 || text.find("\n" + std::string(factors_header)) != std::string::npos;
}

std::string begins_with(std::string_view header) {
    return fmt::format("it begins with `{}`", header);
}

}  // namespace

std::vector<MeasuredProduct> read_products(const std::string& path, const std::string& text) {
    std::vector<MeasuredProduct> rows;
    const bool named = names_factors(text);
    const RateTable table{named ? factors_header : product_header,
                          "this is not the header of a table of matrix products", begins_with(product_header)};
    each_rate_row(path, text, table, [&](RateLine& line, const FailAtLine& fail) {
        const auto factors = named ? line.factors() : Factors::half;
        if (!factors) fail("these are no factors", "16-bit, fp8, mxfp8, nvfp4, tf32 or fp32");
        constexpr double least = 1e-6;
        const double batch = line.number(least), m = line.number(least), n = line.number(least), k = line.number(least),
                     tflops = line.number(least);
        if (!line.good())
            fail("this is not a row of five numbers from 1e-6 to 1e9",
                 named ? "factors, batch, m, n, k and Tflops: `fp8,1,4096,4096,1024,1024.5`"
                       : "batch, m, n, k and Tflops: `1,4096,4096,1024,684.5`");
        rows.push_back({{m, n, k, batch}, tflops * 1e12, *factors});
        if (rows.size() > most_rows) fail(fmt::format("the table has more than {} rows", most_rows), "");
    });
    return rows;
}

std::vector<MeasuredGroup> read_grouped_products(const std::string& path, const std::string& text) {
    std::vector<MeasuredGroup> rows;
    std::set<std::tuple<std::size_t, double, double, double, double>> seen;
    const RateTable table{grouped_header, "this is not the header of a table of experts' products",
                          begins_with(grouped_header)};
    each_rate_row(path, text, table, [&](RateLine& line, const FailAtLine& fail) {
        const std::size_t pass = line.word(product_passes);
        const double groups = line.number(), m = line.number(), n = line.number(), k = line.number();
        const double tflops = line.number(1e-6);
        if (!line.good())
            fail("this is not a pass and five numbers",
                 "`forward,32,1024,4096,7168,1028.5`; passes are forward, inputs and weights");
        if (!seen.insert({pass, groups, m, n, k}).second)
            fail("these products are there already", "leave one of both rates");
        if (rows.size() == most_rows) fail(fmt::format("the table has more than {} rows", most_rows), "");
        const MatrixProduct products{m, n, k, groups};
        rows.push_back({static_cast<GroupedPass>(pass), products, products.flops() / (tflops * 1e12)});
    });
    return rows;
}

AttentionRows read_attention(const std::string& path, const std::string& text) {
    AttentionRows rows;
    std::set<std::tuple<std::string, bool, bool, double, double>> seen;
    const RateTable table{"kernel,pass,mask,head_size,sequence,tflops",
                          "this is not the header of a table of attention's rates", "it begins with its header"};
    each_rate_row(path, text, table, [&](RateLine& line, const FailAtLine& fail) {
        const std::string kernel(line.text());
        const bool backward = line.word(attention_passes) == 1, causal = line.word(masks) == 1;
        const double head_size = line.number(), sequence = line.number(), tflops = line.number();
        if (!line.good() || kernel.empty())
            fail("this is not a kernel, a pass, a mask and three numbers from 1 to 1e9",
                 "`cudnn,forward,causal,128,4096,616`; passes are forward and backward, masks causal and none");
        if (!seen.insert({kernel, backward, causal, head_size, sequence}).second)
            fail("this shape of this kernel is there already", "leave one of both rates");
        rows[kernel].push_back({{backward, causal, head_size, sequence}, tflops * 1e12});
    });
    return rows;
}

std::vector<ConvolutionTable::Row> read_convolutions(const std::string& path, const std::string& text) {
    std::vector<ConvolutionTable::Row> rows;
    const RateTable table{convolution_header, "this is not the header of a table of convolutions",
                          begins_with(convolution_header)};
    each_rate_row(path, text, table, [&](RateLine& line, const FailAtLine& fail) {
        const auto factors = line.factors();
        const auto pass = static_cast<ConvolutionPass>(line.word(product_passes));
        const double kernel = line.number(1, 1024), filters = line.number(), pixels = line.number(),
                     channels = line.number(), tflops = line.number(1e-3);
        if (!line.good() || !factors || narrow(*factors))
            fail("this is not a row of factors, a pass and five numbers",
                 "`16-bit,forward,3,256,200704,256,766.9`; factors are fp32, tf32 and 16-bit, passes forward, inputs "
                 "and weights");
        const MatrixProduct product{filters, pixels, channels * kernel * kernel};
        rows.push_back({*factors, {pass, kernel == 1, product}, tflops * 1e12});
    });
    return rows;
}

ImageKernelRates read_image_kernels(const std::string& path, const std::string& text) {
    ImageKernelRates rates;
    const RateTable table{image_header, "this is not the header of a table of image kernels",
                          begins_with(image_header)};
    each_rate_row(path, text, table, [&](RateLine& line, const FailAtLine& fail) {
        const auto kernel = static_cast<ImageKernel>(line.word(image_kernel_names));
        const bool last = line.word(orders) == 1;
        const double size = line.number(), rate = line.number();
        if (!line.good())
            fail("this is not a kernel, an order of channels and two numbers",
                 fmt::format("`batch-norm,last,256,1300`; channels are first or last, kernels {}",
                             fmt::join(image_kernel_names, ", ")));
        if (!rates.add({kernel, size}, last, rate * 1e9))
            fail("this size of this kernel is there already", "leave one of both rates");
    });
    return rates;
}

std::vector<PointwiseTable::Row> read_pointwise(const std::string& path, const std::string& text) {
    constexpr double above_zero = std::numeric_limits<double>::denorm_min(), most_bytes = 1e15, most_s = 3600;
    std::vector<PointwiseTable::Row> rows;
    std::set<std::pair<Pointwise, double>> seen;
    const RateTable table{"kind,bytes,seconds", "this is not the header of a table of memory-bound kernels",
                          "it begins with its header"};
    each_rate_row(path, text, table, [&](RateLine& line, const FailAtLine& fail) {
        const auto kind = pointwise_kind(line.text());
        if (!kind) fail("this is no kind of memory-bound kernels", pointwise_words());
        const double bytes = line.number(above_zero, most_bytes), seconds = line.number(above_zero, most_s);
        if (!line.good())
            fail("this is not a kind, a number of bytes and a number of seconds, both above 0",
                 "`addition,2.0e8,6e-5`");
        if (!seen.insert({*kind, bytes}).second)
            fail("this size of this kind is there already", "leave one of both times");
        rows.push_back({*kind, bytes, seconds});
    });
    return rows;
}

}  // namespace syncline::config
