#include <fmt/format.h>

#include "sim/collective/factories.hpp"
#include "sim/collective/overlay.hpp"
#include "sim/collective/ring.hpp"

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
namespace syncline {

namespace {

class Hierarchical : public CollectiveAlgorithm {
public:
    /// Uses an overlay for `ranks`. Throws AlgorithmError on key "overlay" unless all groups of a level have the same
    /// size.
    Hierarchical(const std::vector<HierarchyLevel>& levels, std::uint32_t ranks) {
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

    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const override {
        Program program{{bytes, ranks}, {}};
        struct Level {
            Ring ring;
            std::uint32_t place = 0;
        };
        std::vector<Level> levels;
        std::uint32_t first = 0, count = ranks, stride = 1;
        for (const std::uint32_t size : sizes_) {
            const std::uint32_t place = rank / stride % size;
            const std::uint32_t group = rank - place * stride;
            count /= size;
            const std::uint32_t left = group + (place + size - 1) % size * stride;
            const std::uint32_t right = group + (place + 1) % size * stride;
            levels.push_back({{size, left, right, first, count}, place});
            go_round(program, levels.back().ring, place, true);
            first += (place + 1) % size * count;  // the piece whose sum this rank now holds
            stride *= size;
        }
        for (auto level = levels.rbegin(); level != levels.rend(); ++level)
            go_round(program, level->ring, level->place + 1, false);
        return program;
    }

    std::optional<double> cost(std::uint32_t, std::uint64_t bytes, const MessageCost& message) const override {
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
    std::vector<std::uint32_t> sizes_;  ///< innermost first
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> algorithms::hierarchical(const AlgorithmSpec& spec, std::uint32_t ranks) {
    return std::make_shared<Hierarchical>(hierarchy(spec, ranks), ranks);
}

}  // namespace syncline
