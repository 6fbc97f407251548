#include "sim/replay/stream_actor.hpp"

#include <fmt/format.h>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>

#include <cmath>

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
}

void StreamActor::run_exchange(const Task& task) {
    const Exchange& exchange = session_.graph.exchange(task.exchange);
    const std::span<const ProcessId> group = session_.graph.group(exchange.group);
    const auto members = static_cast<std::uint32_t>(group.size());
    const Program program = exchange.algorithm->program(task.member, members, exchange.bytes);
    const ProcessId self = group[task.member];
    const auto port = [&](const Message& message, ProcessId from, ProcessId to) {
        return Port{mailbox(exchange, from, to), message.block, weightless(from, to)};
    };
    for (const Step& step : program.steps) {
        out_.clear();
        in_.clear();
        for (const Message& message : step.sends) out_.push_back(port(message, self, group[message.peer]));
        for (const Message& message : step.receives) in_.push_back(port(message, group[message.peer], self));
        run_step(step, program.partition, exchange);
    }
}

void StreamActor::run_step(const Step& step, const Partition& partition, const Exchange& exchange) {
    static char token;  // a message carries nothing, but SimGrid wants an address
    void* received = nullptr;
    for (std::uint32_t repetition = 0; repetition < step.repeat; ++repetition) {
        std::uint64_t sent = 0;
        pending_.clear();
        for (const Port& port : out_) {
            const std::uint64_t bytes = partition.size(shifted(port.block, step, repetition, partition.blocks));
            pending_.push_back(port.mailbox->put_async(&token, port.weightless ? 0 : bytes));
            sent += bytes;
        }
        for (const Port& port : in_) pending_.push_back(port.mailbox->get_async<void>(&received));
        for (const sg::CommPtr& comm : pending_) comm->wait();
        session_.sent(iteration_, out_.size(), sent);

        if (!step.reduce || exchange.gamma_s_per_B == 0) continue;
        std::uint64_t reduced = 0;
        for (const Port& port : in_) {
            reduced += partition.size(shifted(port.block, step, repetition, partition.blocks));
        }
        if (reduced > 0) sg::this_actor::sleep_for(static_cast<double>(reduced) * exchange.gamma_s_per_B);
    }
}

bool StreamActor::weightless(ProcessId from, ProcessId to) const {
    const auto& processes = session_.graph.processes();
    const bool within_node = processes[from].node == processes[to].node;
    return session_.cluster.network == NetworkModel::Constant ||
           (within_node && std::isinf(session_.cluster.host.loopback_Bps));
}

sg::Mailbox* StreamActor::mailbox(const Exchange& exchange, ProcessId from, ProcessId to) {
    const ProcessId self = session_.graph.streams()[stream_].process;
    const std::uint64_t peer = from == self ? to : from;
    const std::uint64_t key = (std::uint64_t{exchange.channel} << 33) | (peer << 1) | (from == self ? 1 : 0);
    sg::Mailbox*& found = mailboxes_[key];
    if (found == nullptr) found = sg::Mailbox::by_name(fmt::format("{}:{}:{}", exchange.channel, from, to));
    return found;
}

}  // namespace syncline
