#include "sim/lowering/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <stdexcept>
#include <utility>

namespace syncline {

namespace {

void check(const Pipeline& pipeline, std::uint32_t stage) {
    const std::int64_t p = pipeline.stages, m = pipeline.micro_batches, v = pipeline.virtual_stages;
    const bool interleaved = pipeline.schedule == PipelineSchedule::interleaved;
    if (stage >= p || m < 1 || v < 1)
        throw std::logic_error(fmt::format("stage {} of {}, {} microbatches, {} virtual stages", stage, p, m, v));
    if (pipeline.turns() && v != 2)
        throw std::logic_error(fmt::format("{} virtual stages, but the schedule has two", v));
    if (pipeline.schedule == PipelineSchedule::dualpipe_v && m < 2 * p)
        throw std::logic_error(fmt::format("{} microbatches are fewer than twice {} stages", m, p));
    if (!interleaved && !pipeline.turns() && v > 1)
        throw std::logic_error(fmt::format("{} virtual stages, but the schedule is not interleaved", v));
    if (interleaved && m % p != 0)
        throw std::logic_error(fmt::format("{} microbatches are not a multiple of {} stages", m, p));
}

/// Counts the forward passes before the first backward pass.
std::int64_t forward_first(const Pipeline& pipeline, std::uint32_t stage) {
    const std::int64_t passes = pipeline.micro_batches * pipeline.virtual_stages;
    if (pipeline.schedule == PipelineSchedule::gpipe) return passes;
    const std::int64_t behind = pipeline.stages - 1 - stage;
    const std::int64_t warm_up =
        pipeline.virtual_stages == 1 ? behind : 2 * behind + (pipeline.virtual_stages - 1) * pipeline.stages;
    // A turn of the steady state begins with a forward pass.
    return std::min(warm_up + 1, passes);
}

/// Returns the k-th forward or backward pass of a stage: groups of as many microbatches as there are stages pass
/// through the virtual stages, one after the other. With one that is the k-th microbatch.
Slot pass(const Pipeline& pipeline, std::int64_t k, bool forward) {
    const std::int64_t p = pipeline.stages, v = pipeline.virtual_stages;
    const std::int64_t group = k / (p * v), turn = k / p % v;
    return {static_cast<std::uint32_t>(forward ? turn : v - 1 - turn), static_cast<std::uint32_t>(group * p + k % p),
            forward};
}

/// Collects the passes of a stage whose microbatches turn: of each virtual stage and kind in order.
class TurningPasses {
public:
    explicit TurningPasses(std::int64_t micro_batches) : micro_batches_(narrow_cast(micro_batches)) {}

    void forward(std::uint32_t which, bool paired = false) {
        add({which, counts_[0][which]++, true, Gradients::all, paired});
    }
    /// Adds a backward pass; without `all` the gradients of weights follow by weights().
    void backward(std::uint32_t which, bool all = false) {
        const std::uint32_t micro_batch = counts_[1][which]++;
        add({which, micro_batch, false, all ? Gradients::all : Gradients::inputs});
        if (!all) later_.push_back({which, micro_batch, false, Gradients::weights});
    }
    /// Adds the oldest gradients of weights that are left, of any virtual stage or of this one.
    void weights() { take(later_.begin()); }
    void weights(std::uint32_t which) {
        take(std::ranges::find_if(later_, [&](const Slot& slot) { return slot.virtual_rank == which; }));
    }
    std::uint32_t forwards(std::uint32_t which) const { return counts_[0][which]; }
    bool left() const { return !later_.empty(); }
    std::vector<Slot> take() { return std::move(order_); }

private:
    static std::uint32_t narrow_cast(std::int64_t number) { return static_cast<std::uint32_t>(number); }
    void take(const std::deque<Slot>::iterator& slot) {
        add(*slot);
        later_.erase(slot);
    }
    /// Leaves out microbatches that fill the stages although there are not so many.
    void add(const Slot& slot) {
        if (slot.micro_batch < micro_batches_) order_.push_back(slot);
    }

    const std::uint32_t micro_batches_;
    std::uint32_t counts_[2][2] = {};  ///< backward and forward passes, by virtual stage
    std::deque<Slot> later_;
    std::vector<Slot> order_;
};

/// PyTorch's ScheduleZBVZeroBubble, step by step.
std::vector<Slot> zero_bubble_v(std::int64_t p, std::int64_t m, std::int64_t stage) {
    TurningPasses passes(m);
    const auto all = static_cast<std::uint32_t>(std::max(2 * p - 1, m));
    const auto whole = [&](std::uint32_t which) {
        passes.backward(which);
        passes.weights(which);
    };
    for (std::int64_t i = 0; i < 2 * (p - stage) - 1; ++i) passes.forward(0);
    for (std::int64_t i = 0; i < stage; ++i) {
        passes.forward(1);
        passes.forward(0);
    }
    for (std::int64_t i = 0; i < p - stage; ++i) {
        passes.forward(1);
        whole(1);
    }
    while (passes.forwards(1) < all) {
        if (passes.forwards(0) < all) passes.forward(0);
        whole(0);
        passes.forward(1);
        whole(1);
    }
    for (std::int64_t i = 0; i < stage; ++i) {
        passes.backward(0);
        passes.backward(1);
    }
    for (std::int64_t i = 0; i < p - stage; ++i) {
        passes.backward(0);
        passes.weights(0);
    }
    for (std::int64_t i = 0; i < stage; ++i) passes.weights(1);
    while (passes.left()) passes.weights(0);
    return passes.take();
}

/// dualpipev.py of deepseek-ai/DualPipe, step by step.
std::vector<Slot> dualpipe_v(std::int64_t p, std::int64_t m, std::int64_t stage) {
    TurningPasses passes(m);
    const std::int64_t behind = p - 1 - stage;
    const auto pair = [&](std::uint32_t forward, bool together = true) {
        passes.forward(forward, together);
        passes.backward(1 - forward, true);
    };
    for (std::int64_t i = 0; i < 2 * behind; ++i) passes.forward(0);
    for (std::int64_t i = 0; i <= stage; ++i) {
        passes.forward(0);
        passes.forward(1);
    }
    for (std::int64_t i = 0; i < behind; ++i) {
        passes.backward(1);
        passes.weights();
        passes.forward(1);
    }
    for (std::int64_t i = 0; i < m - 2 * p + stage + 1; ++i) {
        pair(0, i > 0 || behind > 0);  // the first pair of the last stage is not run together
        pair(1);
    }
    for (std::int64_t i = 0; i < behind; ++i) {
        passes.backward(1, true);
        pair(1);
    }
    for (std::int64_t i = 0; i <= stage; ++i) {  // the second half computes the gradients of weights later
        const std::int64_t half = (stage + 1) / 2;
        passes.backward(1, i < half || (i == half && stage % 2 == 0));
        passes.backward(0, i < half);
    }
    for (std::int64_t i = 0; i < behind; ++i) {
        passes.weights();
        passes.backward(0);
    }
    while (passes.left()) passes.weights();
    return passes.take();
}

}  // namespace

std::vector<Slot> slots(const Pipeline& pipeline, std::uint32_t stage) {
    check(pipeline, stage);
    if (pipeline.schedule == PipelineSchedule::zero_bubble_v)
        return zero_bubble_v(pipeline.stages, pipeline.micro_batches, stage);
    if (pipeline.schedule == PipelineSchedule::dualpipe_v)
        return dualpipe_v(pipeline.stages, pipeline.micro_batches, stage);
    const std::int64_t passes = pipeline.micro_batches * pipeline.virtual_stages;
    const std::int64_t ahead = forward_first(pipeline, stage);
    const bool apart = pipeline.computes_weights_apart();
    std::vector<Slot> order;
    order.reserve(static_cast<std::size_t>((apart ? 3 : 2) * passes));
    const auto add_backward = [&](std::int64_t k, Gradients gradients) {
        order.push_back(pass(pipeline, k, false));
        order.back().gradients = gradients;
    };
    for (std::int64_t k = 0; k < ahead; ++k) order.push_back(pass(pipeline, k, true));
    for (std::int64_t k = 0; k < passes; ++k) {
        add_backward(k, apart ? Gradients::inputs : Gradients::all);
        if (apart && k >= stage) add_backward(k - stage, Gradients::weights);
        if (ahead + k < passes) order.push_back(pass(pipeline, ahead + k, true));
        // In a pair the forward pass stands first, since it holds its activations beside those of the other.
        if (pipeline.pairs && ahead + k < passes) {
            std::swap(order.back(), order[order.size() - 2]);
            order[order.size() - 2].paired = true;
        }
    }
    if (apart)
        for (std::int64_t k = std::max<std::int64_t>(0, passes - stage); k < passes; ++k)
            add_backward(k, Gradients::weights);
    return order;
}

std::uint32_t peak_passes(const Pipeline& pipeline, std::uint32_t stage) {
    std::uint32_t held = 0, peak = 0;
    for (const Slot& slot : slots(pipeline, stage)) {
        if (slot.forward) peak = std::max(peak, ++held);
        if (slot.releases()) --held;
    }
    return peak;
}

}  // namespace syncline
