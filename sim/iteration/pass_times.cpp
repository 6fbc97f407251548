#include "sim/iteration/pass_times.hpp"

#include <algorithm>
#include <utility>

#include "sim/lowering/gradient_sync.hpp"

namespace syncline {

namespace {

/// The clocks of a rank during a pass.
class Clocks {
public:
    /// `fresh`: no pass on the same stage precedes it, during which its first weights could be gathered.
    Clocks(Prices& prices, StageRanks stage, bool fresh) : prices_(prices), stage_(stage), gathers_(fresh) {}

    /// Runs a pass. `completed` gets, by layer, the time at which the gradients of its weights are complete.
    PassTime run(const PassProgram& pass, std::vector<double>& completed) {
        ends_s_.reserve(pass.operations.size());
        for (const Operation& operation : pass.operations) {
            const double end_s = end_of(operation);
            ends_s_.push_back(end_s);
            for (std::uint32_t layer = operation.completes.first; layer < operation.completes.end; ++layer)
                completed[layer] = end_s;
        }
        const auto first = std::ranges::find_if(pass.operations, [](const Operation& operation) {
            return operation.kind == Operation::Kind::compute || operation.kind == Operation::Kind::exchange;
        });
        const bool exchanges_first = first != pass.operations.end() && first->kind == Operation::Kind::exchange;
        // In the passes before and after this one, the stream of weights is as busy.
        return {at(pass.output), std::max(computed_s_, gathering_s_), quiet_s_, exchanges_first, compute_s_, wire_s_};
    }

    double compute_s() const { return compute_s_; }

    /// Returns the time of computations that the pass's result does not wait for, or less.
    static double trailing_s(const PassProgram& pass) {
        Operation::Number last = pass.output;
        const auto of = [&](Operation::Number number) -> const Operation& {
            return pass.operations[static_cast<std::size_t>(number)];
        };
        while (last >= 0 && of(last).kind != Operation::Kind::compute) last = of(last).after;
        double seconds = 0;
        for (auto number = last + 1; last >= 0 && number < static_cast<Operation::Number>(pass.operations.size());
             ++number)
            if (of(number).kind == Operation::Kind::compute) seconds += of(number).seconds;
        return seconds;
    }

private:
    double at(Operation::Number number) const { return number < 0 ? 0 : ends_s_[static_cast<std::size_t>(number)]; }

    double end_of(const Operation& operation) {
        if (operation.kind == Operation::Kind::unit) {
            gathers_ = gathers_ || begun_;
            begun_ = true;
            unit_before_s_ = std::exchange(unit_s_, computed_s_);
            return 0;
        }
        if (operation.kind == Operation::Kind::gather) {
            const double price_s = price_of(operation);
            gathering_s_ += price_s;
            // Those of the first unit are gathered during the pass before.
            if (gathers_) gathered_s_ = std::max(gathered_s_, unit_before_s_) + price_s;
            return gathered_s_;
        }
        double& stream_s = operation.kind == Operation::Kind::compute ? computed_s_ : quiet_s_;
        const bool synchronous = operation.exchange && operation.exchange->synchronous;
        const double issued_s = synchronous ? computed_s_ : 0;
        const double start_s = std::max({stream_s, issued_s, at(operation.after), at(operation.also)});
        if (operation.kind == Operation::Kind::compute) compute_s_ += operation.seconds;
        if (operation.kind == Operation::Kind::compute) return stream_s = start_s + operation.seconds;
        const double price_s = price_of(operation);
        wire_s_ += price_s;
        return stream_s = start_s + price_s;
    }

    double price_of(const Operation& operation) {
        const ActivationExchange& exchange = *operation.exchange;
        const std::uint64_t bytes = prices_.decisive(exchange.bytes);
        // Neighbours of a halo send each other one message.
        return prices_.exchange_s(stage_, exchange.groups, *exchange.algorithm, exchange.spec, bytes,
                                  exchange.protocol);
    }

    Prices& prices_;
    const StageRanks stage_;
    std::vector<double> ends_s_;  ///< by operation
    double computed_s_ = 0, quiet_s_ = 0, gathered_s_ = 0, gathering_s_ = 0, compute_s_ = 0, wire_s_ = 0;
    double unit_s_ = 0, unit_before_s_ = 0;  ///< the device is free for the current unit, and for the one before it
    bool gathers_;                           ///< the current unit during this pass
    bool begun_ = false;                     ///< a unit
};

VirtualStageTime virtual_stage_time(const Lowered& training, Prices& prices, const VirtualStagePasses& passes,
                                    std::uint32_t part) {
    const Arrangement& arrangement = training.arrangement;
    const std::uint32_t first = arrangement.first_layer[part], end = arrangement.first_layer[part + 1];
    const StageRanks stage{arrangement.stage_of(part) * arrangement.stage_ranks, arrangement.stage_ranks};
    const bool fresh = part == 0 && gradient_syncs(training.plan, arrangement) == arrangement.micro_batches;
    std::vector<double> completed_s(arrangement.layers.size(), 0);
    Clocks forward(prices, stage, fresh), backward(prices, stage, false), later(prices, stage, false);
    VirtualStageTime result;
    result.forward = forward.run(passes.forward, completed_s);
    result.backward = backward.run(passes.backward, completed_s);
    result.later = later.run(passes.later, completed_s);
    if (!passes.whole.operations.empty()) {
        std::vector<double> others_s = completed_s;
        result.whole = Clocks(prices, stage, false).run(passes.whole, others_s);
    }
    result.compute_s = forward.compute_s() + backward.compute_s() + later.compute_s();
    result.later_compute_s = later.compute_s();
    result.trailing_s = Clocks::trailing_s(passes.backward);
    const PassTime& last = passes.later.operations.empty() ? result.backward : result.later;
    const double all_s = std::max(last.data_s, last.computed_s);
    for (std::uint32_t layer = first; layer < end; ++layer) result.gradients_left.push_back(all_s - completed_s[layer]);
    return result;
}

}  // namespace

std::vector<VirtualStageTime> virtual_stage_times(const Lowered& training, Prices& prices) {
    const std::vector<VirtualStagePasses> passes = passes_of(training);
    std::vector<VirtualStageTime> result;
    for (std::uint32_t part = 0; part < passes.size(); ++part)
        result.push_back(virtual_stage_time(training, prices, passes[part], part));
    return result;
}

}  // namespace syncline
