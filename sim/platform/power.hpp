#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

/// Electric power of a cluster's parts, in watts. A part that is busy for a share of the time, or sends at a share of
/// its bandwidth, takes
///
///     P = idle + share · (busy - idle)
///
/// as hosts and links of SimGrid's energy plugins do (F. C. Heinrich et al., "Predicting the energy-consumption of MPI
/// applications at scale using only a single node", CLUSTER 2017). sim/analysis/energy.hpp says what is busy when. Left
/// out: frequencies that change, kernels that differ in power, power caps, temperature, start-up of parts.
namespace syncline {

struct Power {
    double idle_W = 0;
    double busy_W = 0;

    /// Returns the joules of a part that is there for `seconds` and works for `busy_s` of them at full power.
    double energy_J(double seconds, double busy_s) const { return idle_W * seconds + (busy_W - idle_W) * busy_s; }
};

struct DevicePower : Power {
    double communicating_W = 0;  ///< while it only exchanges data
};

/// Switches, or ports of a fabric. With a `bandwidth` each has this power for so much of it: a cable of the fabric's
/// description that stands for several counts as so many ports, a switch by the sum of its ports.
struct FabricPower : Power {
    std::optional<double> bandwidth_Bps;

    /// Returns for how many of them a part with this bandwidth stands.
    double count(double of_Bps) const {
        constexpr double rounding = 1e-9;
        return bandwidth_Bps ? std::max(1.0, std::ceil(of_Bps / *bandwidth_Bps - rounding)) : 1;
    }
};

}  // namespace syncline
