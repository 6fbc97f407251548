#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/platform/cluster.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// SimGrid's engine, as the replay uses it: its actors and network models, and platforms in its format. The exact model
/// needs none of these (event_simulator.cpp).
///
/// SimGrid and the forty libraries that it brings take 20 to 30 ms and 30 MB to load. A program that does without them
/// need not pay for that, so that they are behind this interface in a module (sim/simgrid), which is loaded when it is
/// first needed. The module calls the program through virtual and inline functions only.
namespace syncline {

class Simulator;
class Wires;

/// The links of a platform in SimGrid's format that is loaded into this process's engine. Nodes are hosts.
class NativeLinks {
public:
    struct Link {
        std::string name;
        double bandwidth_Bps = 0;
        double latency_s = 0;
        bool shared = true;  ///< if false, every message has the link's whole bandwidth for itself
    };

    NativeLinks() = default;
    virtual ~NativeLinks() = default;
    NativeLinks(const NativeLinks&) = delete;
    NativeLinks& operator=(const NativeLinks&) = delete;

    virtual std::vector<Link> links() const = 0;
    /// Returns the numbers of the links from one node to another. Throws ReplayError if there is no route, or if it
    /// uses a link of type WIFI.
    virtual std::vector<std::uint32_t> route(std::uint32_t from, std::uint32_t to) const = 0;
    /// Takes the latency out of the links, so that SimGrid adds none to messages.
    virtual void drop_latencies() = 0;
};

class SimGridEngine {
public:
    struct Settings {
        NetworkModel model = NetworkModel::exact;
        bool native = false;  ///< the platform is in SimGrid's format
        bool full = false;    ///< SimGrid solves for all flows at every event, even where it need not
    };
    struct Hosts {
        std::size_t count = 0;
        double slowest_flops_per_s = 0;
    };

    SimGridEngine() = default;
    virtual ~SimGridEngine() = default;
    SimGridEngine(const SimGridEngine&) = delete;
    SimGridEngine& operator=(const SimGridEngine&) = delete;

    /// Starts the engine. SimGrid allows that once in a process. This comes before all that follows.
    virtual void start(const Settings& settings) = 0;
    /// Throws ReplayError if the platform cannot be loaded, or if one of its hosts is missing.
    virtual std::unique_ptr<NativeLinks> load(const NativePlatform& platform) = 0;
    /// Loads a platform, and checks its links and hosts. Not its routes: hosts that exchange nothing need none. Throws
    /// ReplayError with the problem found; SimGrid may also end the process, and say why on standard error.
    virtual Hosts inspect(const NativePlatform& platform) = 0;
    /// Returns a simulator with SimGrid's network models, for lanes of these processes. It is never destroyed.
    virtual Simulator* actors(Wires& wires, std::vector<ProcessId> processes) = 0;
};

/// Returns the engine, after loading the module if necessary. Processes that are started later need not load it again.
/// Throws ReplayError if it cannot be loaded.
SimGridEngine& engine();

}  // namespace syncline
