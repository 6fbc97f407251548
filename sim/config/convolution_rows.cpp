#include "sim/config/convolution_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/config/rate_rows.hpp"

namespace syncline::config {

namespace {

constexpr std::string_view convolution_header = "factors,pass,kernel,filters,pixels,channels,tflops";
constexpr std::string_view image_header = "kernel,channels,size,GBps";
constexpr std::array<std::string_view, 2> orders{"first", "last"};
constexpr double least_tflops = 1e-3;

}  // namespace

std::vector<ConvolutionTable::Row> read_convolutions(const std::string& path, const std::string& text) {
    std::vector<ConvolutionTable::Row> rows;
    const RateTable table{convolution_header, "this is not the header of a table of convolutions",
                          fmt::format("it begins with `{}`", convolution_header)};
    each_rate_row(path, text, table, [&](const std::string& line, const FailAtLine& fail) {
        const auto cell = rate_cells<7>(line);
        const auto factors = cell ? rate_factors((*cell)[0]) : std::nullopt;
        const auto pass = cell ? rate_word((*cell)[1], product_passes) : std::nullopt;
        const auto kernel = cell ? rate_number((*cell)[2], 1, 1024) : std::nullopt;
        const auto filters = cell ? rate_number((*cell)[3]) : std::nullopt;
        const auto pixels = cell ? rate_number((*cell)[4]) : std::nullopt;
        const auto channels = cell ? rate_number((*cell)[5]) : std::nullopt;
        const auto tflops = cell ? rate_number((*cell)[6], least_tflops) : std::nullopt;
        if (!factors || narrow(*factors) || !pass || !kernel || !filters || !pixels || !channels || !tflops)
            return fail("this is not a row of factors, a pass and five numbers",
                        "`16-bit,forward,3,256,200704,256,766.9`; factors are fp32, tf32 and 16-bit, passes forward, "
                        "inputs and weights");
        const MatrixProduct product{*filters, *pixels, *channels * *kernel * *kernel};
        rows.push_back({*factors, {static_cast<ConvolutionPass>(*pass), *kernel == 1, product}, *tflops * 1e12});
    });
    return rows;
}

ImageKernelRates read_image_kernels(const std::string& path, const std::string& text) {
    ImageKernelRates rates;
    const RateTable table{image_header, "this is not the header of a table of image kernels",
                          fmt::format("it begins with `{}`", image_header)};
    each_rate_row(path, text, table, [&](const std::string& line, const FailAtLine& fail) {
        const auto cell = rate_cells<4>(line);
        const auto kernel = cell ? rate_word((*cell)[0], image_kernel_names) : std::nullopt;
        const auto order = cell ? rate_word((*cell)[1], orders) : std::nullopt;
        const auto size = cell ? rate_number((*cell)[2]) : std::nullopt;
        const auto rate = cell ? rate_number((*cell)[3]) : std::nullopt;
        if (!kernel || !order || !size || !rate)
            return fail("this is not a kernel, an order of channels and two numbers",
                        fmt::format("`batch-norm,last,256,1300`; channels are first or last, kernels {}",
                                    fmt::join(image_kernel_names, ", ")));
        if (!rates.add({static_cast<ImageKernel>(*kernel), *size}, *order == 1, *rate * 1e9))
            fail("this size of this kernel is there already", "leave one of both rates");
    });
    return rates;
}

}  // namespace syncline::config
