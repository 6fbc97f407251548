#pragma once

#include <cstdint>
#include <vector>

#include "sim/platform/cluster.hpp"
#include "sim/platform/place.hpp"

/// Speeds of processes whose devices or nodes have faults (sim/platform/faults.hpp): all that a process does itself
/// takes as much longer as its rate says.
namespace syncline {

class Speeds {
public:
    /// Processes are at `places`.
    Speeds(const Cluster& cluster, const std::vector<Place>& places) {
        if (cluster.faults.empty()) return;
        for (const Place& place : places) rates_.push_back(process_rate(cluster, place));
    }

    /// Returns the time that work of `seconds` at full speed takes from `start_s` on; infinity if it never ends.
    double elapsed_s(std::uint32_t process, double start_s, double seconds) const {
        return rates_.empty() ? seconds : rates_[process].elapsed_s(start_s, seconds);
    }
    /// Returns the work that is done in between, in seconds at full speed.
    double work_s(std::uint32_t process, double start_s, double end_s) const {
        return rates_.empty() ? end_s - start_s : rates_[process].work_s(start_s, end_s);
    }
    /// Returns the time from `time_s` on until the process is up: mostly 0; infinity if it never is.
    double down_s(std::uint32_t process, double time_s) const {
        return rates_.empty() ? 0 : rates_[process].down_s(time_s);
    }
    /// Returns the time at which a process that never comes up again went down.
    double down_since_s(std::uint32_t process) const { return rates_[process].down_since_s(); }

private:
    std::vector<RateOverTime> rates_;  // by process; empty if no part has faults
};

}  // namespace syncline
