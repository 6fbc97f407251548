#include "sim/lowering/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace syncline {

namespace {

void check(const Pipeline& pipeline, std::uint32_t stage) {
    const std::int64_t p = pipeline.stages, m = pipeline.micro_batches, v = pipeline.virtual_stages;
    const bool interleaved = pipeline.schedule == PipelineSchedule::interleaved;
    if (stage >= p || m < 1 || v < 1)
        throw std::logic_error(fmt::format("stage {} of {}, {} microbatches, {} virtual stages", stage, p, m, v));
    if (!interleaved && v > 1)
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

/// Sums of consecutive costs, as differences of prefix sums. Even when rounded, they never decrease when a layer is
/// added, which the code below relies on.
class Chain {
public:
    explicit Chain(const std::vector<double>& costs) : until_(costs.size() + 1, 0) {
        for (std::size_t i = 0; i < costs.size(); ++i) until_[i + 1] = until_[i] + costs[i];
    }
    std::size_t size() const { return until_.size() - 1; }
    double cost(std::size_t first, std::size_t end) const { return until_[end] - until_[first]; }

private:
    std::vector<double> until_;
};

/// Returns the largest part of the best cut. best[j] is the largest part of the first j layers in k parts; if the last
/// part begins at i, the parts before it grow with i while it shrinks: the best i is where they cross, or the one
/// before.
double least_bottleneck(const Chain& chain, std::size_t parts) {
    std::vector<double> best(chain.size() + 1);
    for (std::size_t j = 1; j <= chain.size(); ++j) best[j] = chain.cost(0, j);
    for (std::size_t k = 2; k <= parts; ++k) {
        // Descending j, because best[i] for one part less is needed for all i < j.
        for (std::size_t j = chain.size(); j >= k; --j) {
            std::size_t low = k - 1, high = j - 1;  // bounds of the first i with best[i] >= the part's cost, else j - 1
            while (low < high) {
                const std::size_t middle = (low + high) / 2;
                if (best[middle] >= chain.cost(middle, j))
                    high = middle;
                else
                    low = middle + 1;
            }
            double least = std::max(best[low], chain.cost(low, j));
            if (low > k - 1) least = std::min(least, chain.cost(low - 1, j));
            best[j] = least;
        }
    }
    return best[chain.size()];
}

/// Returns for each layer the minimum number of parts of at most `limit` that hold it and all following layers.
std::vector<std::size_t> parts_needed(const Chain& chain, double limit) {
    std::vector<std::size_t> needed(chain.size() + 1, 0);
    std::size_t end = chain.size();
    for (std::size_t first = chain.size(); first-- > 0;) {
        while (chain.cost(first, end) > limit) --end;
        needed[first] = needed[end] + 1;
    }
    return needed;
}

}  // namespace

std::vector<Slot> slots(const Pipeline& pipeline, std::uint32_t stage) {
    check(pipeline, stage);
    const std::int64_t passes = pipeline.micro_batches * pipeline.virtual_stages;
    const std::int64_t ahead = forward_first(pipeline, stage);
    const bool apart = pipeline.schedule == PipelineSchedule::zero_bubble_h1 && pipeline.stages > 1;
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

std::vector<std::int64_t> balance(const std::vector<double>& costs, std::uint32_t parts) {
    if (parts == 0 || costs.size() < parts)
        throw std::logic_error(fmt::format("cannot cut {} layers into {} parts", costs.size(), parts));
    const Chain chain(costs);
    if (std::ranges::any_of(costs, [](double cost) { return cost < 0; }) || !std::isfinite(chain.cost(0, chain.size())))
        throw std::logic_error("a layer's cost, or the sum of costs, is negative or not finite");

    // Rounding errors of sums over a thousand layers are at most 1e-13 of the whole, hence `parts`·1e-13 of a part.
    constexpr double tolerance = 1e-9;
    const auto needed = parts_needed(chain, least_bottleneck(chain, parts) * (1 + tolerance));
    std::vector<std::int64_t> lengths;
    std::size_t first = 0;
    for (std::size_t left = parts; left-- > 0;) {
        // Takes the shortest part after which the remaining parts suffice. Each of them gets a layer: if this part has
        // more than one, the layers after it and one more need more than `left` parts, so at least `left` layers
        // follow.
        std::size_t end = first + 1;
        while (needed[end] > left) ++end;
        lengths.push_back(static_cast<std::int64_t>(end - first));
        first = end;
    }
    return lengths;
}

}  // namespace syncline
