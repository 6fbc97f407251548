#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/document/document.hpp"
#include "sim/import/findings.hpp"

namespace syncline::config {

/// How near two parts of a node are over PCIe, in the words of `nvidia-smi topo -m`: below one bridge, or several,
/// below one host bridge, in one NUMA domain, or in several; or not known.
enum class Nearness : std::uint8_t { pix, pxb, phb, node, sys, unknown };

/// A node as a file of another program describes it.
struct Machine {
    struct Gpu {
        std::string name;
        Mark mark;
    };
    struct Nic {
        std::string name;
        Mark mark;
        std::optional<double> GBps;       ///< of its port, in each direction
        std::optional<double> slot_GBps;  ///< of its PCIe slot, as NCCL counts it
        std::vector<Nearness> to;         ///< each GPU
    };

    static constexpr std::size_t most_gpus = 256, most_nics = 256;

    Mark mark;         ///< of the file's part about the node
    std::string name;  ///< of the platform
    std::vector<Gpu> gpus;
    std::vector<Nic> nics;
    /// NVLinks between each two GPUs; of switches, which a matrix may hide, each GPU's own ones.
    std::vector<std::vector<std::int64_t>> nvlinks;
    std::vector<std::vector<Nearness>> paths;  ///< between each two GPUs
    std::optional<std::int64_t> switched;      ///< NVLinks from each GPU to switches, if the file knows switches
    std::optional<double> nvlink_GBps;         ///< of a link in each direction, if the file says it
    std::optional<double> pcie_GBps;           ///< of the narrowest GPU's slot, as NCCL counts it
    std::string device;                        ///< the preset that the file says; "": none
    std::string device_hint;                   ///< presets that it may mean
    bool nvlinks_known = true;                 ///< false if the file cannot say anything of NVLinks
};

/// Returns `per_node`, and what else of a platform a machine decides: `nodes`, `fabric`, `transport`. `given` is what
/// is known of the platform besides, with its file's names expanded but for the `device`; `device` is that device's
/// name. Reports what a user must add.
Node machine_keys(const Machine& machine, const Node& given, const std::string& device, Findings& findings);

}  // namespace syncline::config
