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

/// How many there are, from 0 on.
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
    // SimGrid reports what it changes in its settings; that is ours to say, not its.
    std::string quiet = "--log=root.thres:critical";
    std::vector<char*> arguments{program.data(), quiet.data(), nullptr};
    int count = 2;
    // Never destroyed: that would unwind the stack of every actor that is left, to no one's use, as a process runs one
    // simulation and ends.
    static sg::Engine* const engine = new sg::Engine(&count, arguments.data());
    configure_network(cluster);
    // Thousands of actors, none of them deep: 64 KiB each, without the guard page that would make each stack a mapping
    // of its own, of which a process may have 65530.
    sg::Engine::set_config("contexts/stack-size:64");
    sg::Engine::set_config("contexts/guard-size:0");

    std::vector<Place> places;
    for (const Process& process : graph.processes()) places.push_back(process.place);
    // Neither are these: where iterations are found to repeat, actors still wait on what they hold.
    static Wires* const wires = new Wires(cluster, places, channels(graph), options.contention);
    static Session* const session = new Session(*wires, graph, options);
    static auto* const actors = new std::vector<std::unique_ptr<StreamActor>>;
    for (StreamId stream = 0; stream < graph.streams().size(); ++stream) {
        actors->push_back(std::make_unique<StreamActor>(*session, stream));
        sg::Host* host = wires->host(graph.streams()[stream].process, 0);
        sg::Actor::create("stream", host, [actor = actors->back().get()] { actor->run(); });
    }
    // Thrown here, before SimGrid ends the actors that wait for each other.
    sg::Engine::on_deadlock_cb([&cluster] {
        // A platform of the user's may have links that fail in the course of time.
        if (cluster.native)
            throw ReplayError("deadlock: no event is pending; do links of the platform fail?" + session->stuck());
        // Or its transport a window that holds back what another rank waits for.
        if (cluster.transport.window > 0)
            throw ReplayError("deadlock: no event is pending; is the transport's window too small?" + session->stuck());
        throw std::logic_error("deadlock: these streams wait for each other" + session->stuck());
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
