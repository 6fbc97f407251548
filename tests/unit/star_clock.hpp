#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "sim/collective/algorithm.hpp"

/// Computes when programs end on a star, from the model's definition alone: a message starts when both its ends have
/// reached it, waits α, then shares its sender's and its receiver's link max-min fairly with the other messages; a step
/// ends when all its messages are delivered and γ is spent on the data to be reduced. If α travels, a message shares
/// the links first, after which its sender has sent it, and is delivered α later; a receiver has reached the messages
/// of a step when the bytes of those of earlier steps have passed the links. For small groups only.
namespace syncline {

class StarClock {
public:
    StarClock(const CollectiveAlgorithm& algorithm, std::uint32_t ranks, std::uint64_t bytes, const MessageCost& cost,
              std::uint32_t round = 0)
        : ranks_(ranks), cost_(cost) {
        for (std::uint32_t rank = 0; rank < ranks; ++rank)
            programs_.push_back(algorithm.program(rank, ranks, bytes, round));
        at_.assign(programs_.begin(), programs_.end());
    }

    double completion() {
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) post(rank);
        double last = 0;
        while (true) {
            const std::vector<double> rates = share();
            double next = infinity;
            for (std::size_t i = 0; i < flows_.size(); ++i) {
                const Flow& flow = flows_[i];
                next = std::min(next,
                                flow.starts > now_ ? flow.starts : now_ + (flow.left > 0 ? flow.left / rates[i] : 0));
            }
            for (const Place& place : at_) next = std::min(next, place.reduced);
            for (const Delivery& delivery : deliveries_) next = std::min(next, delivery.at);
            if (next == infinity) return last;
            for (std::size_t i = 0; i < flows_.size(); ++i) {
                if (flows_[i].starts > now_) continue;
                flows_[i].left -= rates[i] * (next - now_);
                if (flows_[i].left < 1e-6) flows_[i].left = 0;
            }
            last = now_ = next;
            settle();
        }
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    struct Flow {
        std::uint32_t from, to;
        double starts, left;
    };
    struct Place {
        Place(const Program& program) : walk(program), reached(program) {}
        Walk walk;
        Walk reached;            ///< the first step whose receives it has not reached; if α travels
        std::size_t steps = 0;   ///< number of steps of which it has
        std::size_t coming = 0;  ///< messages of these that have not passed the links ...
        std::size_t round = 0;   ///< and their step
        std::size_t done = 0;    ///< number of steps that it has done
        std::size_t open = 0;    ///< messages of the step in flight or awaited
        double arrived = 0;      ///< bytes to reduce
        double reduced = infinity;
        std::map<std::size_t, std::size_t> delivered;  ///< by step: messages, if α travels
    };
    struct Delivery {
        std::uint32_t to;
        std::size_t step;
        double at;
    };
    using Pair = std::pair<std::uint32_t, std::uint32_t>;

    void post(std::uint32_t rank) {
        Place& place = at_[rank];
        if (place.walk.done()) return;
        const Step& step = place.walk.step();
        place.open = step.sends.size() + step.receives.size();
        place.arrived = 0;
        for (const Message& message : step.sends) {
            const std::uint64_t bytes = message_bytes(programs_[rank].partition, message, place.walk.repetition());
            const Pair pair{rank, peer_of(message, place.walk.repetition(), ranks_)};
            offered_[pair].push_back(static_cast<double>(bytes));
            match(pair);
        }
        if (cost_.travels) {
            place.open -= place.delivered[place.done];
            for (const Message& message : step.receives)
                if (step.reduce) place.arrived += size(rank, place.walk, message);
            if (place.steps == place.done) reach(rank);
        } else {
            for (const Message& message : step.receives) await(rank, place.walk, message);
        }
        if (place.open == 0) place.reduced = now_ + place.arrived * cost_.gamma_s_per_B;
    }

    /// Notes that a message of the rank's step has ended.
    void close(std::uint32_t rank) {
        if (--at_[rank].open == 0) at_[rank].reduced = now_ + at_[rank].arrived * cost_.gamma_s_per_B;
    }

    double size(std::uint32_t rank, const Walk& walk, const Message& message) const {
        return static_cast<double>(message_bytes(programs_[rank].partition, message, walk.repetition()));
    }

    void await(std::uint32_t rank, const Walk& walk, const Message& message) {
        const Pair pair{peer_of(message, walk.repetition(), ranks_), rank};
        ++awaited_[pair];
        match(pair);
    }

    /// Reaches the receives of the next step that has any.
    void reach(std::uint32_t rank) {
        Place& place = at_[rank];
        while (place.coming == 0 && !place.reached.done()) {
            const Step& step = place.reached.step();
            place.coming = step.receives.size();
            place.round = place.steps;
            for (const Message& message : step.receives) await(rank, place.reached, message);
            place.reached.next();
            ++place.steps;
        }
    }

    void match(const Pair& pair) {
        std::vector<double>& offers = offered_[pair];
        while (!offers.empty() && awaited_[pair] > 0) {
            flows_.push_back({pair.first, pair.second, cost_.travels ? now_ : now_ + cost_.alpha_s, offers.front()});
            if (!cost_.travels && at_[pair.second].walk.step().reduce) at_[pair.second].arrived += offers.front();
            offers.erase(offers.begin());
            --awaited_[pair];
        }
    }

    /// Applies progressive filling to the ranks' links out (0 …) and in (ranks …).
    std::vector<double> share() const {
        std::vector<double> rates(flows_.size(), 0), free(2 * ranks_, 1 / cost_.beta_s_per_B);
        std::vector<bool> fixed(flows_.size(), false);
        for (std::size_t i = 0; i < flows_.size(); ++i) fixed[i] = flows_[i].starts > now_ || flows_[i].left == 0;
        while (true) {
            std::vector<double> users(2 * ranks_, 0);
            for (std::size_t i = 0; i < flows_.size(); ++i) {
                if (fixed[i]) continue;
                ++users[flows_[i].from];
                ++users[ranks_ + flows_[i].to];
            }
            std::size_t tightest = users.size();
            for (std::size_t link = 0; link < users.size(); ++link) {
                if (users[link] > 0 &&
                    (tightest == users.size() || free[link] / users[link] < free[tightest] / users[tightest]))
                    tightest = link;
            }
            if (tightest == users.size()) return rates;
            const double rate = free[tightest] / users[tightest];
            for (std::size_t i = 0; i < flows_.size(); ++i) {
                const std::size_t out = flows_[i].from, in = ranks_ + flows_[i].to;
                if (fixed[i] || (out != tightest && in != tightest)) continue;
                fixed[i] = true;
                rates[i] = rate;
                free[out] -= rate;
                free[in] -= rate;
            }
        }
    }

    /// Ends what is due now: messages, then steps without or after their reduction.
    void settle() {
        for (std::size_t i = 0; i < flows_.size();) {
            if (flows_[i].starts > now_ || flows_[i].left > 0) {
                ++i;
                continue;
            }
            const auto [from, to, starts, left] = flows_[i];
            flows_.erase(flows_.begin() + static_cast<std::ptrdiff_t>(i));
            close(from);
            if (cost_.travels) {
                // Steps are reached one after the other, so this message belongs to the last one with receives.
                deliveries_.push_back({to, at_[to].round, now_ + cost_.alpha_s});
                --at_[to].coming;
                passed_.push_back(to);
            } else {
                close(to);
            }
        }
        for (const std::uint32_t rank : std::exchange(passed_, {})) reach(rank);
        for (std::size_t i = 0; i < deliveries_.size();) {
            const auto [to, step, at] = deliveries_[i];
            if (at > now_) {
                ++i;
                continue;
            }
            deliveries_.erase(deliveries_.begin() + static_cast<std::ptrdiff_t>(i));
            ++at_[to].delivered[step];
            if (step == at_[to].done) close(to);
        }
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
            Place& place = at_[rank];
            if (place.reduced > now_) continue;
            place.reduced = infinity;
            place.walk.next();
            ++place.done;
            post(rank);
        }
    }

    std::uint32_t ranks_;
    MessageCost cost_;
    std::vector<Program> programs_;
    std::vector<Place> at_;
    std::vector<Flow> flows_;
    std::vector<Delivery> deliveries_;
    std::vector<std::uint32_t> passed_;  ///< receivers of messages that have just passed the links
    std::map<Pair, std::vector<double>> offered_;
    std::map<Pair, std::size_t> awaited_;
    double now_ = 0;
};

}  // namespace syncline
