#pragma once

#include "sim/platform/cluster.hpp"

/// The hybrid cube meshes of DGX-1, as `nvidia-smi topo -m` prints them.
namespace syncline {

/// Eight P100 with four links each: NVIDIA/nccl, issue 301.
inline NodeDesign dgx1_p100() {
    NodeDesign node;
    node.devices = 8;
    node.links = NodeLinks::mesh;
    node.link = {18e9, 1e-6};
    for (const std::uint32_t half : {0U, 4U}) {
        for (std::uint32_t a = 0; a < 4; ++a) {
            for (std::uint32_t b = a + 1; b < 4; ++b) node.pairs.push_back({half + a, half + b, 1});
        }
    }
    for (std::uint32_t a = 0; a < 4; ++a) node.pairs.push_back({a, a + 4, 1});
    return node;
}

/// Eight V100 with six links each: NVIDIA/nccl, issue 671.
inline NodeDesign dgx1_v100() {
    NodeDesign node = dgx1_p100();
    node.link = {20e9, 1e-6};
    const auto doubled = {std::pair{0U, 3U}, std::pair{0U, 4U}, std::pair{1U, 2U}, std::pair{1U, 5U},
                          std::pair{2U, 3U}, std::pair{4U, 7U}, std::pair{5U, 6U}, std::pair{6U, 7U}};
    for (DevicePair& pair : node.pairs) {
        for (const auto& [a, b] : doubled) {
            if (pair.a == a && pair.b == b) pair.links = 2;
        }
    }
    return node;
}

}  // namespace syncline
