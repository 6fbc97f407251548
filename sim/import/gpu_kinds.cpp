#include "sim/import/gpu_kinds.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace syncline::config {

namespace {

// NVLinks: NVIDIA's data sheets; xGMI: platforms/mi300x-rails.yaml. PCIe: NVIDIA NCCL, src/graph/topo.h, PCI_BW, 12
// GB/s for 16 lanes of generation 3, and in topo.cc twice that for each further one. NVLS: platforms/README.md.
constexpr GpuKind gpu_kinds[] = {
    {"k80", false, 0, 0, 12, "", false},
    {"p100", true, 0, 0, 12, "", false},
    {"p100", false, 4, 20, 12, "", false},
    {"v100", true, 0, 0, 12, "", false},
    {"v100", false, 6, 25, 12, "", false},
    {"a100", false, 12, 25, 24, "nccl-a100-nodes", false},
    {"a800", false, 8, 25, 24, "nccl-a100-nodes", false},
    {"l40s", false, 0, 0, 24, "", false},
    {"h100", true, 12, 25, 48, "nccl-h100-nodes", false},
    {"h100", false, 18, 25, 48, "nccl-h100-nodes", true},
    {"h800", false, 8, 25, 48, "nccl-h100-nodes", true},
    {"h200", false, 18, 25, 48, "nccl-h100-nodes", true},
    {"gh200", false, 18, 25, 48, "nccl-h100-nodes", true},
    {"b200", false, 18, 50, 48, "nccl-b200-nodes", true},
    {"b300", false, 18, 50, 96, "nccl-b200-nodes", true},
    {"gb200", false, 18, 50, 48, "nccl-b200-nodes", true},
    {"gb300", false, 18, 50, 96, "nccl-b200-nodes", true},
    {"mi300x", false, 7, 64, 48, "", false},
};

struct GpuProduct {
    std::int64_t vendor, number;  ///< https://pci-ids.ucw.cz
    std::string_view device;
};

constexpr GpuProduct products[] = {
    {nvidia_vendor, 0x102d, "k80"},
    {nvidia_vendor, 0x15f7, "p100-pcie"},
    {nvidia_vendor, 0x15f8, "p100-pcie"},
    {nvidia_vendor, 0x15f9, "p100-sxm2"},
    {nvidia_vendor, 0x1db1, "v100-sxm2"},
    {nvidia_vendor, 0x1db8, "v100-sxm3-32gb"},
    {nvidia_vendor, 0x20b0, "a100-sxm4-40gb"},
    {nvidia_vendor, 0x20b2, "a100-sxm4-80gb"},
    {nvidia_vendor, 0x2330, "h100-sxm"},
    {nvidia_vendor, 0x2331, "h100-pcie"},
    {nvidia_vendor, 0x2335, "h200"},
    {nvidia_vendor, 0x2342, "gh200"},
    {nvidia_vendor, 0x26b9, "l40s"},
    {nvidia_vendor, 0x2901, "b200"},
    {nvidia_vendor, 0x2941, "gb200"},
    {nvidia_vendor, 0x3182, "b300"},
    {nvidia_vendor, 0x31c2, "gb300"},
    {amd_vendor, 0x74a1, "mi300x"},
};

struct Capability {
    std::int64_t number;
    double nvlink_GBps;
    std::string_view devices;
};

constexpr Capability capabilities[] = {
    {37, 0, "k80"},
    {60, 20, "p100-sxm2, p100-pcie"},
    {70, 25, "v100-sxm2, v100-sxm3-32gb"},
    {75, 25, ""},
    {80, 25, "a100-sxm4-40gb, a100-sxm4-80gb"},
    {86, 14.0625, ""},  // A40, A6000: 112.5 GB/s of four links in both directions together
    {89, 0, "l40s"},
    {90, 25, "h100-sxm, h100-pcie, h200, gh200"},
    {100, 50, "b200, gb200"},
    {103, 50, "b300, gb300"},
};

const Capability* capability_of(std::int64_t number) {
    const auto* const found = std::find_if(std::begin(capabilities), std::end(capabilities),
                                           [&](const Capability& capability) { return capability.number == number; });
    return found == std::end(capabilities) ? nullptr : found;
}

/// Returns whether `word` is one of the words of a name.
bool has_word(std::string_view name, std::string_view word) {
    const auto inside = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    for (std::size_t at = name.find(word); at != name.npos; at = name.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || !inside(name[at - 1])) && (end == name.size() || !inside(name[end]))) return true;
    }
    return false;
}

}  // namespace

const GpuKind* gpu_kind(std::string_view device) {
    std::string name(device);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const bool card = has_word(name, "pcie");
    for (const GpuKind& kind : gpu_kinds)
        if (has_word(name, kind.word) && (card || !kind.card)) return &kind;
    return nullptr;
}

std::string_view device_of_product(std::int64_t vendor, std::int64_t number) {
    for (const GpuProduct& product : products)
        if (product.vendor == vendor && product.number == number) return product.device;
    return "";
}

std::string_view devices_of_capability(std::int64_t capability) {
    const Capability* const known = capability_of(capability);
    return known ? known->devices : "";
}

double nvlink_GBps(std::int64_t capability) {
    const Capability* const known = capability_of(capability);
    return known ? known->nvlink_GBps : 0;
}

}  // namespace syncline::config
