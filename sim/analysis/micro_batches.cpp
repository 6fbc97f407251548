#include "sim/analysis/micro_batches.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace syncline {

namespace {

constexpr double negligible = 1e-9;  // of an iteration

/// Two numbers of micro-batches that stand for more: one, and a period more.
struct Sizes {
    std::int64_t fewer, period;

    std::int64_t more() const { return fewer + period; }
    std::int64_t both() const { return fewer + more(); }
};

/// Returns the smallest numbers with which micro-batches may repeat: as many as fill a pipeline and empty it.
Sizes least_sizes(const Pipeline& pipeline) {
    const std::int64_t stages = pipeline.stages;
    if (stages == 1) return {2, 1};
    if (pipeline.schedule == PipelineSchedule::interleaved) return {3 * stages, stages};
    return {2 * stages + 2, 1};
}

bool may_repeat(const Lowered& training) {
    const Plan& plan = training.plan;
    const Pipeline& pipeline = plan.parallelism.pipeline;
    return training.window == 1 && !plan.noise.varies() && pipeline.schedule != PipelineSchedule::gpipe;
}

/// Returns the training with another number of the same micro-batches: what is spread over all of them stays as it is.
Lowered with_micro_batches(Lowered training, std::int64_t count) {
    training.plan.fidelity = Fidelity::folded;  // of the whole, though these may have few messages
    training.plan.parallelism.pipeline.micro_batches = count;
    training.arrangement.micro_batches = static_cast<std::uint32_t>(count);
    return training;
}

/// Compares the measured iterations of two replays, each from its start.
class Comparison {
public:
    Comparison(const ReplayedIteration& fewer, const ReplayedIteration& more)
        : fewer_(fewer),
          more_(more),
          period_s_(more.time.iteration_s - fewer.time.iteration_s),
          close_s_(negligible * more.time.iteration_s),
          start_of_fewer_s_(start_s(fewer)),
          start_of_more_s_(start_s(more)) {}

    bool inserts_a_period() const {
        const std::vector<Stream>& streams = fewer_.graph.streams();
        if (!steady(fewer_) || !steady(more_) || last_rank(fewer_) != last_rank(more_) ||
            !std::ranges::equal(streams, more_.graph.streams(), same_stream))
            return false;
        // The times at which the first task begins and the last one ends that have no counterpart.
        double begins_s = std::numeric_limits<double>::infinity(), ended_s = -begins_s;
        for (StreamId stream = 0; stream < streams.size(); ++stream) {
            const std::span<const TaskId> few = fewer_.graph.tasks_of(stream), many = more_.graph.tasks_of(stream);
            if (many.size() < few.size()) return false;
            const std::size_t added = many.size() - few.size();
            for (std::size_t i = 0; i < many.size(); ++i) {
                const Interval time = time_of(more_, many[i], start_of_more_s_);
                if (i >= few.size() || !corresponds(few[i], many[i], 0)) {
                    begins_s = std::min(begins_s, time.start_s);
                    if (i < few.size())
                        begins_s = std::min(begins_s, time_of(fewer_, few[i], start_of_fewer_s_).start_s);
                }
                if (i < added || !corresponds(few[i - added], many[i], period_s_)) {
                    ended_s = std::max(ended_s, time.end_s - period_s_);
                    if (i >= added)
                        ended_s = std::max(ended_s, time_of(fewer_, few[i - added], start_of_fewer_s_).end_s);
                }
            }
        }
        return ended_s <= begins_s;
    }

private:
    static bool same_stream(const Stream& a, const Stream& b) { return a.process == b.process && a.kind == b.kind; }

    /// A period that follows one of another length, a clock, or an agreed order may come out differently.
    static bool steady(const ReplayedIteration& replayed) {
        return replayed.time.drift <= negligible && replayed.graph.queues().empty() &&
               std::ranges::none_of(replayed.graph.tasks(), [](const Task& task) { return task.tick_s > 0; });
    }

    static ProcessId last_rank(const ReplayedIteration& replayed) {
        return replayed.graph.streams()[replayed.graph.tasks()[last_update(replayed.graph, replayed.timeline)].stream]
            .process;
    }

    static double start_s(const ReplayedIteration& replayed) {
        return window_of(replayed.timeline, last_update(replayed.graph, replayed.timeline), 1).start_s;
    }

    /// Returns a task's time since the start of the measured iteration.
    static Interval time_of(const ReplayedIteration& replayed, TaskId task, double start_s) {
        const Interval& time = replayed.timeline.measured()[task];
        return {time.start_s - start_s, time.end_s - start_s};
    }

    bool same_exchange(const Task& a, const Task& b) const {
        if (a.exchange == Task::no_exchange || b.exchange == Task::no_exchange) return a.exchange == b.exchange;
        const Exchange& few = fewer_.graph.exchange(a.exchange);
        const Exchange& many = more_.graph.exchange(b.exchange);
        return few.bytes == many.bytes && few.channel == many.channel && few.kind == many.kind && a.member == b.member;
    }

    /// Returns whether a task of the shorter replay is one of the longer, which is so much later there.
    bool corresponds(TaskId few, TaskId many, double later_s) const {
        const Task& a = fewer_.graph.tasks()[few];
        const Task& b = more_.graph.tasks()[many];
        if (a.phase != b.phase || a.subject != b.subject || a.seconds != b.seconds || !same_exchange(a, b))
            return false;
        const Interval here = time_of(fewer_, few, start_of_fewer_s_);
        const Interval there = time_of(more_, many, start_of_more_s_);
        return std::abs(here.start_s + later_s - there.start_s) <= close_s_ &&
               std::abs(here.end_s + later_s - there.end_s) <= close_s_;
    }

    const ReplayedIteration& fewer_;
    const ReplayedIteration& more_;
    const double period_s_, close_s_, start_of_fewer_s_, start_of_more_s_;
};

/// Continues what two replays show by `periods` more.
class Continued {
public:
    explicit Continued(std::int64_t periods) : periods_(periods) {}

    double operator()(double fewer, double more) const { return more + static_cast<double>(periods_) * (more - fewer); }
    std::uint64_t operator()(std::uint64_t fewer, std::uint64_t more) const {
        return more + static_cast<std::uint64_t>(periods_) * (more - fewer);
    }
    void all(const std::vector<std::uint64_t>& fewer, std::vector<std::uint64_t>& more) const {
        for (std::size_t i = 0; i < more.size(); ++i) more[i] = (*this)(fewer[i], more[i]);
    }

    void time(const Breakdown& fewer, Breakdown& more) const {
        if (more.pipeline_bubble) {
            const double idle_s =
                (*this)(*fewer.pipeline_bubble * fewer.iteration_s, *more.pipeline_bubble * more.iteration_s);
            more.pipeline_bubble = idle_s / (*this)(fewer.iteration_s, more.iteration_s);
        }
        for (double Breakdown::*const seconds :
             {&Breakdown::iteration_s, &Breakdown::compute_s, &Breakdown::communication_s,
              &Breakdown::exposed_communication_s, &Breakdown::waiting_s, &Breakdown::idle_s})
            more.*seconds = (*this)(fewer.*seconds, more.*seconds);
    }

    void counts(const Timeline& fewer, Timeline& more) const {
        const std::uint64_t simulated = fewer.messages - fewer.messages_folded + more.messages - more.messages_folded;
        more.messages = (*this)(fewer.messages, more.messages);
        more.messages_folded = more.messages - simulated;
        more.bytes_sent = (*this)(fewer.bytes_sent, more.bytes_sent);
        more.folding_error_s = (*this)(std::min(fewer.folding_error_s, more.folding_error_s), more.folding_error_s);
        all(fewer.sent_by, more.sent_by);
        all(fewer.received_by, more.received_by);
        for (std::size_t i = 0; i < more.links.size(); ++i)
            more.links[i].bytes = (*this)(fewer.links[i].bytes, more.links[i].bytes);
    }

private:
    std::int64_t periods_;
};

bool same_links(const Timeline& fewer, const Timeline& more) {
    return std::ranges::equal(fewer.links, more.links, {}, &LinkUse::name, &LinkUse::name);
}

}  // namespace

std::optional<ReplayedIteration> fold_micro_batches(const Lowered& training,
                                                    const std::function<ReplayedIteration(const Lowered&)>& replay) {
    if (!may_repeat(training)) return std::nullopt;
    const std::int64_t all = training.plan.parallelism.pipeline.micro_batches;
    std::int64_t replayed = 0;
    for (Sizes sizes = least_sizes(training.plan.parallelism.pipeline); 3 * (replayed + sizes.both()) <= 2 * all;
         sizes.fewer *= 2) {
        replayed += sizes.both();
        const ReplayedIteration fewer = replay(with_micro_batches(training, sizes.fewer));
        if (!fewer.folded.choice.folds) return std::nullopt;
        ReplayedIteration more = replay(with_micro_batches(training, sizes.more()));
        if (!Comparison(fewer, more).inserts_a_period() || !same_links(fewer.timeline, more.timeline)) continue;
        const Continued continued((all - sizes.more()) / sizes.period);
        continued.time(fewer.time, more.time);
        continued.counts(fewer.timeline, more.timeline);
        more.folded = folded_of(std::move(more.folded.choice), more.timeline);
        more.folded.micro_batches_folded = static_cast<std::uint32_t>(all - sizes.more());
        return more;
    }
    return std::nullopt;
}

}  // namespace syncline
