#pragma once

#include <memory>

#include "sim/document/fields.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/platform/kernel_rates.hpp"

/// What the field tables of platforms and their parts share.
namespace syncline::config {

/// Ranges of the bandwidths of machines.
inline constexpr QuantityRange bandwidths{.least = least_bandwidth_Bps, .most = most_bandwidth_Bps};
inline constexpr QuantityRange bandwidths_or_unlimited{
    .word = "unlimited", .word_value = unlimited, .least = bandwidths.least, .most = bandwidths.most};

/// Describes `pairs`, `pcie` and `devices_per_switch` of `links`, whose other keys are read before. Rejects pairs of
/// unknown devices, pairs that are listed twice, and devices between which there is neither a path nor PCIe.
void describe_mesh(Fields& links, NodeDesign& node);
/// Describe the key `power` of a device, a host and a fabric.
void describe_power(Fields& fields, std::optional<DevicePower>& power);
void describe_power(Fields& fields, std::optional<Power>& power);
void describe_power(Fields& fields, Fabric& fabric);
/// Describes the key `faults`, after the keys that say which parts there are.
void describe_faults(Fields& fields, Cluster& cluster);
/// Describes a transport's `selection`.
void describe_selection(Fields& fields, std::shared_ptr<const Selection>& selection);
/// Describes the measured rates of a device's kernels, whose `multiprocessors` are set.
void describe(Fields& fields, KernelRates& rates);

}  // namespace syncline::config
