#include "sim/iteration/forecast.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "sim/collective/parameter_server.hpp"
#include "sim/iteration/exchange.hpp"
#include "sim/iteration/pass_times.hpp"
#include "sim/lowering/gradient_sync.hpp"
#include "sim/lowering/input_load.hpp"
#include "sim/lowering/offload.hpp"
#include "sim/lowering/pipeline.hpp"
#include "sim/taskgraph/ticks.hpp"

namespace syncline {

namespace {

/// The passes of all stages, one after the other.
class Timetable {
public:
    /// `pipeline` has the number of microbatches that follow each other without a barrier.
    Timetable(const Lowered& training, const Pipeline& pipeline, Prices& prices,
              const std::vector<VirtualStageTime>& virtual_stages)
        : training_(training),
          virtual_stages_(virtual_stages),
          micro_batches_(static_cast<std::uint32_t>(pipeline.micro_batches)),
          pipeline_(pipeline),
          blocks_(pipeline.stages > 1 && pipeline.blocks()) {
        const std::uint32_t ranks = training.arrangement.stage_ranks;
        for (std::size_t virtual_stage = 0; virtual_stage + 1 < virtual_stages.size(); ++virtual_stage) {
            const auto number = static_cast<std::uint32_t>(virtual_stage);
            const std::uint32_t stage = pipeline.stage_of(number), next = pipeline.stage_of(number + 1);
            const Boundary& boundary = training.arrangement.boundaries[virtual_stage];
            const double sent_s =
                stage == next ? 0 : prices.transfer_s({stage * ranks, ranks}, next * ranks, boundary.bytes);
            const auto gathered_s = [&](const std::optional<ActivationExchange>& one, std::uint32_t by) {
                if (!one || stage == next) return 0.0;
                return prices.exchange_s({by * ranks, ranks}, one->groups, *one->algorithm, one->spec,
                                         one->bytes.front());
            };
            transfers_.push_back(
                {sent_s, gathered_s(boundary.activations, next), gathered_s(boundary.gradients, stage)});
        }
        for (auto* data : {&forward_s_, &backward_s_})
            data->assign(virtual_stages.size() * micro_batches_, std::nan(""));
        rows_.resize(training.arrangement.stages);
        each_ready(pipeline, [&](std::uint32_t stage, std::span<const Slot> passes) {
            return passes.size() == 1 ? advance(stage, passes.front()) : advance(stage, passes);
        });
    }

    double start_s(std::uint32_t stage) const { return rows_[stage].start_s; }
    /// Returns the end of the stage's passes.
    double end_s(std::uint32_t stage) const { return std::max(rows_[stage].computed_s, rows_[stage].quiet_s); }
    /// Returns the time at which a layer's gradients are complete.
    double gradients_s(std::uint32_t layer) const {
        const PlacedLayer& placed = training_.arrangement.layers[layer];
        const double end_s = last_backward_s_.at(placed.virtual_stage);
        return end_s - virtual_stages_[placed.virtual_stage]
                           .gradients_left[layer - training_.arrangement.first_layer[placed.virtual_stage]];
    }

private:
    struct Row {
        double computed_s = 0, quiet_s = 0;
        double start_s = std::nan("");  ///< of the first pass
        double sent_s = 0;              ///< end of the transfer that the next pass waits for
    };

    /// Times of a passage to another stage: of the transfer, and of what the receivers gather, forward and backward.
    struct Transfer {
        double sent_s = 0, activations_s = 0, gradients_s = 0;
    };

    std::size_t at(std::size_t virtual_stage, std::uint32_t micro_batch) const {
        return virtual_stage * micro_batches_ + micro_batch;
    }

    /// Runs a pass. Returns false if it lacks its data.
    bool advance(std::uint32_t stage, const Slot& slot) {
        Row& row = rows_[stage];
        const std::size_t virtual_stage = pipeline_.virtual_stage_of(slot.virtual_rank, stage);
        const double arrival_s = arrival(virtual_stage, slot);
        if (std::isnan(arrival_s)) return false;
        const PassTime& pass = virtual_stages_[virtual_stage].of(slot);
        double start_s = std::max({arrival_s, row.computed_s, row.sent_s});
        if (pass.exchanges_first) start_s = std::max(start_s, row.quiet_s);
        if (std::isnan(row.start_s)) row.start_s = start_s;
        row.computed_s = start_s + pass.computed_s;
        if (pass.quiet_s > 0) row.quiet_s = std::max(row.quiet_s, start_s + pass.quiet_s);
        if (slot.gradients != Gradients::weights)
            (slot.forward ? forward_s_ : backward_s_)[at(virtual_stage, slot.micro_batch)] = start_s + pass.data_s;
        row.sent_s = blocks_ ? start_s + pass.data_s + sent_s(virtual_stage, slot) : 0;
        if (slot.releases()) {
            last_backward_s_.resize(virtual_stages_.size());
            last_backward_s_[virtual_stage] = start_s + std::max(pass.data_s, pass.computed_s);
        }
        return true;
    }

    /// Runs a forward and a backward pass together, whose exchanges overlap with the computation of the other. Returns
    /// false if one lacks its data.
    bool advance(std::uint32_t stage, std::span<const Slot> pair) {
        Row& row = rows_[stage];
        double start_s = std::max(row.computed_s, row.sent_s), busy_s = 0, wire_s = 0, longest_s = 0;
        for (const Slot& slot : pair) {
            const std::size_t virtual_stage = pipeline_.virtual_stage_of(slot.virtual_rank, stage);
            const double arrival_s = arrival(virtual_stage, slot);
            if (std::isnan(arrival_s)) return false;
            const PassTime& pass = virtual_stages_[virtual_stage].of(slot);
            start_s = std::max(start_s, arrival_s);
            busy_s += pass.busy_s;
            wire_s += pass.wire_s;
            longest_s = std::max({longest_s, pass.computed_s, pass.data_s});
        }
        if (std::isnan(row.start_s)) row.start_s = start_s;
        const double end_s = start_s + std::max({busy_s, wire_s, longest_s});
        row.computed_s = end_s;
        row.sent_s = 0;
        if (wire_s > 0) row.quiet_s = std::max(row.quiet_s, end_s);
        for (const Slot& slot : pair) {
            const std::size_t virtual_stage = pipeline_.virtual_stage_of(slot.virtual_rank, stage);
            (slot.forward ? forward_s_ : backward_s_)[at(virtual_stage, slot.micro_batch)] = end_s;
            if (blocks_) row.sent_s = std::max(row.sent_s, end_s + sent_s(virtual_stage, slot));
            if (!slot.releases()) continue;
            last_backward_s_.resize(virtual_stages_.size());
            last_backward_s_[virtual_stage] = end_s;
        }
        return true;
    }

    /// Returns the time at which the data of a pass arrives; NaN if that is not known yet.
    double arrival(std::size_t virtual_stage, const Slot& slot) const {
        if (slot.gradients == Gradients::weights) return 0;
        if (slot.forward) {
            if (virtual_stage == 0) return 0;
            const Transfer& from = transfers_[virtual_stage - 1];
            return forward_s_[at(virtual_stage - 1, slot.micro_batch)] + from.sent_s + from.activations_s;
        }
        if (virtual_stage + 1 == virtual_stages_.size()) return forward_s_[at(virtual_stage, slot.micro_batch)];
        return backward_s_[at(virtual_stage + 1, slot.micro_batch)] + transfers_[virtual_stage].sent_s +
               transfers_[virtual_stage].gradients_s;
    }

    /// Returns the time in which a pass's results are sent, if there is a transfer.
    double sent_s(std::size_t virtual_stage, const Slot& slot) const {
        if (slot.gradients == Gradients::weights) return 0;
        if (slot.forward) return virtual_stage + 1 == virtual_stages_.size() ? 0 : transfers_[virtual_stage].sent_s;
        return virtual_stage == 0 ? 0 : transfers_[virtual_stage - 1].sent_s;
    }

    const Lowered& training_;
    const std::vector<VirtualStageTime>& virtual_stages_;
    const std::uint32_t micro_batches_;
    const Pipeline pipeline_;
    const bool blocks_;
    std::vector<Transfer> transfers_;             ///< after each virtual stage
    std::vector<double> forward_s_, backward_s_;  ///< by virtual stage and microbatch: the result can leave
    std::vector<double> last_backward_s_;         ///< by virtual stage
    std::vector<Row> rows_;                       ///< by stage
};

/// Returns the end of the copies of a stage's gradients to the host, which leave when they are reduced, by bucket.
double copies_end(const Lowered& training, const Timetable& passes, const std::vector<double>& reduced_s,
                  std::uint32_t stage) {
    const double copy_Bps = host_copy_rate(training, stage);
    double end_s = 0;
    for (const OffloadedGradients& gradients : offloaded_gradients(training, stage)) {
        const double ready_s = gradients.exchanged ? reduced_s[gradients.bucket] : passes.gradients_s(gradients.layer);
        end_s = std::max(end_s, ready_s) + gradients.bytes / copy_Bps;
    }
    return end_s;
}

/// Returns the price of a bucket's exchange, in all groups of its stage.
double price(const Lowered& training, Prices& prices, std::uint32_t stage, const BucketExchange& exchange) {
    const std::uint32_t ranks = training.arrangement.stage_ranks;
    const Chosen& chosen = exchange.chosen;
    return prices.exchange_s({stage * ranks, ranks}, exchange.among, *chosen.algorithm, chosen.spec, exchange.bytes,
                             chosen.protocol);
}

/// The exchanges of gradients on a stage.
struct Reductions {
    double end_s = 0, shards_s = 0;  ///< the last of the buckets, decoded, and of their shards
    std::vector<double> reduced_s;   ///< by bucket

    double last_s() const { return std::max(end_s, shards_s); }
};

/// Returns the time after which a bucket may leave.
double release_of(const Lowered& training, const Timetable& passes, const Bucket& bucket) {
    const Plan& plan = training.plan;
    const double ready_s =
        plan.overlap == Overlap::none ? passes.end_s(bucket.stage) : passes.gradients_s(bucket.layers.back());
    const double tick_s = plan.fusion.tick_s();
    if (tick_s == 0) return ready_s;
    const double copy_s = plan.input_copy == InputCopy::blocking ? training.input_copy_s : 0;
    return next_tick(copy_s + ready_s, tick_s) - copy_s;
}

/// Returns those of the microbatches that follow each other without a barrier.
Reductions reduction_of(const Lowered& training, Prices& prices, const Timetable& passes, std::uint32_t stage) {
    const Plan& plan = training.plan;
    const std::vector<Bucket>& buckets = training.buckets;
    // Rank 0 of each group gathers requests, and answers them.
    const Push push;
    const Pull pull;
    const auto requests = [&](const Grouping& groups, std::uint64_t bytes) {
        const StageRanks members{stage * training.arrangement.stage_ranks, training.arrangement.stage_ranks};
        if (bytes == 0) return 0.0;
        return prices.exchange_s(members, groups, push, {.operation = "push", .name = "push"}, bytes) +
               prices.exchange_s(members, groups, pull, {.operation = "pull", .name = "pull"}, bytes);
    };
    const auto own = [&](const Bucket& bucket) { return bucket.stage == stage; };
    const auto first = std::ranges::find_if(buckets, own);
    const std::span<const Bucket> run(first, std::find_if_not(first, buckets.end(), own));
    const Coordination agreed = coordinate(run, plan);
    Reductions result;
    double &end_s = result.end_s, &shards_s = result.shards_s;
    double computed_s = passes.end_s(stage);
    result.reduced_s.resize(buckets.size());
    for (std::size_t i = 0; i < run.size(); ++i) {
        const Bucket& bucket = run[i];
        const std::size_t b = static_cast<std::size_t>(first - buckets.begin()) + i;
        const double requests_s = agreed.request_bytes.empty() ? 0 : requests(bucket.replicas, agreed.request_bytes[i]);
        if (agreed.ahead) end_s += requests_s;
        end_s = std::max(end_s, release_of(training, passes, bucket)) + (agreed.ahead ? 0 : requests_s);
        for (const BucketExchange& exchange : training.reductions[b]) {
            if (exchange.apart) shards_s = std::max(shards_s, end_s);
            double& stream_s = exchange.apart ? shards_s : end_s;
            stream_s += exchange.before_s + price(training, prices, stage, exchange);
            result.reduced_s[b] = stream_s;
        }
        if (plan.compression.any()) computed_s = std::max(computed_s, end_s) + bucket.decode_s;
    }
    end_s = std::max(end_s, computed_s);
    return result;
}

/// Returns the end of a stage's exchanges of gradients and weights.
double exchanges_end(const Lowered& training, Prices& prices, const Timetable& passes, const Reductions& reduction,
                     std::uint32_t stage) {
    const Plan& plan = training.plan;
    const std::vector<double>& reduced_s = reduction.reduced_s;
    double end_s = reduction.end_s;
    // Shards are gathered one by one, unless a step updates all together.
    if (plan.offload == Offload::gradients) end_s = std::max(end_s, copies_end(training, passes, reduced_s, stage));
    const double step_s = training.steps[stage].total_s();
    if (step_s > 0) end_s = std::max(end_s, reduction.shards_s) + step_s;
    double gathered_s = 0;
    for (std::size_t b = 0; b < training.gatherings.size(); ++b) {
        if (training.buckets[b].stage != stage) continue;
        gathered_s = price(training, prices, stage, training.gatherings[b]);
        if (plan.parallelism.gather == Gather::after_update) end_s = std::max(end_s, reduced_s[b]) + gathered_s;
    }
    // Before the forward pass only the lowest layers' weights are waited for, unless computation is shorter.
    if (plan.parallelism.gather == Gather::before_forward && stage == 0) end_s += gathered_s;
    return std::max(end_s, reduction.shards_s);
}

double bound(const Lowered& training, const std::vector<VirtualStageTime>& virtual_stages) {
    if (training.iterations_differ()) return 0;
    constexpr double rounding = 1e-9;
    const Arrangement& arrangement = training.arrangement;
    double least_s = 0, before_s = 0;
    // Where microbatches turn, nothing is known of what the stages before compute last.
    for (std::uint32_t stage = 0; stage < arrangement.stages; ++stage) {
        double own_s = 0;
        for (std::uint32_t rank = 0; rank < arrangement.virtual_stages; ++rank)
            own_s += virtual_stages[arrangement.pipeline.virtual_stage_of(rank, stage)].compute_s;
        own_s *= arrangement.micro_batches;
        if (arrangement.pipeline.turns()) {
            least_s = std::max(least_s, own_s);
            continue;
        }
        // Nobody waits for what zb-h1 computes last, or for gradients of weights beside those of inputs that leave.
        const double last_s = std::min(stage, arrangement.micro_batches) * virtual_stages[stage].later_compute_s +
                              virtual_stages[stage].trailing_s;
        least_s = std::max({least_s, own_s, own_s - last_s + before_s});
        before_s +=
            virtual_stages[stage].compute_s - virtual_stages[stage].later_compute_s - virtual_stages[stage].trailing_s;
    }
    return least_s * (1 - rounding);
}

}  // namespace

Forecast forecast(const Lowered& training, Prices& prices) {
    const std::vector<VirtualStageTime> virtual_stages = virtual_stage_times(training, prices);
    const std::uint32_t syncs = gradient_syncs(training.plan, training.arrangement);
    Pipeline pipeline = training.plan.parallelism.pipeline;
    pipeline.micro_batches /= syncs;
    const Timetable passes(training, pipeline, prices, virtual_stages);
    double time_s = 0;
    for (std::uint32_t stage = 0; stage < training.arrangement.stages; ++stage) {
        const Reductions reduced = reduction_of(training, prices, passes, stage);
        const double before_s = (syncs - 1) * reduced.last_s();  // the microbatches before the last
        const double end_s =
            before_s + std::max(passes.end_s(stage), exchanges_end(training, prices, passes, reduced, stage));
        // The next iteration starts on the first stage, and reaches the others as this one did.
        time_s = std::max(time_s, end_s - (training.plan.iterations == 1 ? 0 : passes.start_s(stage)));
    }
    const double copy_s = training.input_copy_s;
    time_s = training.plan.input_copy == InputCopy::blocking ? time_s + copy_s : std::max(time_s, copy_s);
    time_s = with_input_load(training, time_s);
    return {time_s, bound(training, virtual_stages)};
}

}  // namespace syncline
