#include "sim/batch/batch.hpp"

#include <chrono>
#include <deque>
#include <utility>

#include "sim/base/interrupt.hpp"
#include "sim/batch/claims.hpp"
#include "sim/batch/simulation.hpp"
#include "sim/process/pool.hpp"
#include "sim/replay/replay.hpp"

namespace syncline::batch {

namespace {

class Batch {
public:
    Batch(Store& store, const std::vector<std::string>& runs, const BatchOptions& options)
        : store_(store),
          retry_failed_(options.retry_failed),
          force_(options.force),
          claims_(store.file().parent_path()),
          waiting_(runs.begin(), runs.end()),
          pool_(options.jobs, options.timeout_s) {
        progress_.total = static_cast<std::int64_t>(runs.size());
    }

    BatchOutcome run(const std::function<void(const BatchProgress&)>& watch) {
        // A synchronous write takes 13 ms on a slow disk, during which no worker is started. Runs that end shortly
        // after each other are therefore stored together.
        constexpr double look_again_s = 0.2, together_s = 0.5;
        const HeldInterrupts held;
        std::vector<Ended> ended;
        Clock::time_point kept = begin_;
        while (!held.interrupted() && under_way()) {
            try {
                start();  // before ended runs are stored, so that others work meanwhile
            } catch (...) {
                keep(ended);
                throw;
            }
            if (seconds_since(kept) >= together_s) {
                keep(std::exchange(ended, {}));
                kept = Clock::now();
            }
            report(watch);
            for (Ended& one : pool_.ended(look_again_s, held.descriptor())) ended.push_back(std::move(one));
        }
        keep(ended);
        report(watch);
        require_kept();
        return {progress_.done, progress_.failed, held.interrupted()};
    }

private:
    using Clock = std::chrono::steady_clock;

    static double seconds_since(Clock::time_point then) {
        return std::chrono::duration<double>(Clock::now() - then).count();
    }

    bool under_way() const { return !waiting_.empty() || !elsewhere_.empty() || !pool_.idle(); }

    /// Starts runs until the pool is full. Runs that another program has claimed are tried again when no others are
    /// left: they are then done, or can be claimed if that program has ended.
    void start() {
        if (waiting_.empty()) waiting_.swap(elsewhere_);
        while (!pool_.full() && !waiting_.empty()) {
            const std::string id = std::move(waiting_.front());
            waiting_.pop_front();
            if (!claims_.take(id)) {
                elsewhere_.push_back(id);
            } else if (const Status status = store_.status(id); is_wanted(status)) {
                if (!start(id)) return;
            } else {  // another program has just finished it
                claims_.release(id);
                count(status == Status::done);
            }
        }
    }

    bool is_wanted(Status status) const {
        return status == Status::pending || (status == Status::failed && retry_failed_);
    }

    /// Starts a run. Returns false if no further process can be started beside those that work.
    bool start(const std::string& id) {
        const PlannedRun run = store_.planned(id);
        try {
            pool_.start(id, [&] { return one_line(simulate_run(id, run, force_)); });
            return true;
        } catch (const ReplayError&) {
            if (pool_.idle()) throw;
            claims_.release(id);
            waiting_.push_front(id);
            return false;
        }
    }

    void keep(const std::vector<Ended>& ended) {
        if (ended.empty()) return;
        std::vector<Ending> endings;
        for (const Ended& one : ended)
            endings.push_back({one.id, one.done ? Status::done : Status::failed, one.text, one.wall_s});
        store_.finish(endings);
        for (const Ended& one : ended) {
            claims_.release(one.id);
            count(one.done);
            ended_.push_back(one.id);
        }
    }

    /// Reads the store again, which checks it: SQLite has not looked at pages that it still had in memory, nor at the
    /// name of the file. Throws OutputError unless all ended runs are there.
    void require_kept() {
        if (ended_.empty()) return;
        Store kept(store_.file().parent_path(), Store::Mode::read);
        for (const std::string& id : ended_)
            if (kept.status(id) == Status::pending)
                throw damage(kept.file(), "results that were written to it during this batch are missing");
    }

    void report(const std::function<void(const BatchProgress&)>& watch) {
        progress_.elapsed_s = seconds_since(begin_);
        if (watch) watch(progress_);
    }

    void count(bool done) { ++(done ? progress_.done : progress_.failed); }

    Store& store_;
    bool retry_failed_, force_;
    Claims claims_;
    std::deque<std::string> waiting_, elsewhere_;
    std::vector<std::string> ended_;
    Pool pool_;
    BatchProgress progress_;
    Clock::time_point begin_ = Clock::now();
};

}  // namespace

BatchOutcome run_batch(Store& store, const std::vector<std::string>& runs, const BatchOptions& options,
                       const std::function<void(const BatchProgress&)>& watch) {
    return Batch(store, runs, options).run(watch);
}

}  // namespace syncline::batch
