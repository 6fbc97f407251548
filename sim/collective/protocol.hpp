#pragma once

#include <string>

/// How the messages of one collective are carried, beside what the transport does with every message.
///
/// Libraries carry small messages otherwise than large ones: NCCL's LL sends a flag with every 4 bytes, so that a
/// receiver sees data as it comes (low latency, half the bandwidth), LL128 8 bytes of 128, and Simple waits for whole
/// chunks (no flags, high latency). Source: NVIDIA NCCL, src/graph/tuning.cc.
namespace syncline {

struct Protocol {
    std::string name;              ///< empty: nothing beside the transport
    double launch_s = 0;           ///< before the first step, on every rank
    double inside_latency_s = 0;   ///< of every message inside a node ...
    double between_latency_s = 0;  ///< ... and between nodes, beside the links' and the transport's
    double bandwidth_factor = 1;   ///< data over what travels: 0 < factor <= 1
};

}  // namespace syncline
