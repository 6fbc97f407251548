#pragma once

/// Numbers that a device's matrix units multiply, each with peaks and rates of its own.
namespace syncline {

/// `fp32`: 4 bytes, on units without matrices; `tf32`: 4 bytes, of which the matrix units read 19 bits; `half`: fp16
/// and bf16, whose rates are the same; `fp8`. Sums have 4 bytes in all of them.
enum class Factors { fp32, tf32, half, fp8 };

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
    }
    return "";
}

}  // namespace syncline
