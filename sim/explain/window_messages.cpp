#include "sim/explain/window_messages.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "sim/replay/lanes.hpp"

namespace syncline {

namespace {

/// Data flows of executions, each computed once.
class Flows {
public:
    explicit Flows(const TaskGraph& graph) : graph_(graph) {}

    const DataFlow& of(const Exchange& exchange, std::uint32_t iteration) {
        const auto members = static_cast<std::uint32_t>(graph_.group(exchange.group).size());
        const std::uint32_t round = iteration % exchange.algorithm->period();
        std::unique_ptr<DataFlow>& flow = flows_[{exchange.algorithm.get(), members, exchange.bytes, round}];
        if (!flow) flow = std::make_unique<DataFlow>(data_flow(*exchange.algorithm, members, exchange.bytes, round));
        return *flow;
    }

private:
    const TaskGraph& graph_;
    std::map<std::tuple<const CollectiveAlgorithm*, std::uint32_t, std::uint64_t, std::uint32_t>,
             std::unique_ptr<DataFlow>>
        flows_;
};

/// Returns whether members have shares of an exchange's buffer, or add to it.
bool has_flow(Phase phase, const Exchange& exchange) {
    if (phase == Phase::communication) return exchange.kind == ExchangeClass::collective;
    return phase != Phase::transfer && phase != Phase::halo;
}

/// Returns the member that each block belongs to, if an algorithm has slices with orders of their own.
std::vector<std::uint32_t> owners_of(const CollectiveAlgorithm& algorithm, const DataFlow& flow) {
    std::vector<std::uint32_t> owners;
    const std::uint32_t each = flow.blocks / flow.slices;
    for (std::uint32_t slice = 0; slice < flow.slices && flow.blocks > 0; ++slice) {
        const std::span<const std::uint32_t> order = algorithm.order(slice);
        if (order.empty() || each % order.size() != 0) return {};
        const std::size_t share = each / order.size();
        for (std::size_t block = 0; block < each; ++block) owners.push_back(order[block / share]);
    }
    return owners;
}

class Collection {
public:
    explicit Collection(const TimelineView& view)
        : view_(view), lanes_(view.graph), flows_(view.graph), end_s_(view.window.end_s) {}

    WindowMessages collect(const MessageLimits& limits) && {
        choose(limits);
        for (const MessageRecord& record : view_.timeline.trace.messages)
            if (complete(record) && lower(record) <= all_.last) add(record);
        std::ranges::stable_sort(all_.messages, {}, [](const WindowMessage& message) {
            return std::tuple(message.record->start_s(), message.from, message.to);
        });
        if (all_.messages.size() > limits.most) {
            all_.thinned = all_.cut = true;
            all_.messages.resize(limits.most);
        }
        all_.left_out = in_window_ - all_.messages.size();
        return std::move(all_);
    }

private:
    /// A message whose other side is not in the recorded iterations has only one known end.
    static bool complete(const MessageRecord& record) {
        return record.put_s != MessageRecord::never && record.got_s != MessageRecord::never;
    }
    bool in_window(const MessageRecord& record) const {
        return record.end_s() > view_.window.start_s && record.start_s() < end_s_;
    }
    ProcessId process_of(TaskId task) const { return view_.graph.streams()[view_.graph.tasks()[task].stream].process; }
    ProcessId lower(const MessageRecord& record) const {
        return std::min(process_of(record.sender), process_of(record.receiver));
    }

    /// Calls each(record) for every message that is in flight before end_s_.
    template <class Each>
    void each_in_window(Each each) const {
        for (const MessageRecord& record : view_.timeline.trace.messages)
            if (complete(record) && in_window(record)) each(record);
    }

    /// Finds the time until which messages stay, and the last process whose messages do.
    void choose(const MessageLimits& limits) {
        each_in_window([&](const MessageRecord&) { ++in_window_; });
        const double shorter_s = view_.window.start_s + limits.first_s;
        all_.shortened = in_window_ > limits.most && shorter_s < end_s_;
        if (all_.shortened) end_s_ = shorter_s;
        std::vector<std::size_t> messages(view_.graph.processes().size(), 0);
        each_in_window([&](const MessageRecord& record) { ++messages[lower(record)]; });
        std::size_t count = 0;
        for (ProcessId process = 0; process < messages.size() && !all_.thinned; ++process) {
            all_.thinned = count > 0 && count + messages[process] > limits.most;
            if (!all_.thinned) all_.last = process;
            count += messages[process];
        }
    }

    void add(const MessageRecord& record) {
        const Task &sender = view_.graph.tasks()[record.sender], &receiver = view_.graph.tasks()[record.receiver];
        const Exchange& exchange = view_.graph.exchange(sender.exchange);
        // Messages outside the window count, too.
        const std::uint32_t number = sent_[{record.sender, record.iteration, record.sender_lane, receiver.member}]++;
        if (!in_window(record)) return;
        WindowMessage message;
        message.record = &record;
        message.from = process_of(record.sender);
        message.to = process_of(record.receiver);
        message.micro_batch = sender.micro_batch;
        const DataFlow* const flow =
            has_flow(sender.phase, exchange) ? &flows_.of(exchange, record.iteration) : nullptr;
        message.exchange = entry(sender, exchange, flow);
        if (flow != nullptr) {
            const auto sent = flow->sent(sender.member, lane_of(sender, record.sender_lane), receiver.member);
            if (number < sent.size()) put(message, sent[number], *flow);
        }
        all_.messages.push_back(std::move(message));
    }

    static void put(WindowMessage& message, const FlowMessage& sent, const DataFlow& flow) {
        message.step = sent.step;
        message.adds = sent.adds;
        if (flow.blocks == 0) return;
        message.block = sent.blocks.block;
        message.blocks = sent.blocks.count;
        message.more = sent.more;
        message.contributions = sent.contributions;
    }

    /// Returns which of the task's lanes one is.
    std::uint32_t lane_of(const Task& task, LaneId lane) const {
        if (lane == task.stream) return 0;
        const std::vector<LaneId> all = lanes_.of(task.stream);
        return static_cast<std::uint32_t>(std::ranges::find(all, lane) - all.begin());
    }

    std::uint32_t entry(const Task& task, const Exchange& exchange, const DataFlow* flow) {
        const auto [found, added] =
            entries_.try_emplace(task.exchange, static_cast<std::uint32_t>(all_.exchanges.size()));
        if (!added) return found->second;
        const auto sender = static_cast<std::size_t>(&task - view_.graph.tasks().data());
        WindowExchange& one = all_.exchanges.emplace_back();
        one.what = sender < view_.names.size() ? view_.names[sender] : "exchange";
        one.phase = task.phase;
        one.bytes = exchange.bytes;
        one.algorithm = exchange.algorithm.get();
        const std::span<const ProcessId> members = view_.graph.group(exchange.group);
        one.members.assign(members.begin(), members.end());
        if (flow == nullptr) return found->second;
        one.steps = flow->steps;
        one.blocks = flow->blocks;
        one.slices = flow->slices;
        one.owners = owners_of(*exchange.algorithm, *flow);
        return found->second;
    }

    const TimelineView& view_;
    const Lanes lanes_;
    Flows flows_;
    double end_s_;  // when the window ends, or its part whose messages stay
    std::size_t in_window_ = 0;
    std::map<std::tuple<TaskId, std::uint32_t, LaneId, std::uint32_t>, std::uint32_t> sent_;
    std::map<ExchangeId, std::uint32_t> entries_;
    WindowMessages all_;
};

}  // namespace

WindowMessages messages_in_window(const TimelineView& view, const MessageLimits& limits) {
    if (view.timeline.trace.empty()) return {};
    return Collection(view).collect(limits);
}

}  // namespace syncline
