#include "sim/workload/peak_note.hpp"

namespace syncline {

namespace {

/// Names the data of the device that could give measured times; empty if there is none.
std::string unused(const std::string& workload, const Device& device) {
    if (calibration_of(device, workload)) return "its calibration (`compute: calibrated`)";
    if (measured_layers(device, workload)) return "its times of layers (`compute: measured`)";
    if (device.efficiency) return "its efficiency curve (`compute: efficiency`)";
    return "";
}

}  // namespace

std::string peak_note(ComputeKind kind, const std::string& workload, const Device& device) {
    const bool calibrated = kind == ComputeKind::calibrated && calibration_of(device, workload);
    if (calibrated || kind == ComputeKind::efficiency || kind == ComputeKind::measured) return "";
    const std::string better = unused(workload, device);
    return "compute times assume the device's peak: " +
           (better.empty() ? "no measurement supports them" : better + " is not used");
}

}  // namespace syncline
