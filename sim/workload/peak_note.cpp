#include "sim/workload/peak_note.hpp"

namespace syncline {

namespace {

/// Names the data of the device that could give measured times; empty if there is none.
std::string unused(const std::string& workload, const Device& device) {
    if (calibration_of(device, workload)) return "its calibration (`compute: calibrated`)";
    if (measured_layers(device, workload)) return "its times of layers (`compute: measured`)";
    if (device.kernels) return "its measurement of kernels (`compute: tables`)";
    if (device.efficiency) return "its efficiency curve (`compute: efficiency`)";
    return "";
}

}  // namespace

std::string peak_note(ComputeKind kind, const std::string& workload, const Device& device) {
    const ComputeKind used = kind_used(kind, workload, device);
    if (used == ComputeKind::tables)
        return device.kernels->table
                   ? "compute times rest on the device's table of measured matrix products, and its measured rates of "
                     "other kernels: no measurement of this workload supports them"
                   : "compute times rest on the device's measured rate of large matrix products, its tiles, and its "
                     "measured rates of other kernels: no measurement of this workload supports them";
    if (used != ComputeKind::roofline && used != ComputeKind::im2col) return "";
    const std::string better = unused(workload, device);
    return "compute times assume the device's peak: " +
           (better.empty() ? "no measurement supports them" : better + " is not used");
}

}  // namespace syncline
