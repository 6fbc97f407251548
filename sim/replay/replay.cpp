#include "sim/replay/replay.hpp"

#include <fmt/format.h>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "sim/replay/stream_actor.hpp"
#include "sim/replay/wires.hpp"

namespace syncline {

namespace sg = simgrid::s4u;

namespace {

/// Counts the channels, which are numbered from 0.
std::uint32_t channels(const TaskGraph& graph) {
    std::uint32_t count = 1;
    for (const Task& task : graph.tasks())
        if (task.exchange != Task::no_exchange) count = std::max(count, graph.exchange(task.exchange).channel + 1);
    return count;
}

}  // namespace

Timeline replay(const Cluster& cluster, const TaskGraph& graph, const ReplayOptions& options) {
    static bool called = false;
    if (std::exchange(called, true))
        throw std::logic_error("replay() is called for the second time in a process; replay_isolated() starts its own");
    std::string program = "syncline";
    // Suppresses SimGrid's reports of changed settings.
    std::string quiet = "--log=root.thres:critical";
    std::vector<char*> arguments{program.data(), quiet.data(), nullptr};
    int count = 2;
    // Never destroyed: the destructor would unwind the stack of every remaining actor for no benefit, because a process
    // runs one simulation and ends.
    static sg::Engine* const engine = new sg::Engine(&count, arguments.data());
    configure_network(cluster);
    // Stacks of 64 KiB suffice for thousands of actors, none of them deep. Guard pages would make each stack a mapping
    // of its own, and a process may have only 65530.
    sg::Engine::set_config("contexts/stack-size:64");
    sg::Engine::set_config("contexts/guard-size:0");

    std::vector<Place> places;
    for (const Process& process : graph.processes()) places.push_back(process.place);
    // Also never destroyed: if iterations are found to repeat, actors still wait on objects that these own.
    static Wires* const wires = new Wires(cluster, places, channels(graph), options.contention);
    static Session* const session = new Session(*wires, graph, options);
    static auto* const actors = new std::vector<std::unique_ptr<StreamActor>>;
    for (StreamId stream = 0; stream < graph.streams().size(); ++stream) {
        actors->push_back(std::make_unique<StreamActor>(*session, stream));
        sg::Host* host = wires->host(graph.streams()[stream].process, 0);
        sg::Actor::create("stream", host, [actor = actors->back().get()] { actor->run(); });
    }
    // Thrown here, before SimGrid ends the deadlocked actors.
    sg::Engine::on_deadlock_cb([&cluster] {
        // A platform in SimGrid's format may have links that fail over time.
        if (cluster.native)
            throw ReplayError("deadlock: no event is pending; do links of the platform fail?" + session->stuck());
        // The transport's window may hold back a message that another rank waits for.
        if (cluster.transport.window > 0)
            throw ReplayError("deadlock: no event is pending; is the transport's window too small?" + session->stuck());
        throw std::logic_error("deadlock: no event is pending; these streams wait for each other" + session->stuck());
    });
    try {
        engine->run();
    } catch (const AllKnown&) {
    }
    for (const auto& actor : *actors) actor->report_bytes();
    session->finish();
    return std::move(session->timeline);
}

}  // namespace syncline
