#include "sim/planning/candidates.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/lowering/feasibility.hpp"

namespace syncline::planning {

namespace {

/// Returns the complaints about the plan, or lowers it.
Complaints lower_or_complain(const Cluster& cluster, const Model& model, Plan plan, std::int64_t batch,
                             std::shared_ptr<const Lowered>& lowered) {
    OpenPlan open;
    open.batch = batch;
    Complaints complaints = settle(plan, open);
    if (!complaints.empty()) return complaints;
    Feasibility found = judge(cluster, model, plan);
    lowered = std::move(found.lowered);
    if (found.complaints.empty() && !lowered) lowered = std::make_shared<const Lowered>(lower(cluster, model, plan));
    return std::move(found.complaints);
}

class Candidates {
public:
    Candidates(const Cluster& cluster, const Model& model, const Plan& base, const OpenPlan& open, const Judge& fits,
               const Judge& too_large, Reasons& skipped)
        : cluster_(cluster),
          model_(model),
          base_(base),
          open_(open),
          fits_(fits),
          too_large_(too_large),
          skipped_(skipped),
          space_(space_of(cluster, model, base, open)) {}

    Considered look(const Effort& effort) {
        const std::uint64_t plans = effort.plans(model_, base_.ranks);
        const std::uint64_t choices = count_choices(space_, base_, std::max(plans + 1, Effort::most_counted));
        if (effort.watch) effort.watch(0, std::min(choices, plans));
        if (choices > plans) {
            look_at_some(plans, effort);
            return {static_cast<std::int64_t>(looked_at_), static_cast<std::int64_t>(choices), least_left_s_};
        }
        std::vector<Choice> others = effort.first;
        each_choice(space_, base_, [&](const Choice& choice, const Plan& plan) {
            std::erase_if(others, [&](const Choice& other) { return same_split(choice, other); });
            look_at(choice, plan);
            if (effort.watch) effort.watch(looked_at_, choices);
        });
        for (const Choice& other : others) look_at_alike(other, Effort::most_counted);
        return {static_cast<std::int64_t>(looked_at_), static_cast<std::int64_t>(looked_at_), least_left_s_};
    }

private:
    /// A choice that was looked at. The least is the best.
    struct Seen {
        bool too_large = false;
        double value = 0;
        std::uint64_t order = 0;
        Choice choice = {};
        auto rank() const { return std::tie(too_large, value, order); }
        bool operator>(const Seen& other) const { return rank() > other.rank(); }
    };

    std::optional<Seen> skip(const std::string& why, const Choice& choice) {
        skipped_.add(why, words_of(choice, base_));
        return std::nullopt;
    }

    std::optional<Seen> look_at(const Choice& choice, const Plan& plan) {
        ++looked_at_;
        if (same_split(choice, settled_)) return skip(reason_, choice);
        double& least_s =
            least_s_[Choice(choice.begin(), choice.begin() + static_cast<Choice::difference_type>(first_of_state()))];
        if (least_s > Judged::hopeless * shortest_s_) {
            least_left_s_ = std::min(least_left_s_, least_s);
            return skip("computes longer than the shortest iteration", choice);
        }
        std::shared_ptr<const Lowered> lowered;
        const Complaints complaints = lower_or_complain(cluster_, model_, plan, open_.batch, lowered);
        if (!complaints.empty()) {
            const std::string& message = complaints.front().message;
            // More recomputation does not mend what is wrong with the rest of a plan.
            if (complaints.front().key != "recomputation") {
                settled_ = choice;
                reason_ = message;
            }
            return skip(message, choice);
        }
        const Candidate candidate{choice, *lowered, memory_of(*lowered)};
        if (!candidate.memory.fits()) return Seen{true, too_large_(candidate).value, looked_at_, choice};
        settled_ = choice;
        reason_ = "fits with less recomputation";
        const Judged judged = fits_(candidate);
        const bool least = choice.back() == axes().back().choices(space_, plan).front();
        if (least && least_s == 0) least_s = judged.least_s;
        if (judged.least_s > 0) shortest_s_ = std::min(shortest_s_, judged.value);
        return Seen{false, judged.value, looked_at_, choice};
    }

    /// Looks at the choices that differ from this one in recomputation, while fewer than `most` are looked at. Returns
    /// the last that was not skipped.
    std::optional<Seen> look_at_alike(Choice choice, std::uint64_t most) {
        Plan plan = plan_of(choice, base_);
        std::optional<Seen> found;
        for (const std::int64_t again : axes().back().choices(space_, plan)) {
            if (looked_at_ == most) break;
            choice.back() = again;
            axes().back().apply(plan, again);
            if (auto seen = look_at(choice, plan)) found = std::move(seen);
        }
        return found;
    }

    void look_at_some(std::uint64_t most, const Effort& effort) {
        std::set<Choice> known;
        std::priority_queue<Seen, std::vector<Seen>, std::greater<>> best;
        const auto visit = [&](std::optional<Choice> drawn) {
            if (!drawn || looked_at_ >= most || !known.insert(*drawn).second) return false;
            if (auto found = look_at_alike(*std::move(drawn), most)) best.push(*std::move(found));
            if (effort.watch) effort.watch(looked_at_, most);
            return true;
        };
        for (const Choice& choice : effort.first) visit(choice);
        each_first_tried([&](const Choice& choice) {
            if (looked_at_ < most / 4 * 3) visit(choice);
        });
        std::mt19937_64 random(1);
        const std::uint64_t drawn = looked_at_ + (most - looked_at_) / 3;
        // Where nearly all is known, draws find little more.
        for (std::uint64_t known_already = 0; looked_at_ < drawn && known_already < most;) {
            const auto draw = [&](std::size_t axis, const std::vector<std::int64_t>& values) {
                return axis + 1 == axes().size() ? values.front() : values[random() % values.size()];
            };
            if (!visit(choose(space_, base_, draw))) ++known_already;
        }
        for (; !best.empty() && looked_at_ < most; best.pop()) {
            const Choice around = best.top().choice;
            for (std::size_t axis = 0; axis + 1 < axes().size(); ++axis)
                for (const std::int64_t value : beside(around, axis)) visit(neighbour(around, axis, value));
        }
    }

    /// Calls `look` for every choice of values that planners try first (Axis::first_tried()), the simplest first.
    void each_first_tried(const std::function<void(const Choice&)>& look) const {
        std::vector<std::size_t> turn(axes().size(), 0), turns(axes().size(), 1);
        for (;;) {
            const auto pick = [&](std::size_t axis, const std::vector<std::int64_t>& values) {
                const std::vector<std::int64_t> first = axes()[axis].first_tried(values);
                turns[axis] = first.size();
                return first[turn[axis]];
            };
            std::ranges::fill(turns, 1);
            if (const std::optional<Choice> choice = choose(space_, base_, pick)) look(*choice);
            std::size_t axis = axes().size();
            while (axis > 0 && turn[axis - 1] + 1 >= turns[axis - 1]) turn[--axis] = 0;
            if (axis == 0) return;
            ++turn[axis - 1];
        }
    }

    /// Returns the values of an axis beside the choice's values of those before it.
    std::vector<std::int64_t> beside(const Choice& choice, std::size_t axis) const {
        Plan plan = base_;
        for (std::size_t i = 0; i < axis; ++i) axes()[i].apply(plan, choice[i]);
        return axes()[axis].choices(space_, plan);
    }

    /// Returns the choice with another value of an axis, the same of those before it, and of those after it the same or
    /// else the next lower ones that are possible.
    std::optional<Choice> neighbour(const Choice& choice, std::size_t changed, std::int64_t value) const {
        return choose(space_, base_, [&](std::size_t axis, const std::vector<std::int64_t>& values) {
            if (axis == changed) return value;
            if (axis + 1 == axes().size()) return values.front();
            std::int64_t nearest = values.front();
            for (const std::int64_t one : values) {
                if (one == choice[axis]) return one;
                if (one < choice[axis]) nearest = std::max(nearest, one);
            }
            return nearest;
        });
    }

    const Cluster& cluster_;
    const Model& model_;
    const Plan& base_;
    const OpenPlan& open_;
    const Judge &fits_, &too_large_;
    Reasons& skipped_;
    const Space space_;
    std::uint64_t looked_at_ = 0;
    Choice settled_;                    ///< the last choice that more recomputation does not make better ...
    std::string reason_;                ///< ... and why not
    std::map<Choice, double> least_s_;  ///< by the choice up to first_of_state()
    double shortest_s_ = std::numeric_limits<double>::infinity();  ///< estimate
    double least_left_s_ = std::numeric_limits<double>::infinity();
};

}  // namespace

Space space_of(const Cluster& cluster, const Model& model, const Plan& base, const OpenPlan& open) {
    return {model,
            base.ranks,
            open.batch,
            cluster.node.devices,
            open.recomputation,
            open.grid.columns,
            open.micro_batch_size,
            open.kept};
}

bool same_split(const Choice& a, const Choice& b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end() - 1, b.begin());
}

bool nothing_open(const OpenPlan& open) {
    const Model none;
    const Space space{.model = none, .written = open.kept};
    return std::ranges::all_of(
        axes(), [&](const Axis& axis) { return axis.of_training ? !open.recomputation : is_written(space, axis.key); });
}

std::uint64_t Effort::plans(const Model& model, std::int64_t ranks) const {
    return std::max(fewest, most / (each + static_cast<std::uint64_t>(ranks) + model.layers.size()));
}

Considered each_candidate(const Cluster& cluster, const Model& model, const Plan& base, const OpenPlan& open,
                          const Effort& effort, const Judge& fits, const Judge& too_large, Reasons& skipped) {
    return Candidates(cluster, model, base, open, fits, too_large, skipped).look(effort);
}

}  // namespace syncline::planning
