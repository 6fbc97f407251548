#pragma once

#include <string>
#include <vector>

#include "sim/platform/convolution_table.hpp"
#include "sim/platform/image_kernels.hpp"

namespace syncline::config {

/// Reads measured convolutions: the header `factors,pass,kernel,filters,pixels,channels,tflops`, then a line for each,
/// with the factors `fp32`, `tf32` or `16-bit`, the pass `forward`, `inputs` or `weights`, and a square kernel's width;
/// lines that begin with `#` are comments. `path` is shown in errors. Throws ConfigError.
std::vector<ConvolutionTable::Row> read_convolutions(const std::string& path, const std::string& text);

/// Reads measured rates of the kernels beside them: the header `kernel,channels,size,GBps`, then a line for each, with
/// a name of image_kernel_names, and channels `first` or `last`. Throws ConfigError.
ImageKernelRates read_image_kernels(const std::string& path, const std::string& text);

}  // namespace syncline::config
