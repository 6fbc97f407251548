#pragma once

#include <cstdint>
#include <memory>

#include "sim/collective/algorithm.hpp"

/// A collective that its group executes in every H-th round only, from round 0 on; in the others its members do
/// nothing, and do not wait for each other. Local SGD: S. Stich, "Local SGD converges fast and communicates little",
/// ICLR 2019; T. Lin et al., "Don't use large mini-batches, use local SGD", ICLR 2020, arXiv:1808.07217.
///
/// Its closed form is the mean over rounds, T/H.
namespace syncline {

class EveryRounds : public CollectiveAlgorithm {
public:
    /// `every`: H, at least 1.
    EveryRounds(std::shared_ptr<const CollectiveAlgorithm> of, std::uint32_t every)
        : of_(std::move(of)), every_(every) {}

    /// Returns what is executed in every H-th round.
    const CollectiveAlgorithm& of() const { return *of_; }
    std::uint32_t every() const { return every_; }

    std::uint32_t lanes() const override { return of_->lanes(); }
    std::uint32_t slices() const override { return of_->slices(); }
    std::uint32_t period() const override { return every_ * of_->period(); }
    std::span<const std::uint32_t> order(std::uint32_t slice) const override { return of_->order(slice); }
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override {
        return lane_program(0, rank, ranks, bytes, round);
    }
    Program lane_program(std::uint32_t lane, std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes,
                         std::uint32_t round) const override {
        return round % every_ == 0 ? of_->lane_program(lane, rank, ranks, bytes, round / every_) : Program{};
    }
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        const std::optional<double> once_s = of_->cost(ranks, bytes, message);
        return once_s ? std::optional(*once_s / every_) : std::nullopt;
    }
    std::string formula(bool travels) const override;

private:
    const std::shared_ptr<const CollectiveAlgorithm> of_;
    const std::uint32_t every_;
};

}  // namespace syncline
