#include "sim/collective/axis_rings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/collective/ring.hpp"

namespace syncline {

namespace {

class AxisRings : public CollectiveAlgorithm {
public:
    AxisRings(const std::string& operation, MemberGrid grid)
        : scatters_(operation != "allgather"), gathers_(operation != "reduce-scatter"), grid_(std::move(grid)) {
        place_.resize(grid_.member.size());
        for (std::uint32_t at = 0; at < place_.size(); ++at) place_[grid_.member[at]] = at;
        owners_.resize(lanes());
        for (std::uint32_t lane = 0; lane < lanes(); ++lane) {
            owners_[lane].resize(place_.size());
            for (std::uint32_t member = 0; member < place_.size(); ++member) {
                const std::vector<Level> levels = levels_of(lane, member);
                owners_[lane][levels.empty() ? 0 : levels.back().ring.first + levels.back().place] = member;
            }
        }
    }

    const MemberGrid& grid() const { return grid_; }
    std::uint32_t lanes() const override { return grid_.channels(); }
    std::uint32_t slices() const override { return grid_.channels(); }
    std::span<const std::uint32_t> order(std::uint32_t slice) const override { return owners_[slice]; }

    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override {
        return lane_program(0, rank, ranks, bytes, round);
    }

    Program lane_program(std::uint32_t lane, std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes,
                         std::uint32_t) const override {
        const Partition shares{bytes, lanes()};
        Program program{{shares.size(lane), ranks}, {}};
        program.offset = shares.offset(lane);
        program.slice = program.channel = lane;
        const std::vector<Level> levels = levels_of(lane, rank);
        // A member is left with the piece of its own place, and begins with it on the way back.
        if (scatters_)
            for (const Level& level : levels) go_round(program, level.ring, level.place + level.ring.size - 1, true);
        if (gathers_)
            for (auto level = levels.rbegin(); level != levels.rend(); ++level)
                go_round(program, level->ring, level->place, false);
        return program;
    }

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        if (ranks == 1) return 0;
        const std::uint32_t k = grid_.sizes.front();
        if (std::ranges::any_of(grid_.sizes, [&](std::uint32_t size) { return size != k; }) ||
            bytes % (std::uint64_t{ranks} * lanes()) != 0)
            return {};
        const double hops = k - 1, ways = (scatters_ ? 1 : 0) + (gathers_ ? 1 : 0);
        double piece = static_cast<double>(bytes), total = 0;
        for (std::size_t axis = 0; axis < grid_.sizes.size(); ++axis) {
            piece /= k;
            total += ways * hops * (message.alpha_s + piece * message.beta_s_per_B);
            if (scatters_) total += hops * piece * message.gamma_s_per_B;
        }
        return total;
    }

    std::string formula(bool) const override {
        const char* const ways = scatters_ && gathers_ ? "2" : "";
        return fmt::format("Σ {}(k-1)(α + S/(ckʲ)β){}, in c = {} channels along axes of k", ways,
                           scatters_ ? " + (k-1)S/kʲγ" : "", lanes());
    }

private:
    struct Level {
        Ring ring;
        std::uint32_t place = 0;  ///< in the ring
    };

    /// Returns the rings of a member in the order in which this channel takes them.
    std::vector<Level> levels_of(std::uint32_t lane, std::uint32_t member) const {
        std::vector<Level> levels;
        const auto axes = static_cast<std::uint32_t>(grid_.sizes.size());
        const bool back = lane >= axes;
        std::uint32_t first = 0, count = static_cast<std::uint32_t>(grid_.member.size());
        for (std::uint32_t i = 0; i < axes; ++i) {
            const std::uint32_t axis = (lane + i) % axes, size = grid_.sizes[axis];
            std::uint32_t stride = 1;
            for (std::uint32_t inner = 0; inner < axis; ++inner) stride *= grid_.sizes[inner];
            const std::uint32_t at = place_[member], x = at / stride % size;
            const auto moved = [&](std::uint32_t to) { return grid_.member[at - x * stride + to % size * stride]; };
            const std::uint32_t below = moved(x + size - 1), above = moved(x + 1);
            const std::uint32_t place = back ? (size - x) % size : x;
            count /= size;
            levels.push_back({{size, back ? above : below, back ? below : above, first, count}, place});
            if (i + 1 < axes) first += place * count;
        }
        return levels;
    }

    const bool scatters_, gathers_;
    const MemberGrid grid_;
    std::vector<std::uint32_t> place_;                ///< by member
    std::vector<std::vector<std::uint32_t>> owners_;  ///< of the blocks, by channel
};

}  // namespace

std::uint32_t MemberGrid::channels() const {
    const auto axes = static_cast<std::uint32_t>(sizes.size());
    const bool both = std::ranges::any_of(sizes, [](std::uint32_t size) { return size > 2; });
    return std::max(1U, both ? 2 * axes : axes);
}

std::shared_ptr<const CollectiveAlgorithm> axis_rings(const std::string& operation, MemberGrid grid) {
    return std::make_shared<AxisRings>(operation, std::move(grid));
}

const MemberGrid* grid_of(const CollectiveAlgorithm& algorithm) {
    const auto* const rings = dynamic_cast<const AxisRings*>(&algorithm);
    return rings == nullptr ? nullptr : &rings->grid();
}

}  // namespace syncline
