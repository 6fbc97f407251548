#include "sim/lowering/stage_division.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "sim/lowering/pipeline.hpp"

namespace syncline {

namespace {

constexpr double tolerance = 1e-9;

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

/// Returns the division of all layers but the first and the last into equal parts, the first ones with one more; none
/// if there are too few.
std::vector<std::int64_t> even(std::int64_t layers, std::int64_t parts) {
    const std::int64_t inner = layers - 2;
    if (inner < parts) return {};
    std::vector<std::int64_t> lengths;
    for (std::int64_t part = 0; part < parts; ++part) lengths.push_back(inner / parts + (part < inner % parts ? 1 : 0));
    ++lengths.front();
    ++lengths.back();
    return lengths;
}

/// Returns the division whose boundaries are nearest to equal shares of the cost.
std::vector<std::int64_t> nearest(const Chain& chain, std::size_t parts) {
    std::vector<std::int64_t> lengths;
    std::size_t first = 0;
    for (std::size_t part = 1; part < parts; ++part) {
        const double share = chain.cost(0, chain.size()) * static_cast<double>(part) / static_cast<double>(parts);
        std::size_t end = first + 1;  // each of the parts that follow has a layer, too
        while (end < chain.size() - (parts - part) &&
               std::abs(chain.cost(0, end + 1) - share) <= std::abs(chain.cost(0, end) - share))
            ++end;
        lengths.push_back(static_cast<std::int64_t>(end - first));
        first = end;
    }
    lengths.push_back(static_cast<std::int64_t>(chain.size() - first));
    return lengths;
}

/// Clocks of a pipeline's stages, whose passes wait for those of the virtual stages before and after theirs.
class StageClocks {
public:
    StageClocks(const Pipeline& pipeline, const std::vector<PassTimes>& times) : pipeline_(pipeline), times_(times) {
        const auto micro_batches = static_cast<std::size_t>(pipeline.micro_batches);
        for (auto& ends : ends_) ends.assign(times.size(), std::vector<double>(micro_batches, unknown));
    }

    double run() {
        std::vector<double> clocks(static_cast<std::size_t>(pipeline_.stages), 0);
        each_ready(pipeline_, [&](std::uint32_t stage, std::span<const Slot> passes) {
            return advance(passes, stage, clocks[stage]);
        });
        return *std::ranges::max_element(clocks);
    }

private:
    static constexpr double unknown = -1;  ///< end of a pass that has not run

    /// Runs passes of a stage together, unless one waits for a pass that is not yet known.
    bool advance(std::span<const Slot> passes, std::uint32_t stage, double& clock) {
        double start_s = clock, busy_s = 0;
        for (const Slot& slot : passes) {
            const double ready_s = ready(slot, stage);
            if (ready_s == unknown) return false;
            start_s = std::max(start_s, ready_s);
            busy_s += seconds(slot, stage);
        }
        clock = start_s + busy_s;
        for (const Slot& slot : passes)
            if (slot.gradients != Gradients::weights) end(slot.forward, at(slot, stage), slot) = clock;
        return true;
    }
    double ready(const Slot& slot, std::uint32_t stage) {
        const std::size_t here = at(slot, stage);
        if (slot.forward) return here == 0 ? 0 : end(true, here - 1, slot);
        if (slot.gradients == Gradients::weights) return 0;
        return here + 1 == times_.size() ? end(true, here, slot) : end(false, here + 1, slot);
    }
    double seconds(const Slot& slot, std::uint32_t stage) const {
        const PassTimes& times = times_[at(slot, stage)];
        if (slot.forward) return times.forward_s;
        return (slot.gradients != Gradients::weights ? times.inputs_s : 0) +
               (slot.gradients != Gradients::inputs ? times.weights_s : 0);
    }
    std::size_t at(const Slot& slot, std::uint32_t stage) const {
        return pipeline_.virtual_stage_of(slot.virtual_rank, stage);
    }
    double& end(bool forward, std::size_t virtual_stage, const Slot& slot) {
        return ends_[forward ? 1 : 0][virtual_stage][slot.micro_batch];
    }

    const Pipeline& pipeline_;
    const std::vector<PassTimes>& times_;
    std::array<std::vector<std::vector<double>>, 2> ends_;  ///< of backward and forward passes
};

std::vector<PassTimes> sums(const std::vector<PassTimes>& layers, const std::vector<std::int64_t>& lengths) {
    std::vector<PassTimes> parts;
    auto layer = layers.begin();
    for (const std::int64_t length : lengths) {
        parts.emplace_back();
        for (std::int64_t i = 0; i < length; ++i) parts.back() += *layer++;
    }
    return parts;
}

/// Returns the pipeline with as many microbatches as divisions are compared with.
Pipeline with_few_micro_batches(Pipeline pipeline) {
    pipeline.micro_batches = std::min(pipeline.micro_batches, 4 * pipeline.stages);
    return pipeline;
}

/// Returns the stage whose passes of a microbatch take longest, the first of several.
std::uint32_t slowest(const Pipeline& pipeline, const std::vector<PassTimes>& virtual_stages) {
    std::vector<double> stages(static_cast<std::size_t>(pipeline.stages), 0);
    for (std::uint32_t i = 0; i < virtual_stages.size(); ++i) stages[pipeline.stage_of(i)] += virtual_stages[i].all();
    return static_cast<std::uint32_t>(std::ranges::max_element(stages) - stages.begin());
}

}  // namespace

PassTimes& PassTimes::operator+=(const PassTimes& other) {
    forward_s += other.forward_s;
    inputs_s += other.inputs_s;
    weights_s += other.weights_s;
    return *this;
}

double passes_s(const Pipeline& pipeline, const std::vector<PassTimes>& virtual_stages) {
    return StageClocks(pipeline, virtual_stages).run();
}

std::vector<std::int64_t> divide(const Pipeline& pipeline, const std::vector<PassTimes>& layers) {
    const std::int64_t parts = pipeline.stages * pipeline.virtual_stages;
    std::vector<double> costs;
    for (const PassTimes& layer : layers) costs.push_back(layer.all());
    std::vector<std::int64_t> best = balance(costs, static_cast<std::uint32_t>(parts));
    if (pipeline.virtual_stages == 1 || pipeline.stages == 1) return best;

    const Pipeline few = with_few_micro_batches(pipeline);
    double least_s = passes_s(few, sums(layers, best));
    for (const auto& other : {even(static_cast<std::int64_t>(layers.size()), parts),
                              nearest(Chain(costs), static_cast<std::size_t>(parts))}) {
        if (other.empty()) continue;
        const double seconds = passes_s(few, sums(layers, other));
        if (seconds >= least_s * (1 - tolerance)) continue;
        least_s = seconds;
        best = other;
    }
    return best;
}

std::vector<std::int64_t> moved(const Pipeline& pipeline, const std::vector<PassTimes>& layers,
                                std::vector<std::int64_t> lengths) {
    const Pipeline few = with_few_micro_batches(pipeline);
    double least_s = passes_s(few, sums(layers, lengths));
    for (bool better = true; std::exchange(better, false);) {
        std::vector<std::int64_t> best = lengths;
        const std::uint32_t stage = slowest(pipeline, sums(layers, lengths));
        for (std::uint32_t from = 0; from < lengths.size(); ++from) {
            if (pipeline.stage_of(from) != stage || lengths[from] == 1) continue;
            for (std::uint32_t to = 0; to < lengths.size(); ++to) {
                if (pipeline.stage_of(to) == stage) continue;
                std::vector<std::int64_t> other = lengths;
                --other[from];
                ++other[to];
                const double seconds = passes_s(few, sums(layers, other));
                if (seconds >= least_s * (1 - tolerance)) continue;
                least_s = seconds;
                best = std::move(other);
                better = true;
            }
        }
        lengths = std::move(best);
    }
    return lengths;
}

std::vector<std::int64_t> balance(const std::vector<double>& costs, std::uint32_t parts) {
    if (parts == 0 || costs.size() < parts)
        throw std::logic_error(fmt::format("cannot cut {} layers into {} parts", costs.size(), parts));
    const Chain chain(costs);
    if (std::ranges::any_of(costs, [](double cost) { return cost < 0; }) || !std::isfinite(chain.cost(0, chain.size())))
        throw std::logic_error("a layer's cost, or the sum of costs, is negative or not finite");

    // Rounding errors of sums over a thousand layers are at most 1e-13 of the whole, hence `parts`·1e-13 of a part.
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
