#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/NetZone.hpp>
#include <simgrid/s4u/Semaphore.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/replay/engine.hpp"
#include "sim/simgrid/hosts.hpp"
#include "sim/simgrid/native_links.hpp"
#include "sim/simgrid/root_zone.hpp"

namespace syncline {

namespace sg = simgrid::s4u;

namespace {

/// A clockwork as a model of SimGrid's engine, like SimGrid's own of processors and networks.
class Clock : public simgrid::kernel::resource::Model {
public:
    Clock(Clockwork& clockwork, sg::SemaphorePtr over)
        : Model("streams"), clockwork_(clockwork), over_(std::move(over)) {}

    /// Returns the time from now until something happens; negative if nothing will.
    double next_occurring_event(double now_s) override {
        const double next_s = clockwork_.next_s(now_s);
        return std::isinf(next_s) ? -1 : std::max(0.0, next_s - now_s);
    }
    void update_actions_state(double now_s, double) override {
        clockwork_.happen(now_s);
        if (clockwork_.over() && over_ != nullptr) std::exchange(over_, nullptr)->release();
    }

private:
    Clockwork& clockwork_;
    sg::SemaphorePtr over_;
};

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
    void run(Clockwork& clockwork, const std::function<void()>& stuck) override {
        // SimGrid ends when no actor is left, and finds a deadlock if those that are left wait for nothing that will
        // happen.
        sg::NetZone* zone = full_zone_on_top("cluster");
        sg::Host* host = zone->create_host("host", 1e9);
        zone->seal();
        const sg::SemaphorePtr over = sg::Semaphore::create(0);
        sg::Engine* engine = sg::Engine::get_instance();
        engine->add_model(std::make_shared<Clock>(clockwork, over));
        sg::Actor::create("streams", host, [over] { over->acquire(); });
        sg::Engine::on_deadlock_cb(stuck);
        engine->run();
    }
};

}  // namespace

}  // namespace syncline

/// The module's only function: see sim/replay/engine.cpp.
extern "C" syncline::SimGridEngine* syncline_engine() {
    static syncline::SimGrid simgrid;
    return &simgrid;
}
