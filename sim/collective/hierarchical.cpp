#include <fmt/format.h>

#include "sim/collective/factories.hpp"
#include "sim/collective/overlay.hpp"
#include "sim/collective/ring.hpp"
#include "sim/collective/segments.hpp"

/// Hierarchical all-reduce that splits the buffer: ring reduce-scatter inside the innermost groups, then the ranks with
/// the same place in their groups continue with their block at the next level, a ring all-reduce at the outermost
/// level, and ring allgathers on the way back.
///
/// Levels have g1, g2, … members, innermost first; rank i + g1·(j + g2·…) is the i-th of its innermost group. All ranks
/// work at every level, and the slower outer networks carry only S/(g1·g2·…). Every level is a ring, whatever pattern
/// the overlay gives it; one level is the plain ring. 2(N-1)·S bytes in all, as with the ring.
///
/// Time Σ 2(gᵢ-1)(α + cᵢ·β) + (gᵢ-1)·cᵢ·γ with the largest blocks cᵢ = ⌈S/(g1·…·gᵢ)⌉. That is exact even if blocks
/// differ: the last block is a largest one at every level, travels all the way, and no step is longer. Source: X. Jia
/// et al., "Highly scalable deep learning training system with mixed-precision", arXiv 1807.11205, 2018; Horovod's and
/// NCCL's hierarchical all-reduce.
///
/// In m > 1 segments of the buffer, the levels work at the same time, each on another segment: a rank has a lane for
/// the reduce-scatter and one for the allgather of each level, and one for the outermost level. A level begins with a
/// segment when the level before it has done it. With fast links inside the groups, α = 0 and γ = 0 the time tends to
/// that of the outermost level alone, 2(g-1)·c·β, for any m the first and the last segment add their time at the other
/// levels. There is no closed form in general: reduce-scatter and allgather of a level share its links. A device adds
/// in several lanes at its full rate each, which counts γ too little where additions of two levels meet. Source: NCCL's
/// CollNet chain and Horovod's ladder of torus all-reduce pipeline their phases in the same way; HiCCL (arXiv
/// 2408.05962) gives the pipeline in general.
namespace syncline {

namespace {

class Hierarchical : public CollectiveAlgorithm {
public:
    /// Uses an overlay for `ranks`. Throws AlgorithmError on key "overlay" unless all groups of a level have the same
    /// size.
    Hierarchical(const std::vector<HierarchyLevel>& levels, std::uint32_t ranks, double segment_bytes)
        : segment_bytes_(segment_bytes) {
        if (ranks == 1) return;  // nothing to do, whatever the groups
        std::int64_t left = ranks;
        for (const HierarchyLevel& level : levels) {
            const std::int64_t size = level.size == 0 ? left : level.size;
            if (left % size != 0)
                throw AlgorithmError("overlay",
                                     fmt::format("{} {} cannot be divided into groups of {}", left,
                                                 sizes_.empty() ? "ranks" : "groups", size),
                                     "the buffer is split evenly: choose sizes that divide the number of ranks, or "
                                     "'hierarchical-leaders'");
            sizes_.push_back(static_cast<std::uint32_t>(size));
            left /= size;
        }
    }

    std::uint32_t lanes() const override {
        return segment_bytes_ == 0 || sizes_.size() < 2 ? 1 : 2 * static_cast<std::uint32_t>(sizes_.size()) - 1;
    }

    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override {
        return lane_program(0, rank, ranks, bytes, round);
    }

    /// With one segment, lane 0 does everything. Otherwise lane i reduces and scatters at level i, the lane of the
    /// outermost level also gathers, and the lane i after it gathers at the i-th level further in. Throws
    /// AlgorithmError on key "segment" if there are too many segments.
    Program lane_program(std::uint32_t lane, std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes,
                         std::uint32_t) const override {
        const std::uint32_t segments = segment_count(bytes, segment_bytes_, ranks);
        if (lanes() == 1 || segments == 1) return lane == 0 ? whole(rank, ranks, bytes) : Program{{bytes, ranks}, {}};
        const auto outermost = static_cast<std::uint32_t>(sizes_.size()) - 1;
        Program program{{bytes, segments * ranks}, {}};
        program.channel = lane;
        const auto steps_of = [&](std::uint32_t of) {
            const std::uint32_t level = of <= outermost ? of : 2 * outermost - of;
            return (sizes_[level] - 1) * (of == outermost ? 2 : 1);
        };
        for (std::uint32_t segment = 0; segment < segments; ++segment) {
            const std::vector<Level> levels = levels_of(rank, ranks, segment * ranks);
            const Level& level = levels[lane <= outermost ? lane : 2 * outermost - lane];
            const std::size_t first = program.steps.size();
            if (lane <= outermost) go_round(program, level.ring, level.place, true);
            if (lane >= outermost) go_round(program, level.ring, level.place + 1, false);
            if (lane == 0 || first == program.steps.size()) continue;
            // A level of single ranks has no steps: what it follows is then the level before it.
            std::uint32_t before = lane - 1;
            while (before > 0 && steps_of(before) == 0) --before;
            if (steps_of(before) == 0) continue;
            program.steps[first].after_lane = before;
            program.steps[first].after_steps = (segment + 1) * steps_of(before);
        }
        return program;
    }

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        if (lanes() > 1 && segment_count(bytes, segment_bytes_, ranks) > 1) return {};
        double total = 0;
        std::uint32_t pieces = 1;
        for (const std::uint32_t size : sizes_) {
            pieces *= size;
            const double hops = size - 1;
            const auto piece = static_cast<double>(Partition{bytes, pieces}.largest());
            total += 2 * hops * (message.alpha_s + piece * message.beta_s_per_B) + hops * piece * message.gamma_s_per_B;
        }
        return total;
    }

    std::string formula(bool) const override { return "Σ 2(gᵢ-1)(α + ⌈S/(g₁…gᵢ)⌉β) + (gᵢ-1)⌈S/(g₁…gᵢ)⌉γ"; }

private:
    struct Level {
        Ring ring;
        std::uint32_t place = 0;
    };

    /// Returns the program for the whole buffer, one level after the other.
    Program whole(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes) const {
        Program program{{bytes, ranks}, {}};
        const std::vector<Level> levels = levels_of(rank, ranks, 0);
        for (const Level& level : levels) go_round(program, level.ring, level.place, true);
        for (auto level = levels.rbegin(); level != levels.rend(); ++level)
            go_round(program, level->ring, level->place + 1, false);
        return program;
    }

    /// Returns the levels as `rank` sees them; the blocks begin with block `at`.
    std::vector<Level> levels_of(std::uint32_t rank, std::uint32_t ranks, std::uint32_t at) const {
        std::vector<Level> levels;
        std::uint32_t first = at, count = ranks, stride = 1;
        for (const std::uint32_t size : sizes_) {
            const std::uint32_t place = rank / stride % size;
            const std::uint32_t group = rank - place * stride;
            count /= size;
            const std::uint32_t left = group + (place + size - 1) % size * stride;
            const std::uint32_t right = group + (place + 1) % size * stride;
            levels.push_back({{size, left, right, first, count}, place});
            first += (place + 1) % size * count;  // the piece whose sum this rank holds after the level
            stride *= size;
        }
        return levels;
    }

    std::vector<std::uint32_t> sizes_;  ///< innermost first
    double segment_bytes_;              ///< 0: no segments
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> algorithms::hierarchical(const AlgorithmSpec& spec, std::uint32_t ranks) {
    return std::make_shared<Hierarchical>(hierarchy(spec, ranks), ranks, spec.segment_bytes);
}

}  // namespace syncline
