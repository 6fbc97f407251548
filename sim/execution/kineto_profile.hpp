#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/execution/trace_builder.hpp"
#include "sim/execution/trace_text.hpp"

/// What a profile of PyTorch (Kineto, a Chrome trace) says of one rank. Times are in nanoseconds.
namespace syncline {

struct KinetoProfile {
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    /// A kernel or copy on the device.
    struct Work {
        std::int64_t begin = 0, end = 0;
        std::uint64_t correlation = 0;  ///< with its call; 0: unknown
        std::uint32_t stream = 0;       ///< number of a device's stream
        std::uint32_t name = 0;
        std::uint32_t exchange = none;  ///< index into `exchanges`
        bool copies = false;            ///< or sets memory
    };

    /// A call of the CUDA runtime or driver.
    struct Call {
        enum class Kind : std::uint8_t { other, wait_event, synchronize };
        std::int64_t begin = 0, end = 0;
        std::uint64_t correlation = 0, thread = 0;
        Kind kind = Kind::other;
    };

    /// A kernel of NCCL or RCCL. Without an operation its size, or ranks, are unknown.
    struct Exchange {
        std::optional<std::uint8_t> operation;  ///< of TraceBuilder::operation
        std::uint64_t bytes = 0;
        std::uint32_t group = 0;
        std::optional<std::uint64_t> sequence;  ///< number in its group
    };

    struct Group {
        std::string name;
        std::vector<std::uint32_t> ranks;  ///< none: unknown
        std::uint32_t size = 0;
    };

    /// "Stream Wait Event": `stream` waits for what `on` had to do when the event was recorded.
    struct Wait {
        std::int64_t at = 0;
        std::uint64_t correlation = 0, recorded = 0;  ///< of the calls that wait and record; 0: unknown
        std::uint32_t stream = 0, on = none;
    };

    struct Step {
        std::uint64_t number = 0;
        std::int64_t begin = 0, end = 0;
    };

    std::optional<std::uint64_t> rank, world_size;
    std::uint32_t streams = 0, devices = 0;  ///< numbers of them
    std::vector<Work> works;
    std::vector<Call> calls;
    std::vector<Exchange> exchanges;
    std::vector<Group> groups;
    std::vector<Wait> waits;
    std::vector<Step> steps;  ///< sorted by number
};

/// Reads the text of a profile. Names and operations go to `builder`, and notes of what was not understood. Throws
/// ConfigError or TraceError.
KinetoProfile read_kineto_profile(const TraceFile& file, TraceBuilder& builder);

}  // namespace syncline
