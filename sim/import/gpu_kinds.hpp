#pragma once

#include <cstdint>
#include <string_view>

namespace syncline::config {

/// What files about machines leave to the kind of GPU: its links.
struct GpuKind {
    std::string_view word;       ///< in a device's name: "h100" in "h100-sxm"
    bool card;                   ///< a card in a PCIe slot, whose name says so
    std::int64_t nvlinks;        ///< number of its NVLinks, or AMD's xGMI links
    double nvlink_GBps;          ///< of each of them, in each direction
    double pcie_GBps;            ///< of 16 lanes of its generation of PCIe, as NCCL counts them
    std::string_view transport;  ///< preset among nodes of such GPUs with NVLink; "" if there is none
    bool switch_reduces;         ///< its NVSwitch adds up data (NVLS)
};

/// Returns the kind of a device with this name (`h100-sxm`, `NVIDIA H100 80GB HBM3`); null if it is not known.
const GpuKind* gpu_kind(std::string_view device);

/// PCI numbers of vendors.
inline constexpr std::int64_t nvidia_vendor = 0x10de, amd_vendor = 0x1002;

/// Returns the preset of a product, by the PCI numbers of its vendor and its own; "" if there is none.
std::string_view device_of_product(std::int64_t vendor, std::int64_t number);

/// Returns presets of NVIDIA's GPUs with this compute capability (80 for 8.0), for a hint; "" if there are none.
std::string_view devices_of_capability(std::int64_t capability);

/// Returns the bandwidth of an NVLink of such a GPU, in GB/s and each direction; 0 if it is not known.
double nvlink_GBps(std::int64_t capability);

}  // namespace syncline::config
