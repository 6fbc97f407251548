#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/platform/attention_table.hpp"
#include "sim/platform/convolution_table.hpp"
#include "sim/platform/grouped_products.hpp"
#include "sim/platform/image_kernels.hpp"
#include "sim/platform/pointwise_table.hpp"
#include "sim/platform/product_table.hpp"

/// Files of measured rates of kernels, as comma-separated text: a header, then a line for each rate. Lines that begin
/// with `#` are comments. `path` is shown in errors, which are thrown as ConfigError.
namespace syncline::config {

/// Reads matrix products: `batch,m,n,k,tflops`, or the same with `factors` before; without that column the factors have
/// 16 bits.
std::vector<MeasuredProduct> read_products(const std::string& path, const std::string& text);

/// Reads experts' products: `pass,groups,m,n,k,tflops`, (m × k) times (k × n) in each pass.
std::vector<MeasuredGroup> read_grouped_products(const std::string& path, const std::string& text);

/// Measured rates by the name of the kernel.
using AttentionRows = std::map<std::string, std::vector<AttentionTable::Row>>;

/// Reads fused attention: `kernel,pass,mask,head_size,sequence,tflops`, with the pass `forward` or `backward`, and the
/// mask `causal` or `none`.
AttentionRows read_attention(const std::string& path, const std::string& text);

/// Reads convolutions: `factors,pass,kernel,filters,pixels,channels,tflops`, with the factors `fp32`, `tf32` or
/// `16-bit`, the pass `forward`, `inputs` or `weights`, and a square kernel's width.
std::vector<ConvolutionTable::Row> read_convolutions(const std::string& path, const std::string& text);

/// Reads the kernels beside convolutions: `kernel,channels,size,GBps`, with a name of image_kernel_names, and channels
/// `first` or `last`.
ImageKernelRates read_image_kernels(const std::string& path, const std::string& text);

/// Reads times of kernels that are bound by the memory: `kind,bytes,seconds`.
std::vector<PointwiseTable::Row> read_pointwise(const std::string& path, const std::string& text);

}  // namespace syncline::config
