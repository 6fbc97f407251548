#include <simgrid/s4u/Engine.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/replay/engine.hpp"
#include "sim/simgrid/hosts.hpp"
#include "sim/simgrid/native_links.hpp"

namespace syncline {

namespace sg = simgrid::s4u;

namespace {

class SimGrid : public SimGridEngine {
public:
    void start(const Settings& settings) override {
        std::string program = "syncline";
        // Suppresses SimGrid's reports of changed settings.
        std::string quiet = "--log=root.thres:critical";
        std::vector<char*> arguments{program.data(), quiet.data(), nullptr};
        int count = 2;
        // Never destroyed: the destructor would unwind the stack of every remaining actor for no benefit, because a
        // process runs one simulation and ends.
        [[maybe_unused]] static const sg::Engine* const engine = new sg::Engine(&count, arguments.data());
        configure_network(settings);
    }
    std::unique_ptr<NativeLinks> load(const NativePlatform& platform) override {
        return std::make_unique<SimGridLinks>(platform);
    }
    Hosts inspect(const NativePlatform& platform) override { return inspect_platform(platform); }
    Simulator* actors(Wires& wires, std::vector<ProcessId> processes) override {
        return actor_simulator(*new syncline::Hosts(wires), std::move(processes));
    }
};

}  // namespace

}  // namespace syncline

/// The module's only function: see sim/replay/engine.cpp.
extern "C" syncline::SimGridEngine* syncline_engine() {
    static syncline::SimGrid simgrid;
    return &simgrid;
}
