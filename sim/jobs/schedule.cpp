#include "sim/jobs/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "sim/analysis/observed.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/replay_error.hpp"
#include "sim/base/split_mix.hpp"
#include "sim/base/units.hpp"

namespace syncline {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

bool links_unknown(const Cluster& cluster) {
    return std::ranges::any_of(cluster.faults, &Fault::rerouted) || cluster.native ||
           !latency_is_ours(cluster.network) || depends_on_load(policy_of(cluster.fabric));
}

/// Returns how often a job's iteration is done in its duration. Throws ReplayError if that is too often.
std::uint32_t iterations_in(const JobPlan& job, double iteration_s) {
    constexpr double most = 1e7;
    if (iteration_s <= 0)
        throw ReplayError(
            fmt::format("job '{}' has a 'duration', but its iterations take no time: give it "
                        "'training.iterations' in its place",
                        job.name));
    const double count = std::round(job.duration_s / iteration_s);
    if (count > most)
        throw ReplayError(
            fmt::format("job '{}' has {:.3g} iterations in its 'duration' of {}, more than {:.0f} "
                        "million: give it a shorter one, or 'training.iterations' in its place",
                        job.name, count, format_quantity(job.duration_s, Dimension::seconds), most / 1e6));
    return static_cast<std::uint32_t>(std::max(count, 1.0));
}

}  // namespace

JobSchedule::JobSchedule(const Cluster& cluster, const JobsPlan& plan, const Watch& watch)
    : cluster_(cluster),
      plan_(plan),
      watch_(watch),
      all_share_(links_unknown(cluster) || !plan.traffic.empty()),
      devices_(cluster),
      started_(plan.jobs.size()),
      group_of_(plan.jobs.size()) {}

std::optional<std::vector<std::int64_t>> JobSchedule::choose(const Devices& devices, std::size_t job) const {
    const JobPlan& plan = plan_.jobs[job];
    return devices.choose(plan.placement, static_cast<std::size_t>(plan.ranks()), plan.rank_placement().devices,
                          split_mix(plan_.seed + job));
}

PlacedJob JobSchedule::placed(std::size_t job, std::vector<std::int64_t> devices, double now_s) {
    const JobPlan& plan = plan_.jobs[job];
    PlacedJob placed = place_job(cluster_, plan, std::move(devices), now_s);
    if (plan.duration_s == 0) return placed;
    const auto [known, added] = iterations_.try_emplace(job, 1);
    if (added) {
        const Cluster sound = without_faults(cluster_);
        const auto packed = Devices(sound).choose(JobPlacement::packed, static_cast<std::size_t>(plan.ranks()), {}, 0);
        const double one_s = iteration_alone_s(sound, place_job(sound, plan, *packed, 0), watch_);
        known->second = iterations_in(plan, one_s);
    }
    placed.iterations = known->second;
    return placed;
}

bool JobSchedule::start(std::size_t job, double now_s) {
    auto devices = choose(devices_, job);
    if (!devices) return false;
    auto started = std::make_unique<Started>();
    started->job = placed(job, std::move(*devices), now_s);
    started->alone = replay_alone(cluster_, started->job, watch_);
    devices_.take(started->job.devices);
    started_[job] = std::move(started);
    running_.push_back(job);
    join(job);
    return true;
}

void JobSchedule::end(std::size_t job) {
    devices_.give_back(started_[job]->job.devices);
    std::erase(running_, job);
    if (!all_share_)
        for (const LinkUse& link : started_[job]->alone.links) std::erase(running_on_[link.name], job);
}

void JobSchedule::join(std::size_t job) {
    auto group = std::make_shared<Group>();
    group->jobs.push_back(job);
    group_of_[job] = group;
    const auto merge = [&](std::size_t other) {
        const std::shared_ptr<Group> joined = group_of_[other];
        if (joined == group) return;
        group->jobs.insert(group->jobs.end(), joined->jobs.begin(), joined->jobs.end());
        for (const std::size_t one : joined->jobs) group_of_[one] = group;
    };
    if (all_share_) {
        // Other traffic goes on from the beginning, whoever runs beside it.
        for (std::size_t other = 0; other < started_.size(); ++other)
            if (started_[other]) merge(other);
    } else {
        for (const LinkUse& link : started_[job]->alone.links) {
            std::vector<std::size_t>& running = running_on_[link.name];
            for (const std::size_t other : running) merge(other);
            running.push_back(job);
        }
    }
    std::ranges::sort(group->jobs);
}

void JobSchedule::start_waiting(double now_s) {
    std::set<std::size_t> unfit;  // what does not fit now does not fit when others have taken devices
    for (std::size_t i = 0; i < waiting_.size();) {
        const std::size_t written = plan_.jobs[waiting_[i]].written;
        if (!unfit.contains(written) && start(waiting_[i], now_s)) {
            waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
        } else if (plan_.queue == JobQueue::skip) {
            unfit.insert(written);
            ++i;
        } else {
            break;
        }
    }
    if (plan_.queue == JobQueue::backfill) backfill(now_s);
}

void JobSchedule::backfill(double now_s) {
    if (waiting_.size() < 2) return;
    // When, and where, the first one could start.
    Devices later = devices_;
    std::vector<std::pair<double, std::size_t>> ends;
    for (const std::size_t job : running_) ends.emplace_back(end_s(job), job);
    std::ranges::sort(ends);
    double reserved_s = never;
    std::vector<std::int64_t> reserved;
    for (const auto& [end_s, job] : ends) {
        later.give_back(started_[job]->job.devices);
        if (auto devices = choose(later, waiting_.front())) {
            reserved_s = end_s;
            reserved = std::move(*devices);
            break;
        }
    }
    std::ranges::sort(reserved);
    for (std::size_t i = 1; i < waiting_.size();) {
        const std::size_t job = waiting_[i];
        const auto devices = choose(devices_, job);
        bool starts = false;
        if (devices) {
            const auto of_first = [&](std::int64_t device) { return std::ranges::binary_search(reserved, device); };
            starts = reserved_s == never || std::ranges::none_of(*devices, of_first) ||
                     replay_alone(cluster_, placed(job, *devices, now_s), watch_).end_s <= reserved_s;
        }
        if (starts && start(job, now_s))
            waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
        else
            ++i;
    }
}

std::vector<std::vector<std::size_t>> JobSchedule::groups() const {
    std::vector<std::vector<std::size_t>> result;
    for (std::size_t job = 0; job < started_.size(); ++job)
        if (started_[job] && group_of_[job]->jobs.front() == job) result.push_back(group_of_[job]->jobs);
    return result;
}

double JobSchedule::end_s(std::size_t job) {
    Group& group = *group_of_[job];
    if (group.jobs.size() == 1 && plan_.traffic.empty()) return started_[job]->alone.end_s;
    if (group.runs.empty()) {
        std::vector<const PlacedJob*> jobs;
        for (const std::size_t one : group.jobs) jobs.push_back(&started_[one]->job);
        group.runs = replay_together(cluster_, jobs, plan_.traffic, {}, watch_).runs;
    }
    return group.runs[static_cast<std::size_t>(std::ranges::lower_bound(group.jobs, job) - group.jobs.begin())].end_s;
}

void JobSchedule::run() {
    std::vector<std::size_t> arriving(plan_.jobs.size());
    std::iota(arriving.begin(), arriving.end(), std::size_t{0});
    std::ranges::stable_sort(arriving, {}, [&](std::size_t job) { return plan_.jobs[job].arrival_s; });
    std::size_t next = 0;
    while (next < arriving.size() || !waiting_.empty()) {
        double arrival_s = never;
        if (next < arriving.size()) arrival_s = plan_.jobs[arriving[next]].arrival_s;
        double first_end_s = never;
        for (const std::size_t job : running_) first_end_s = std::min(first_end_s, end_s(job));
        const double now_s = std::min(arrival_s, first_end_s);
        if (now_s == never) break;  // the jobs that wait never start
        std::vector<std::size_t> ended;
        if (first_end_s == now_s)
            for (const std::size_t job : running_)
                if (end_s(job) == now_s) ended.push_back(job);
        for (const std::size_t job : ended) end(job);
        // Those that arrive at the same instant are looked at together.
        for (; next < arriving.size() && plan_.jobs[arriving[next]].arrival_s == now_s; ++next)
            waiting_.push_back(arriving[next]);
        start_waiting(now_s);
    }
}

std::string JobSchedule::why_not(std::size_t job) const {
    const JobPlan& plan = plan_.jobs[job];
    if (choose(devices_, job))
        return fmt::format("job '{}' waits for job '{}', which never starts", plan.name,
                           plan_.jobs[waiting_.front()].name);
    if (plan.placement == JobPlacement::rack)
        return fmt::format("job '{}' never starts: `placement: rack` needs {} in one rack, and the largest has {}",
                           plan.name, counted(plan.ranks(), "device"), devices_.largest_rack());
    return fmt::format("job '{}' never starts: it needs {}, and the cluster has {}", plan.name,
                       counted(plan.ranks(), "device"), devices_.count());
}

}  // namespace syncline
