#pragma once

#include <optional>

/// How often parts of a cluster fail, so that a training stops: mean time between failures of one part of a kind, MTBF,
/// in seconds. A published rate of r per 1,000 node-days is 1000/r days. Failures of all parts are independent, so a
/// job's rate is the sum over the parts that it uses: Σ n/MTBF (for used parts see sim/analysis/used_parts.hpp). Each
/// kind is the whole of what is counted under it: a node's failures include its devices' unless they have their own.
///
/// Left out: kinds that fail together, such as a rack's power. For parts that slow down see faults.hpp.
namespace syncline {

struct PartFailures {
    std::optional<double> device_s = {}, node_s = {};
    std::optional<double> switch_s = {};  ///< a switch of the fabric
    std::optional<double> link_s = {};    ///< a cable of the fabric, with its transceivers

    bool any() const { return device_s || node_s || of_fabric(); }
    bool of_fabric() const { return switch_s || link_s; }
};

/// Storage that all nodes share.
struct Storage {
    std::optional<double> write_Bps = {};  ///< bandwidth at which all nodes together write
    std::optional<double> read_Bps = {};   ///< and read ...
    std::optional<double> node_Bps = {};   ///< ... at most so much each; nothing: no such limit
};

}  // namespace syncline
