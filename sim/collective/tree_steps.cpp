#include "sim/collective/tree_steps.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace syncline {

namespace {

/// Appends the steps of `hops` from `first` on, before `end`; steps without a message are left out.
void unroll(Program& program, const std::vector<Hop>& hops, const TreeSchedule& schedule, bool reduce,
            std::int64_t first, std::int64_t end) {
    struct Due {
        std::int64_t step;
        const Hop* hop;
        std::uint32_t segment;
    };
    std::vector<Due> due;
    const std::int64_t period = schedule.period;
    for (const Hop& hop : hops) {
        std::int64_t segment = std::max<std::int64_t>(0, (first - hop.step + period - 1) / period);
        for (; segment < schedule.segments && hop.step + period * segment < end; ++segment)
            due.push_back({hop.step + period * segment, &hop, static_cast<std::uint32_t>(segment)});
    }
    std::stable_sort(due.begin(), due.end(), [](const Due& a, const Due& b) { return a.step < b.step; });
    for (std::size_t i = 0; i < due.size(); ++i) {
        if (i == 0 || due[i].step != due[i - 1].step) program.steps.push_back({{}, {}, reduce});
        const auto& [number, hop, segment] = due[i];
        (hop->sends ? program.steps.back().sends : program.steps.back().receives)
            .push_back({hop->peer, hop->block + segment});
    }
}

/// Adds all steps. Between the first and the last ones, the same `period` steps repeat.
void add_hops(Program& program, const std::vector<Hop>& hops, const TreeSchedule& schedule, bool reduce) {
    if (hops.empty()) return;
    const auto [earliest, latest] =
        std::minmax_element(hops.begin(), hops.end(), [](const Hop& a, const Hop& b) { return a.step < b.step; });
    const std::int64_t period = schedule.period, first = earliest->step;
    const std::int64_t end = latest->step + period * (std::int64_t{schedule.segments} - 1) + 1;
    // The first period in which every hop has a segment, and the number of segments that the earliest is ahead there.
    const std::int64_t full = std::max(first, latest->step - period + 1);
    const std::int64_t ahead = (full - first + period - 1) / period;
    const std::int64_t repeats = schedule.segments - ahead;
    if (repeats < 2) return unroll(program, hops, schedule, reduce, first, end);
    unroll(program, hops, schedule, reduce, first, full);
    const std::size_t head = program.steps.size();
    unroll(program, hops, schedule, reduce, full, full + period);
    program.steps[head].body = static_cast<std::uint32_t>(program.steps.size() - head);
    for (std::size_t i = head; i < program.steps.size(); ++i) {
        Step& step = program.steps[i];
        step.repeat = static_cast<std::uint32_t>(repeats);
        for (Message& message : step.sends) message.shift = 1;
        for (Message& message : step.receives) message.shift = 1;
    }
    unroll(program, hops, schedule, reduce, full + repeats * period, end);
}

}  // namespace

TreeOperation tree_operation(const AlgorithmSpec& spec) {
    if (spec.operation == "broadcast") return TreeOperation::broadcast;
    if (spec.operation == "reduce") return TreeOperation::reduce;
    if (spec.operation == "allreduce") return TreeOperation::allreduce;
    throw std::logic_error("there is no tree for " + spec.operation);
}

Program tree_program(TreeOperation operation, const Partition& partition, const std::vector<Hop>& hops,
                     const TreeSchedule& schedule) {
    Program program{partition, {}};
    if (operation != TreeOperation::broadcast) {
        std::vector<Hop> back = hops;
        for (Hop& hop : back) {
            hop.step = schedule.last + 1 - hop.step;
            hop.sends = !hop.sends;
        }
        add_hops(program, back, schedule, true);
    }
    if (operation != TreeOperation::reduce) add_hops(program, hops, schedule, false);
    return program;
}

double tree_cost(TreeOperation operation, double steps, double bytes, const MessageCost& message) {
    const double transfer = message.alpha_s + bytes * message.beta_s_per_B;
    const double up = operation == TreeOperation::broadcast ? 0 : transfer + bytes * message.gamma_s_per_B;
    const double down = operation == TreeOperation::reduce ? 0 : transfer;
    return steps * (up + down);
}

std::string tree_formula(TreeOperation operation, const std::string& steps, const std::string& size) {
    switch (operation) {
        case TreeOperation::broadcast:
            return fmt::format("{}(α + {}β)", steps, size);
        case TreeOperation::reduce:
            return fmt::format("{}(α + {}β + {}γ)", steps, size, size);
        default:
            return fmt::format("{}(2α + 2{}β + {}γ)", steps, size, size);
    }
}

}  // namespace syncline
