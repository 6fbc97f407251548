#pragma once

/// Numbers that a device's matrix units multiply, each with peaks and rates of its own.
namespace syncline {

/// `fp32`: 4 bytes, on units without matrices; `tf32`: 4 bytes, of which the matrix units read 19 bits; `half`: fp16
/// and bf16, whose rates are the same; `fp8`, with one scale for a matrix or a row of it; `mxfp8`: blocks of 32 numbers
/// of 8 bits that share an exponent (OCP Microscaling Formats MX v1.0, MXFP8); `nvfp4`: blocks of 16 numbers of 4 bits
/// that share a scale of 8 bits (NVIDIA, "Pretraining large language models with NVFP4", arXiv 2509.25149). Sums have
/// 4 bytes in all of them.
enum class Factors { fp32, tf32, half, fp8, mxfp8, nvfp4 };
constexpr Factors all_factors[] = {Factors::fp32, Factors::tf32,  Factors::half,
                                   Factors::fp8,  Factors::mxfp8, Factors::nvfp4};

/// Returns true if only products with weights inside a transformer's layers have them.
constexpr bool narrow(Factors factors) {
    return factors == Factors::fp8 || factors == Factors::mxfp8 || factors == Factors::nvfp4;
}

/// Returns their word in tables of measured products and convolutions.
constexpr const char* word_of(Factors factors) {
    switch (factors) {
        case Factors::fp32:
            return "fp32";
        case Factors::tf32:
            return "tf32";
        case Factors::half:
            return "16-bit";
        case Factors::fp8:
            return "fp8";
        case Factors::mxfp8:
            return "mxfp8";
        case Factors::nvfp4:
            return "nvfp4";
    }
    return "";
}

/// Returns what they are called in messages.
constexpr const char* name_of(Factors factors) {
    switch (factors) {
        case Factors::fp32:
            return "32-bit factors (fp32)";
        case Factors::tf32:
            return "32-bit factors on matrix units (tf32)";
        case Factors::half:
            return "16-bit factors";
        case Factors::fp8:
            return "8-bit factors";
        case Factors::mxfp8:
            return "8-bit factors in blocks (mxfp8)";
        case Factors::nvfp4:
            return "4-bit factors in blocks (nvfp4)";
    }
    return "";
}

/// Returns the key of a device's `kernels` that has the rate of their products.
constexpr const char* rate_key(Factors factors) {
    switch (factors) {
        case Factors::fp32:
            return "fp32_product_rate";
        case Factors::tf32:
            return "tf32_product_rate";
        case Factors::half:
            return "product_rate";
        case Factors::fp8:
            return "fp8_product_rate";
        case Factors::mxfp8:
            return "mxfp8_product_rate";
        case Factors::nvfp4:
            return "nvfp4_product_rate";
    }
    return "";
}

}  // namespace syncline
