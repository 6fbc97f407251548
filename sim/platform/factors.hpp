#pragma once

/// Numbers that a device's matrix units multiply, each with peaks and rates of its own.
namespace syncline {

/// `fp32`: 4 bytes, on units without matrices; `tf32`: 4 bytes, of which the matrix units read 19 bits; `half`: fp16
/// and bf16; `fp8`, with one scale for a matrix or a row; `mxfp8`: blocks of 32 numbers of 8 bits that share an
/// exponent (OCP Microscaling Formats MX v1.0); `nvfp4`: blocks of 16 numbers of 4 bits that share a scale of 8 bits
/// (NVIDIA, "Pretraining large language models with NVFP4", arXiv 2509.25149). Sums have 4 bytes.
enum class Factors { fp32, tf32, half, fp8, mxfp8, nvfp4 };
constexpr Factors all_factors[] = {Factors::fp32, Factors::tf32,  Factors::half,
                                   Factors::fp8,  Factors::mxfp8, Factors::nvfp4};

/// Returns true if only products with weights inside a transformer's layers have them.
constexpr bool narrow(Factors factors) {
    return factors == Factors::fp8 || factors == Factors::mxfp8 || factors == Factors::nvfp4;
}

struct FactorsNames {
    const char* word;      ///< in tables of measured products and convolutions
    const char* name;      ///< in messages
    const char* rate_key;  ///< the key of a device's `kernels` that has the rate of their products
};
constexpr FactorsNames factors_names[] = {
    // by Factors
    {"fp32", "32-bit factors (fp32)", "fp32_product_rate"},
    {"tf32", "32-bit factors on matrix units (tf32)", "tf32_product_rate"},
    {"16-bit", "16-bit factors", "product_rate"},
    {"fp8", "8-bit factors", "fp8_product_rate"},
    {"mxfp8", "8-bit factors in blocks (mxfp8)", "mxfp8_product_rate"},
    {"nvfp4", "4-bit factors in blocks (nvfp4)", "nvfp4_product_rate"},
};

constexpr const char* word_of(Factors factors) {
    return factors_names[static_cast<int>(factors)].word;
}
constexpr const char* name_of(Factors factors) {
    return factors_names[static_cast<int>(factors)].name;
}
constexpr const char* rate_key(Factors factors) {
    return factors_names[static_cast<int>(factors)].rate_key;
}

}  // namespace syncline
