#include "sim/replay/stream_actor.hpp"

#include <fmt/format.h>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>

#include <algorithm>

namespace syncline {

namespace sg = simgrid::s4u;

void StreamActor::run() {
    const TaskGraph& graph = session_.graph;
    const auto tasks = static_cast<std::uint32_t>(graph.tasks_of(stream_).size());
    for (iteration_ = 0; iteration_ < session_.iterations; ++iteration_) {
        for (std::uint32_t position = 0; position < tasks; ++position) {
            const TaskId id = session_.next(stream_, iteration_, position);
            for (const Dependency& dependency : graph.dependencies_of(id)) {
                if (!dependency.previous_iteration)
                    session_.await(stream_, dependency.on, iteration_);
                else if (iteration_ > 0)
                    session_.await(stream_, dependency.on, iteration_ - 1);
            }
            const Task& task = graph.tasks()[id];
            session_.started(id, iteration_, sg::Engine::get_clock());
            if (task.exchange != Task::no_exchange)
                run_exchange(task);
            else if (task.seconds > 0)
                sg::this_actor::sleep_for(task.seconds);
            session_.ended(id, iteration_, sg::Engine::get_clock());
        }
    }
    report_bytes();
}

void StreamActor::run_exchange(const Task& task) {
    const Exchange& exchange = session_.graph.exchange(task.exchange);
    const std::span<const ProcessId> group = session_.graph.group(exchange.group);
    const auto members = static_cast<std::uint32_t>(group.size());
    const Program program = exchange.algorithm->program(task.member, members, exchange.bytes, iteration_);
    ports_.resize(std::max(ports_.size(), program.steps.size()));
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        ports_[i].out.clear();
        ports_[i].in.clear();
        for (const Message& message : program.steps[i].sends)
            ports_[i].out.push_back(&peer(exchange, group[message.peer], true));
        for (const Message& message : program.steps[i].receives)
            ports_[i].in.push_back(&peer(exchange, group[message.peer], false));
    }
    for (Walk walk(program); !walk.done(); walk.next())
        run_step(walk, ports_[walk.number()], program.partition, exchange);
}

void StreamActor::run_step(const Walk& walk, const Ports& ports, const Partition& partition, const Exchange& exchange) {
    static char token;  // a message carries nothing, but SimGrid wants an address
    void* received = nullptr;
    const bool measured = session_.measures(iteration_);
    const Step& step = walk.step();
    session_.at_step(stream_, walk.number(), walk.repetition());
    const auto bytes_of = [&](const Message& message) {
        return message_bytes(partition, message, step, walk.repetition());
    };
    std::uint64_t reduced = 0;
    pending_.clear();
    for (std::size_t i = 0; i < ports.out.size(); ++i) {
        Peer& peer = *ports.out[i];
        const std::uint64_t bytes = bytes_of(step.sends[i]);
        pending_.push_back(peer.mailbox->put_async(&token, peer.weightless ? 0 : bytes));
        if (measured) peer.bytes += bytes;
    }
    for (std::size_t i = 0; i < ports.in.size(); ++i) {
        pending_.push_back(ports.in[i]->mailbox->get_async<void>(&received));
        if (step.reduce) reduced += bytes_of(step.receives[i]);
    }
    for (const sg::CommPtr& comm : pending_) comm->wait();
    session_.sent(iteration_, ports.out.size());

    const double rest_s = rest_of_latency(ports) + static_cast<double>(reduced) * exchange.gamma_s_per_B;
    if (rest_s > 0) sg::this_actor::sleep_for(rest_s);
}

double StreamActor::rest_of_latency(const Ports& ports) const {
    const double now_s = sg::Engine::get_clock();
    double rest_s = 0;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
        const double latency_s = (i < ports.out.size() ? ports.out[i] : ports.in[i - ports.out.size()])->latency_s;
        // One that was through before the others has had a part of its latency already.
        if (latency_s > rest_s) rest_s = std::max(rest_s, pending_[i]->get_finish_time() + latency_s - now_s);
    }
    return rest_s;
}

StreamActor::Peer& StreamActor::peer(const Exchange& exchange, ProcessId other, bool outwards) {
    const std::uint64_t key =
        (std::uint64_t{exchange.channel} << 33) | (std::uint64_t{other} << 1) | (outwards ? 1 : 0);
    Peer& found = peers_[key];
    if (found.mailbox == nullptr) {
        const ProcessId self = session_.graph.streams()[stream_].process;
        const ProcessId from = outwards ? self : other, to = outwards ? other : self;
        found.mailbox = sg::Mailbox::by_name(fmt::format("{}:{}:{}", exchange.channel, from, to));
        found.latency_s = session_.wires.latency_s(from, to);
        found.weightless = session_.wires.weightless(from, to);
    }
    return found;
}

void StreamActor::report_bytes() {
    const ProcessId self = session_.graph.streams()[stream_].process;
    for (const auto& [key, peer] : peers_) {
        const bool outwards = (key & 1) != 0;
        const auto other = static_cast<ProcessId>((key >> 1) & 0xffffffff);
        if (outwards && peer.bytes > 0) session_.carried(self, other, peer.bytes);
    }
}

}  // namespace syncline
