#include "sim/replay/stream_actor.hpp"

#include <fmt/format.h>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>

#include <algorithm>

namespace syncline {

namespace sg = simgrid::s4u;

void StreamActor::run() {
    const TaskGraph& graph = session_.graph;
    for (iteration_ = 0; iteration_ < session_.iterations; ++iteration_) {
        for (const TaskId id : graph.tasks_of(stream_)) {
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
    for (std::uint32_t i = 0; i < program.steps.size(); ++i) {
        const Step& step = program.steps[i];
        out_.clear();
        in_.clear();
        for (const Message& message : step.sends)
            out_.push_back({&peer(exchange, group[message.peer], true), message.block, message.count});
        for (const Message& message : step.receives)
            in_.push_back({&peer(exchange, group[message.peer], false), message.block, message.count});
        run_step(step, i, program.partition, exchange);
    }
}

void StreamActor::run_step(const Step& step, std::uint32_t number, const Partition& partition,
                           const Exchange& exchange) {
    static char token;  // a message carries nothing, but SimGrid wants an address
    void* received = nullptr;
    const bool measured = session_.measures(iteration_);
    for (std::uint32_t repetition = 0; repetition < step.repeat; ++repetition) {
        session_.at_step(stream_, number, repetition);
        const auto bytes_of = [&](const Port& port) {
            return partition.size(shifted(port.block, step, repetition, partition.blocks), port.count);
        };
        std::uint64_t reduced = 0;
        pending_.clear();
        for (const Port& port : out_) {
            const std::uint64_t bytes = bytes_of(port);
            pending_.push_back(port.peer->mailbox->put_async(&token, port.peer->weightless ? 0 : bytes));
            if (measured) port.peer->bytes += bytes;
        }
        for (const Port& port : in_) {
            pending_.push_back(port.peer->mailbox->get_async<void>(&received));
            reduced += bytes_of(port);
        }
        for (const sg::CommPtr& comm : pending_) comm->wait();
        session_.sent(iteration_, out_.size());

        double rest_s = rest_of_latency();
        if (step.reduce) rest_s += static_cast<double>(reduced) * exchange.gamma_s_per_B;
        if (rest_s > 0) sg::this_actor::sleep_for(rest_s);
    }
}

double StreamActor::rest_of_latency() const {
    const double now_s = sg::Engine::get_clock();
    double rest_s = 0;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
        const Port& port = i < out_.size() ? out_[i] : in_[i - out_.size()];
        const double latency_s = port.peer->latency_s;
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
