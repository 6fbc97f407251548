#include "sim/replay/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>

#include "sim/base/units.hpp"
#include "sim/replay/engine.hpp"
#include "sim/replay/simulator.hpp"
#include "sim/replay/stream_replay.hpp"
#include "sim/replay/wires.hpp"

namespace syncline {

namespace {

Simulator* make_simulator(const Cluster& cluster, const TaskGraph& graph, const Lanes& lanes, Wires& wires,
                          const ReplayOptions& options) {
    if (!needs_simgrid(cluster, options)) return event_simulator(wires, lanes.count());
    std::vector<ProcessId> processes;
    for (const StreamId stream : lanes.streams()) processes.push_back(graph.streams()[stream].process);
    return engine().actors(wires, processes);
}

/// Returns a process in words: "rank 3", "rank 0 of job 'first'", "the server on node 2".
std::string words_of(const TaskGraph& graph, const ReplayOptions& options, ProcessId number) {
    const Process& process = graph.processes()[number];
    const bool parts = process.part < graph.parts().size();
    const std::string& job = process.part < options.parts.size() ? options.parts[process.part].name : "";
    const std::string of = job.empty() ? "" : fmt::format(" of job '{}'", job);
    if (process.place.in_fabric()) return "a switch" + of;
    if (!process.place.on_device()) return fmt::format("the server on node {}{}", process.place.node, of);
    return fmt::format("rank {}{}", number - (parts ? graph.parts()[process.part].process : 0), of);
}

/// Returns who waits for what that is down for ever, in lines; empty if nothing is.
std::string held_by_faults(const Wires& wires, const Session& session, const TaskGraph& graph,
                           const ReplayOptions& options) {
    constexpr std::size_t most = 8;
    const double now_s = session.simulator.now_s();
    const auto since = [](double down_s) { return format_quantity(down_s, Dimension::seconds); };
    std::vector<std::string> lines;
    for (ProcessId process = 0; process < graph.processes().size(); ++process) {
        if (!std::isinf(session.speeds.down_s(process, now_s))) continue;
        const Place& place = graph.processes()[process].place;
        const std::string on = place.on_device()
                                   ? fmt::format("its device, number {} of node {}", place.device, place.node)
                                   : std::string("its host");
        lines.push_back(fmt::format("{} does nothing: {}, is down from {} on", words_of(graph, options, process), on,
                                    since(session.speeds.down_since_s(process))));
    }
    for (const Simulator::Held& held : session.simulator.held()) {
        const auto rate = std::ranges::find(wires.link_rates(), held.link, &LinkRate::link);
        lines.push_back(fmt::format("{} waits for a message of {} over {}, which is down from {} on",
                                    words_of(graph, options, held.pair.to), words_of(graph, options, held.pair.from),
                                    wires.link_name(held.link), since(rate->rate.down_since_s())));
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(most, lines.size()); ++i) text += "\n  " + lines[i];
    if (lines.size() > most) text += fmt::format("\n  and {} more", lines.size() - most);
    return text;
}

}  // namespace

bool needs_simgrid(const Cluster& cluster, const ReplayOptions& options) {
    return !latency_is_ours(cluster.network) || cluster.native || options.oracle != ReplayOptions::Oracle::none;
}

Timeline replay(const Cluster& cluster, const TaskGraph& graph, const ReplayOptions& options) {
    static bool called = false;
    if (std::exchange(called, true))
        throw std::logic_error("replay() is called for the second time in a process; replay_isolated() starts its own");
    if (options.oracle != ReplayOptions::Oracle::none && latency_travels(cluster))
        throw std::logic_error("SimGrid is an oracle only for latency that blocks");
    if (needs_simgrid(cluster, options))
        engine().start({cluster.network, cluster.native.has_value(), options.oracle == ReplayOptions::Oracle::full});
    std::vector<Place> places;
    for (const Process& process : graph.processes()) places.push_back(process.place);
    // Never destroyed: if iterations are found to repeat, programs that have not ended still refer to these.
    static const Lanes* const lanes = new Lanes(graph);
    static Wires* const wires = new Wires(cluster, places, lanes->channels(), options.contention);
    const bool folds = options.fold && !options.messages && options.oracle == ReplayOptions::Oracle::none;
    static const std::optional<Symmetry>* const symmetry =
        new std::optional<Symmetry>(!folds             ? std::nullopt
                                    : options.symmetry ? std::optional(*options.symmetry)
                                                       : find_symmetry(graph, *lanes, *wires, options.average));
    const auto odd = [&](const PartReplay& part) { return part.background || part.iterations != options.iterations; };
    if (graph.parts().size() != options.parts.size() || (options.fold && std::ranges::any_of(options.parts, odd)))
        throw std::logic_error("a graph of parts is replayed part by part, and folds if all have as many iterations");
    if (graph.images() > 1 && !*symmetry) throw std::logic_error("nothing shows what the built processes stand for");
    if (*symmetry) wires->represent((*symmetry)->links(), (*symmetry)->images(), (*symmetry)->passed());
    static const Speeds* const speeds = new Speeds(cluster, places);
    static Simulator* const simulator = make_simulator(cluster, graph, *lanes, *wires, options);
    static Session* const session =
        new Session(*simulator, *wires, *speeds, graph, *lanes, *symmetry ? &**symmetry : nullptr, options);
    static auto* const streams = new std::vector<std::unique_ptr<StreamReplay>>;
    static auto* const programs = new std::vector<Coroutine<>>;
    for (StreamId stream = 0; stream < graph.streams().size(); ++stream) {
        // A stream whose process is represented computes for no time. (Clang 14 cannot compile an empty coroutine with
        // the coverage of fuzzing.)
        const bool simulated = session->simulated(graph.streams()[stream].process);
        streams->push_back(simulated ? std::make_unique<StreamReplay>(*session, stream) : nullptr);
        programs->push_back(simulated ? streams->back()->run() : session->compute(stream, 0, 0));
    }
    for (StreamId stream = 0; stream < streams->size(); ++stream) {
        if ((*streams)[stream] != nullptr)
            for (Coroutine<>& program : (*streams)[stream]->further()) programs->push_back(std::move(program));
        else
            while (programs->size() < lanes->end(stream)) programs->push_back(session->compute(stream, 0, 0));
    }
    const auto stuck = [&] {
        if (!cluster.faults.empty()) {
            const std::string held = held_by_faults(*wires, *session, graph, options);
            if (!held.empty())
                throw ReplayError(fmt::format("nothing goes on after {}, because a fault of the platform never ends:{}",
                                              format_quantity(simulator->now_s(), Dimension::seconds), held));
        }
        const std::string where = session->stuck([](StreamId stream) { return (*streams)[stream]->at(); });
        // A platform in SimGrid's format may have links that fail over time.
        if (cluster.native) throw ReplayError("deadlock: no event is pending; do links of the platform fail?" + where);
        // The transport's window may hold back a message that another rank waits for.
        if (cluster.transport.window > 0)
            throw ReplayError("deadlock: no event is pending; is the transport's window too small?" + where);
        throw std::logic_error("deadlock: no event is pending; these streams wait for each other" + where);
    };
    try {
        simulator->run(*programs, stuck);
    } catch (const AllKnown&) {
    }
    for (const auto& stream : *streams)
        if (stream != nullptr) stream->report_bytes();
    session->finish();
    if (*symmetry) session->timeline.uneven_s = (*symmetry)->spread_s();
    if (session->timeline.uneven_s > 0) session->timeline.folding_error_s = std::numeric_limits<double>::infinity();
    return std::move(session->timeline);
}

}  // namespace syncline
