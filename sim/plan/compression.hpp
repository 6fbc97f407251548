#pragma once

#include <cstdint>
#include <string>

namespace syncline {

/// Compression of the gradients that ranks exchange: see compressed.hpp.
struct Compression {
    enum class Kind { none, fp16, top_k, powersgd };

    Kind kind = Kind::none;
    double ratio = 0.01;             ///< top_k
    double index_bytes = 4;          ///< top_k
    std::string allgather = "ring";  ///< top_k: the algorithm
    std::int64_t rank = 4;           ///< powersgd
    double codec_Bps = 0;            ///< bytes read and written per second; 0: bandwidth of the device's memory

    bool any() const { return kind != Kind::none; }
    /// Returns true if ranks keep what is not exchanged.
    bool keeps_rest() const { return kind == Kind::top_k || kind == Kind::powersgd; }
};

}  // namespace syncline
