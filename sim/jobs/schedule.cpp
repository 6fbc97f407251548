#include "sim/jobs/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "sim/base/counted.hpp"
#include "sim/base/split_mix.hpp"

namespace syncline {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

bool links_unknown(const Cluster& cluster) {
    return std::ranges::any_of(cluster.faults, &Fault::rerouted) || cluster.native ||
           !latency_is_ours(cluster.network) || depends_on_load(policy_of(cluster.fabric));
}

}  // namespace

JobSchedule::JobSchedule(const Cluster& cluster, const JobsPlan& plan, const Watch& watch)
    : cluster_(cluster),
      plan_(plan),
      watch_(watch),
      all_share_(links_unknown(cluster) || !plan.traffic.empty()),
      devices_(cluster),
      started_(plan.jobs.size()) {}

std::optional<std::vector<std::int64_t>> JobSchedule::choose(const Devices& devices, std::size_t job) const {
    const JobPlan& plan = plan_.jobs[job];
    return devices.choose(plan.placement, static_cast<std::size_t>(plan.ranks()), plan.rank_placement().devices,
                          split_mix(plan_.seed + job));
}

bool JobSchedule::start(std::size_t job, double now_s) {
    auto devices = choose(devices_, job);
    if (!devices) return false;
    auto started = std::make_unique<Started>();
    started->job = place_job(cluster_, plan_.jobs[job], std::move(*devices), now_s);
    started->alone = replay_alone(cluster_, started->job, watch_);
    devices_.take(started->job.devices);
    started_[job] = std::move(started);
    running_.push_back(job);
    return true;
}

void JobSchedule::start_waiting(double now_s) {
    for (std::size_t i = 0; i < waiting_.size();) {
        if (start(waiting_[i], now_s))
            waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
        else if (plan_.queue == JobQueue::skip)
            ++i;
        else
            break;
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
                     replay_alone(cluster_, place_job(cluster_, plan_.jobs[job], *devices, now_s), watch_).end_s <=
                         reserved_s;
        }
        if (starts && start(job, now_s))
            waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
        else
            ++i;
    }
}

std::vector<std::vector<std::size_t>> JobSchedule::groups() const {
    std::vector<std::size_t> head(started_.size());  // of each job's group
    std::iota(head.begin(), head.end(), std::size_t{0});
    const auto head_of = [&](std::size_t job) {
        while (head[job] != job) job = head[job];
        return job;
    };
    const auto join = [&](std::size_t a, std::size_t b) {
        const std::size_t one = head_of(a), other = head_of(b);
        head[std::max(one, other)] = std::min(one, other);
    };
    std::map<std::string, std::size_t> user;
    for (std::size_t job = 0; job < started_.size(); ++job) {
        if (!started_[job]) continue;
        if (all_share_) join(job, user.try_emplace("", job).first->second);
        for (const std::string& link : started_[job]->alone.links) join(job, user.try_emplace(link, job).first->second);
    }
    std::map<std::size_t, std::vector<std::size_t>> groups;
    for (std::size_t job = 0; job < started_.size(); ++job)
        if (started_[job]) groups[head_of(job)].push_back(job);
    std::vector<std::vector<std::size_t>> result;
    for (auto& [first, jobs] : groups) result.push_back(std::move(jobs));
    return result;
}

double JobSchedule::end_s(std::size_t job) {
    for (const std::vector<std::size_t>& group : groups()) {
        const auto place = std::ranges::find(group, job);
        if (place == group.end()) continue;
        if (group.size() == 1 && plan_.traffic.empty()) return started_[job]->alone.end_s;
        const auto [found, added] = replayed_.try_emplace(group);
        if (added) {
            std::vector<const PlacedJob*> jobs;
            for (const std::size_t one : group) jobs.push_back(&started_[one]->job);
            found->second = replay_together(cluster_, jobs, plan_.traffic, {}, watch_).runs;
        }
        return found->second[static_cast<std::size_t>(place - group.begin())].end_s;
    }
    return never;
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
        for (const std::size_t job : ended) {
            devices_.give_back(started_[job]->job.devices);
            std::erase(running_, job);
        }
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
