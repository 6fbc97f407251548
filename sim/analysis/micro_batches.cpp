#include "sim/analysis/micro_batches.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace syncline {

namespace {

constexpr double negligible = 1e-11;  // as a part of an iteration
constexpr double instant_s = 2e-12;   // events of a picosecond are simulated as one: see event_simulator.cpp

/// The numbers of microbatches of two replays: `fewer`, and a period more.
struct Sizes {
    std::int64_t fewer, period;

    std::int64_t more() const { return fewer + period; }
    std::int64_t together() const { return fewer + more(); }
};

/// Returns the numbers to try, in order: the least with which a pipeline is full for some periods (chosen), and ever
/// larger ones, with as many microbatches in a period as there are stages. All are a whole number of periods less than
/// `all`, and have at most two thirds of them together.
std::vector<Sizes> tries(const Pipeline& pipeline, std::int64_t all) {
    const std::int64_t stages = pipeline.stages;
    const bool interleaved = pipeline.schedule == PipelineSchedule::interleaved && stages > 1;
    const std::int64_t full = pipeline.turns() ? 4 * stages : interleaved ? 3 * stages : 2 * stages + 2;
    std::vector<Sizes> sizes{{stages == 1 ? 3 : full, interleaved ? stages : 1}};
    for (std::int64_t replayed = 0; 3 * (replayed += sizes.back().together()) <= 2 * all;) {
        const std::int64_t fewer = 2 * sizes.back().fewer;
        sizes.push_back({fewer + (all - fewer) % stages, stages});
    }
    sizes.pop_back();
    return sizes;
}

bool may_repeat(const Lowered& training) {
    const Plan& plan = training.plan;
    const Pipeline& pipeline = plan.parallelism.pipeline;
    return training.averaged == 1 && !training.iterations_differ() && !plan.independent_updates() &&
           pipeline.schedule != PipelineSchedule::gpipe;
}

/// Compares two replays, iteration by iteration, each from its start.
class Comparison {
public:
    Comparison(const ReplayedIteration& fewer, const ReplayedIteration& more) : fewer_(fewer), more_(more) {}

    /// Returns the difference that still counts as equal, in the longest iteration.
    double close_s() const { return widest_s_; }

    bool inserts_a_period() {
        if (!comparable()) return false;
        const std::size_t count = fewer_.timeline.recorded.size();
        // The iteration before the first recorded one is unknown, unless the simulation begins there.
        for (std::size_t iteration = fewer_.measured + 1 == count ? 0 : 1; iteration < count; ++iteration) {
            begin(iteration);
            if (!inserts_a_period_here()) return false;
        }
        return fewer_.measured == 0 || (in_step(fewer_) && in_step(more_));
    }

private:
    /// A time in an iteration is counted from `start_s`.
    struct Side {
        const ReplayedIteration* replayed;
        std::size_t iteration;
        double start_s, end_s;

        Interval time_of(TaskId task) const {
            const Interval& time = replayed->timeline.recorded[iteration][task];
            return {time.start_s - start_s, time.end_s - start_s};
        }
    };

    static bool same_stream(const Stream& a, const Stream& b) { return a.process == b.process && a.kind == b.kind; }

    static TaskId last(const ReplayedIteration& replayed) { return last_update(replayed.graph, replayed.timeline); }

    static ProcessId last_rank(const ReplayedIteration& replayed) {
        return replayed.graph.streams()[replayed.graph.tasks()[last(replayed)].stream].process;
    }

    /// Clocks and orders on which ranks agree depend on the time since the start.
    bool comparable() const {
        return fewer_.timeline.recorded.size() == more_.timeline.recorded.size() && fewer_.time.drift <= negligible &&
               more_.time.drift <= negligible && free_of_clocks(fewer_.graph) &&
               last_rank(fewer_) == last_rank(more_) &&
               std::ranges::equal(fewer_.graph.streams(), more_.graph.streams(), same_stream);
    }

    /// Returns whether the measured iteration takes all ranks the same time.
    static bool in_step(const ReplayedIteration& replayed) {
        for (TaskId task = 0; task < replayed.graph.tasks().size(); ++task) {
            if (replayed.graph.tasks()[task].phase != Phase::update) continue;
            const Interval window = window_of(replayed.timeline, task, 1);
            if (std::abs(window.end_s - window.start_s - replayed.time.iteration_s) >
                negligible * replayed.time.iteration_s)
                return false;
        }
        return true;
    }

    static Side side(const ReplayedIteration& replayed, std::size_t iteration) {
        const TaskId update = last(replayed);
        const auto& recorded = replayed.timeline.recorded;
        return {&replayed, iteration, iteration == 0 ? 0 : recorded[iteration - 1][update].end_s,
                recorded[iteration][update].end_s};
    }

    void begin(std::size_t iteration) {
        few_ = side(fewer_, iteration);
        many_ = side(more_, iteration);
        period_s_ = (many_.end_s - many_.start_s) - (few_.end_s - few_.start_s);
        close_s_ = negligible * (many_.end_s - many_.start_s) + instant_s;
        widest_s_ = std::max(widest_s_, close_s_);
    }

    bool inserts_a_period_here() const {
        // The times at which the first task begins and the last one ends that have no counterpart.
        double begins_s = std::numeric_limits<double>::infinity(), ended_s = -begins_s;
        for (StreamId stream = 0; stream < fewer_.graph.streams().size(); ++stream) {
            const std::span<const TaskId> few = fewer_.graph.tasks_of(stream), many = more_.graph.tasks_of(stream);
            if (many.size() < few.size()) return false;
            const std::size_t added = many.size() - few.size();
            for (std::size_t i = 0; i < many.size(); ++i) {
                const Interval time = many_.time_of(many[i]);
                if (i >= few.size() || !corresponds(few[i], many[i], 0)) {
                    begins_s = std::min(begins_s, time.start_s);
                    if (i < few.size()) begins_s = std::min(begins_s, few_.time_of(few[i]).start_s);
                }
                if (i < added || !corresponds(few[i - added], many[i], period_s_)) {
                    ended_s = std::max(ended_s, time.end_s - period_s_);
                    if (i >= added) ended_s = std::max(ended_s, few_.time_of(few[i - added]).end_s);
                }
            }
        }
        return ended_s + period_s_ <= begins_s + close_s_;
    }

    bool same_exchange(const Task& a, const Task& b) const {
        if (a.exchange == Task::no_exchange || b.exchange == Task::no_exchange) return a.exchange == b.exchange;
        const Exchange& few = fewer_.graph.exchange(a.exchange);
        const Exchange& many = more_.graph.exchange(b.exchange);
        const std::span<const ProcessId> here = fewer_.graph.group(few.group), there = more_.graph.group(many.group);
        return few.bytes == many.bytes && few.tag == many.tag && few.kind == many.kind && a.member == b.member &&
               here.size() == there.size() && here.front() == there.front();
    }

    /// Returns whether a task of the shorter replay is one of the longer, which is so much later there.
    bool corresponds(TaskId few, TaskId many, double later_s) const {
        const Task& a = fewer_.graph.tasks()[few];
        const Task& b = more_.graph.tasks()[many];
        if (a.phase != b.phase || a.subject != b.subject || a.seconds != b.seconds || !same_exchange(a, b))
            return false;
        const Interval here = few_.time_of(few), there = many_.time_of(many);
        return std::abs(here.start_s + later_s - there.start_s) <= close_s_ &&
               std::abs(here.end_s + later_s - there.end_s) <= close_s_;
    }

    const ReplayedIteration& fewer_;
    const ReplayedIteration& more_;
    Side few_ = {}, many_ = {};
    double period_s_ = 0, close_s_ = 0, widest_s_ = 0;
};

/// Adds further periods to what two replays show, of which the longer one has a period more.
class Continued {
public:
    /// `close_s`: error of a period.
    Continued(std::int64_t periods, double close_s) : periods_(periods), close_s_(close_s) {}

    double operator()(double fewer, double more) const { return more + static_cast<double>(periods_) * (more - fewer); }
    std::uint64_t operator()(std::uint64_t fewer, std::uint64_t more) const {
        return more + static_cast<std::uint64_t>(periods_) * (more - fewer);
    }
    void each(const std::vector<std::uint64_t>& fewer, std::vector<std::uint64_t>& more) const {
        for (std::size_t i = 0; i < more.size(); ++i) more[i] = (*this)(fewer[i], more[i]);
    }

    void times(const Breakdown& fewer, Breakdown& more) const {
        if (more.pipeline_bubble) {
            const double idle_s =
                (*this)(*fewer.pipeline_bubble * fewer.iteration_s, *more.pipeline_bubble * more.iteration_s);
            more.pipeline_bubble = idle_s / (*this)(fewer.iteration_s, more.iteration_s);
        }
        for (double Breakdown::*const seconds :
             {&Breakdown::iteration_s, &Breakdown::compute_s, &Breakdown::communication_s,
              &Breakdown::exposed_communication_s, &Breakdown::waiting_s, &Breakdown::idle_s, &Breakdown::exchanges_s,
              &Breakdown::longest_compute_s, &Breakdown::longest_reduction_s, &Breakdown::longest_copies_s})
            more.*seconds = (*this)(fewer.*seconds, more.*seconds);
        if (more.activity)
            for (double Activity::*const seconds :
                 {&Activity::compute_s, &Activity::exposed_communication_s, &Activity::host_s})
                *more.activity.*seconds = (*this)(*fewer.activity.*seconds, *more.activity.*seconds);
        for (double Breakdown::*const part :
             {&Breakdown::exposed_communication_s, &Breakdown::waiting_s, &Breakdown::idle_s})
            more.*part = beyond_rounding(more.*part, more.iteration_s);
    }

    /// The longer replay stands for all: what it simulated is what counts as simulated.
    void counts(const Timeline& fewer, Timeline& more) const {
        const std::uint64_t simulated = more.messages - more.messages_folded;
        more.messages = (*this)(fewer.messages, more.messages);
        more.messages_folded = more.messages - simulated;
        more.bytes_sent = (*this)(fewer.bytes_sent, more.bytes_sent);
        if (std::isfinite(more.folding_error_s))
            more.folding_error_s =
                (*this)(std::min(fewer.folding_error_s, more.folding_error_s), more.folding_error_s) +
                static_cast<double>(periods_) * close_s_;
        each(fewer.sent_by, more.sent_by);
        each(fewer.received_by, more.received_by);
        for (std::size_t i = 0; i < more.links.size(); ++i)
            more.links[i].bytes = (*this)(fewer.links[i].bytes, more.links[i].bytes);
    }

private:
    std::int64_t periods_;
    double close_s_;
};

bool same_links(const Timeline& fewer, const Timeline& more) {
    return std::ranges::equal(fewer.links, more.links, {}, &LinkUse::name, &LinkUse::name);
}

/// Returns the place of the link with the highest utilisation, the first of several.
std::size_t busiest_link(const Timeline& timeline) {
    const auto busier = [](const LinkUse& a, const LinkUse& b) {
        return static_cast<double>(a.bytes) * b.bandwidth_Bps < static_cast<double>(b.bytes) * a.bandwidth_Bps;
    };
    return static_cast<std::size_t>(std::ranges::max_element(timeline.links, busier) - timeline.links.begin());
}

}  // namespace

Lowered with_micro_batches(Lowered training, std::int64_t count) {
    training.plan.parallelism.pipeline.micro_batches = count;
    training.arrangement.micro_batches = static_cast<std::uint32_t>(count);
    for (RankKind& kind : training.kinds) kind.arrangement.micro_batches = training.arrangement.micro_batches;
    return training;
}

std::vector<std::int64_t> replayed_micro_batches(const Lowered& training) {
    if (!may_repeat(training)) return {};
    const Pipeline& pipeline = training.plan.parallelism.pipeline;
    const std::vector<Sizes> sizes = tries(pipeline, pipeline.micro_batches);
    if (sizes.empty()) return {};
    return {sizes.front().fewer, sizes.front().more()};
}

std::optional<ReplayedIteration> fold_micro_batches(const Lowered& training,
                                                    const std::function<ReplayedIteration(const Lowered&)>& replay) {
    if (!may_repeat(training)) return std::nullopt;
    const std::int64_t all = training.plan.parallelism.pipeline.micro_batches;
    for (const Sizes& sizes : tries(training.plan.parallelism.pipeline, all)) {
        const ReplayedIteration fewer = replay(with_micro_batches(training, sizes.fewer));
        if (always_folds(fewer.folded.choice.asked) && !fewer.folded.choice.folds) return std::nullopt;
        ReplayedIteration more = replay(with_micro_batches(training, sizes.more()));
        Comparison comparison(fewer, more);
        if (!comparison.inserts_a_period() || !same_links(fewer.timeline, more.timeline)) continue;
        const Continued continued((all - sizes.more()) / sizes.period, comparison.close_s());
        const std::size_t busiest = busiest_link(more.timeline);
        continued.counts(fewer.timeline, more.timeline);
        // The ways that a link leaves unused are known of the busiest one, for the traffic of the longer replay.
        if (busiest_link(more.timeline) != busiest)
            for (LinkUse& link : more.timeline.links) link.unused_ways = 0;
        continued.times(fewer.time, more.time);
        more.folded = folded_of(std::move(more.folded.choice), more.timeline);
        more.folded.micro_batches_folded = static_cast<std::uint32_t>(all - sizes.more());
        return more;
    }
    return std::nullopt;
}

}  // namespace syncline
