#pragma once

#include <utility>

#include "sim/collective/algorithm.hpp"

/// A fixed round of an algorithm whose programs change from round to round, used for every execution. Its closed form
/// is that of the algorithm, which is the same for every round (see Gossip and InnerOuterGossip).
namespace syncline {

class OneRound : public CollectiveAlgorithm {
public:
    OneRound(std::shared_ptr<const CollectiveAlgorithm> of, std::uint32_t round) : of_(std::move(of)), round_(round) {}
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const override {
        return of_->program(rank, ranks, bytes, round_);
    }
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        return of_->cost(ranks, bytes, message);
    }
    std::string formula(bool travels) const override { return of_->formula(travels); }

private:
    std::shared_ptr<const CollectiveAlgorithm> of_;
    std::uint32_t round_;
};

}  // namespace syncline
