#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

/// Parts of a cluster that are slow or down for a time of the simulation.
///
/// A fault multiplies a part's rate from one simulated time to another; faults of one part multiply each other. Time
/// counts from the start of the simulation: that of the first iteration, of an exchange alone, or of the cluster with
/// several jobs.
///
/// | part | what has the rate |
/// |---|---|
/// | link | the bandwidth of one or both of its directions; its latency stays |
/// | switch | the bandwidth of all its links |
/// | device | all that it does itself: computation, sums, copies, overheads of messages |
/// | node | the same of its devices and its host; at rate 0 its links are down, too |
///
/// At rate 0 a link carries nothing: its messages wait, and go on where they were when it is back. A process whose
/// device or host has rate 0 does nothing and begins no message and no reading from the storage, but what it has begun
/// of these goes on, messages if their links are up. With `rerouted` messages avoid the fabric's links that are down,
/// if there is another route: those that start take the shortest of the remaining ones (a hash chooses among equal
/// ones), and those in flight send the rest of their bytes on such a route. When a link is back, messages that had no
/// other route go on or take it; the others keep theirs.
///
/// Left out: time until a fault is noticed, bytes that are sent again, aborted runs (failures.hpp).
namespace syncline {

struct Fault {
    enum class Part : std::uint8_t { link, fabric_switch, device, node };

    Part part = Part::link;
    std::string name;          ///< of a link or a switch
    std::uint32_t number = 0;  ///< of a device, counted node by node, or of a node
    double from_s = 0;
    double to_s = std::numeric_limits<double>::infinity();
    double rate = 0;
    bool rerouted = false;  ///< messages avoid a part that is down

    /// Returns the part's words: "link leaf-0--spine-1", "node 3".
    std::string part_words() const;
    /// Returns the whole in words: "link leaf-0--spine-1 at 50 % from 10 ms to 30 ms", "node 3 down from 1 s on".
    std::string words() const;
};

/// A rate that changes at given times; 1 before the first.
class RateOverTime {
public:
    struct Change {
        double from_s = 0, rate = 1;
    };

    /// Multiplies the rate from one time to another.
    void multiply(double from_s, double to_s, double rate);
    const std::vector<Change>& changes() const { return changes_; }
    bool constant() const { return changes_.empty(); }
    double at(double time_s) const;
    /// Returns the time that work of `seconds` at rate 1 takes from `start_s` on; infinity if it never ends.
    double elapsed_s(double start_s, double seconds) const;
    /// Returns the work that is done in between, in seconds at rate 1.
    double work_s(double start_s, double end_s) const;
    /// Returns the time from `time_s` on until the rate is above 0: 0 if it is; infinity if it never is.
    double down_s(double time_s) const;
    /// Returns the time from which on the rate is 0 for ever, if it is in the end.
    double down_since_s() const;

private:
    std::size_t split(double time_s);

    std::vector<Change> changes_;  // in order of time
};

class Wiring;
struct Cluster;
struct Place;

/// The rate over time of a link that has faults.
struct LinkRate {
    std::uint32_t link = 0;
    RateOverTime rate;
    RateOverTime rerouted;  ///< that of faults which messages avoid
};

/// Returns these of all links with faults, in the order of their numbers. Links that are not wired have none.
std::vector<LinkRate> link_rates(const Wiring& wiring, const Cluster& cluster);

/// Returns the rate over time of what a process at this place does itself.
RateOverTime process_rate(const Cluster& cluster, const Place& place);

/// Returns names that a fault may give, sorted: of links in both directions ("leaf-0--host-3"), or of switches.
std::vector<std::string> link_names(const Wiring& wiring);
std::vector<std::string> switch_names(const Wiring& wiring);

/// Returns all names of links that a fault may give, sorted: of both directions, either end first, and of one
/// ("leaf-0->host-3").
std::vector<std::string> all_link_names(const Wiring& wiring);

}  // namespace syncline
