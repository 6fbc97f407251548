#include "sim/collective/channels.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace syncline {

namespace {

class Channelled : public CollectiveAlgorithm {
public:
    Channelled(std::shared_ptr<const CollectiveAlgorithm> of, std::vector<std::vector<std::uint32_t>> orders)
        : of_(std::move(of)), orders_(std::move(orders)), each_(of_->lanes()) {
        for (const std::vector<std::uint32_t>& order : orders_) {
            std::vector<std::uint32_t>& position = positions_.emplace_back(order.size());
            for (std::uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
        }
    }

    std::uint32_t lanes() const override { return static_cast<std::uint32_t>(orders_.size()) * each_; }
    std::uint32_t slices() const override { return static_cast<std::uint32_t>(orders_.size()) * of_->slices(); }
    std::uint32_t period() const override { return of_->period(); }
    std::span<const std::uint32_t> order(std::uint32_t slice) const override { return orders_[slice / of_->slices()]; }

    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override {
        return lane_program(0, rank, ranks, bytes, round);
    }

    Program lane_program(std::uint32_t lane, std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes,
                         std::uint32_t round) const override {
        const std::uint32_t channel = lane / each_;
        const std::vector<std::uint32_t>& order = orders_[channel];
        const Partition shares{bytes, static_cast<std::uint32_t>(orders_.size())};
        Program program =
            of_->lane_program(lane % each_, positions_[channel][rank], ranks, shares.size(channel), round);
        program.offset += shares.offset(channel);
        program.slice += channel * of_->slices();
        program.channel += channel * each_;
        for (Step& step : program.steps) {
            if (step.after_lane != Step::no_lane) step.after_lane += channel * each_;
            for (std::vector<Message>* messages : {&step.sends, &step.receives}) {
                for (Message& message : *messages) {
                    if (message.turn != 0) throw std::logic_error("peers that turn cannot be reordered");
                    message.peer = order[message.peer];
                }
            }
        }
        return program;
    }

    /// The form is for members that have one link each, which all channels share.
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        if (bytes % (std::uint64_t{ranks} * orders_.size()) != 0) return {};
        return of_->cost(ranks, bytes, message);
    }

    std::string formula(bool travels) const override {
        const std::string formula = of_->formula(travels);
        return formula.empty() || orders_.size() == 1 ? formula
                                                      : fmt::format("{}, in {} channels", formula, orders_.size());
    }

private:
    const std::shared_ptr<const CollectiveAlgorithm> of_;
    const std::vector<std::vector<std::uint32_t>> orders_;
    std::vector<std::vector<std::uint32_t>> positions_;  ///< by channel and member
    const std::uint32_t each_;                           ///< lanes of a channel
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> in_channels(std::shared_ptr<const CollectiveAlgorithm> of,
                                                       std::vector<std::vector<std::uint32_t>> orders) {
    return std::make_shared<Channelled>(std::move(of), std::move(orders));
}

}  // namespace syncline
