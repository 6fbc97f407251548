#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.hpp"

/// libFuzzer's entry, compiled once for each target.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    syncline::fuzz::SYNCLINE_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
    return 0;
}
