#include "sim/jobs/jobs_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "sim/base/counted.hpp"
#include "sim/jobs/neighbours.hpp"
#include "sim/jobs/schedule.hpp"

namespace syncline {

namespace {

/// Maximum number of messages of jobs that share links that are recorded: 64 bytes each.
constexpr std::uint64_t most_recorded = 8'000'000;
constexpr std::size_t most_neighbours = 10;

std::uint64_t messages_of(const PlacedJob& job) {
    return count_messages(job.graph, job.iterations);
}

class Experiment {
public:
    Experiment(const Cluster& cluster, const JobsPlan& plan, const Watch& watch)
        : cluster_(cluster), plan_(plan), watch_(watch), schedule_(cluster, plan, watch) {}

    JobsResult run() {
        schedule_.run();
        for (std::size_t job = 0; job < plan_.jobs.size(); ++job) add(job);
        for (const std::vector<std::size_t>& group : schedule_.groups()) replay(group);
        result_.devices = static_cast<std::int64_t>(schedule_.devices().count());
        add_use();
        return std::move(result_);
    }

    /// Returns the energy of the whole cluster in the makespan.
    std::optional<Energy> energy(double makespan_s) const {
        Working working{makespan_s, cluster_.nodes, static_cast<std::uint32_t>(cluster_.nodes), activity_, {}};
        for (const auto& [name, link] : links_) working.links.push_back(link);
        return energy_of(cluster_, working);
    }

    /// Returns the number of first iterations whose neighbours are known; 0: all are.
    std::uint32_t sampled() const { return sampled_; }

private:
    void add(std::size_t number) {
        const JobPlan& plan = plan_.jobs[number];
        JobResult& job = result_.jobs.emplace_back();
        job.name = plan.name;
        job.ranks = plan.ranks();
        job.iterations = plan.iterations();
        job.arrival_s = plan.arrival_s;
        const auto& started = schedule_.started()[number];
        if (!started) {
            job.why_not = schedule_.why_not(number);
            return;
        }
        std::set<std::int64_t> nodes;
        std::set<std::uint32_t> racks;
        for (const std::int64_t device : started->job.devices) {
            nodes.insert(schedule_.devices().node_of(device));
            racks.insert(schedule_.devices().rack_of(device));
        }
        job.nodes.assign(nodes.begin(), nodes.end());
        job.racks = static_cast<std::uint32_t>(racks.size());
        job.in_racks.assign(racks.begin(), racks.end());
        job.start_s = started->job.start_s;
        job.iterations = started->job.iterations;
        job.messages = messages_of(started->job);
        job.alone_s = (started->alone.end_s - started->job.start_s) / job.iterations;
    }

    void replay(const std::vector<std::size_t>& group) {
        ++result_.groups;
        if (group.size() == 1 && plan_.traffic.empty()) {
            const JobRun& alone = schedule_.started()[group.front()]->alone;
            carried(alone.links);
            return ran(group.front(), alone);
        }
        std::vector<const PlacedJob*> jobs;
        std::vector<std::string> names;
        std::uint64_t messages = 0;
        for (const std::size_t number : group) {
            jobs.push_back(&schedule_.started()[number]->job);
            names.push_back(plan_.jobs[number].name);
            messages += messages_of(*jobs.back());
        }
        for (const TrafficPlan& traffic : plan_.traffic) names.push_back(traffic.name);
        if (cluster_.native || !latency_is_ours(cluster_.network)) {
            result_.neighbours_known = false;
            const SharedReplay shared = replay_together(cluster_, jobs, plan_.traffic, {}, watch_);
            for (std::size_t i = 0; i < group.size(); ++i) ran(group[i], shared.runs[i]);
            return carried(shared.links);
        }
        // Of many iterations the first ones say who the neighbours are.
        TogetherOptions recorded{true};
        if (messages > most_recorded) {
            std::uint64_t each = 0;
            for (const PlacedJob* job : jobs) each += count_messages(job->graph);
            recorded.most_iterations = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, most_recorded / each));
            sampled_ = recorded.most_iterations;
        }
        const SharedReplay shared = replay_together(cluster_, jobs, plan_.traffic, recorded, watch_);
        std::optional<SharedReplay> whole;
        if (messages > most_recorded) whole = replay_together(cluster_, jobs, plan_.traffic, {}, watch_);
        const SharedReplay& all = whole ? *whole : shared;
        for (std::size_t i = 0; i < group.size(); ++i) ran(group[i], all.runs[i]);
        carried(all.links);
        std::vector<std::vector<Neighbour>> neighbours = neighbours_of(shared.graph, shared.timeline, names);
        for (std::size_t i = 0; i < group.size(); ++i) {
            JobResult& job = result_.jobs[group[i]];
            const std::uint32_t iterations = std::min(job.iterations, recorded.most_iterations);
            job.neighbours = std::move(neighbours[i]);
            if (job.neighbours.size() > most_neighbours) job.neighbours.resize(most_neighbours);
            for (Neighbour& one : job.neighbours)
                for (double* value : {&one.shared_s, &one.bytes, &one.taken_s}) *value /= iterations;
        }
    }

    void ran(std::size_t number, const JobRun& run) {
        JobResult& job = result_.jobs[number];
        job.end_s = run.end_s;
        job.iteration_s = (run.end_s - *job.start_s) / job.iterations;
        job.compute_s = run.longest_compute_s / job.iterations;
        job.bytes_sent = run.bytes_sent;
        const double held_s = static_cast<double>(job.ranks) * (run.end_s - *job.start_s);
        held_s_ += held_s;
        activity_.compute_s += run.activity.compute_s;
        activity_.exposed_communication_s += run.activity.exposed_communication_s;
        activity_.host_s += run.activity.host_s;
        job.energy_J = held_J(cluster_, held_s, run.activity);
    }

    void carried(const std::vector<LinkUse>& links) {
        if (!cluster_.has_power()) return;
        for (const LinkUse& link : links) {
            const auto [known, added] = links_.try_emplace(link.name, link);
            if (!added) known->second.bytes += link.bytes;
        }
    }

    void add_use() {
        double first_s = 0, last_s = 0;
        bool any = false;
        for (const JobResult& job : result_.jobs) {
            if (!job.end_s) continue;
            first_s = any ? std::min(first_s, job.arrival_s) : job.arrival_s;
            last_s = std::max(last_s, *job.end_s);
            any = true;
        }
        result_.makespan_s = last_s - first_s;
        const double device_s = static_cast<double>(result_.devices) * result_.makespan_s;
        if (device_s == 0) return;
        result_.cluster_use = activity_.compute_s / device_s;
        result_.allocated = held_s_ / device_s;
        result_.unheld_J = held_J(cluster_, beyond_rounding(device_s - held_s_, device_s), {});
    }

    const Cluster& cluster_;
    const JobsPlan& plan_;
    const Watch& watch_;
    JobSchedule schedule_;
    JobsResult result_;
    double held_s_ = 0;
    Activity activity_;
    std::map<std::string, LinkUse> links_;  ///< with the bytes of all jobs and other traffic; only for their energy
    std::uint32_t sampled_ = 0;
};

std::vector<std::string> notes_of(const JobsResult& jobs, const JobsPlan& plan, std::uint32_t sampled) {
    std::vector<std::string> notes;
    for (const JobResult& job : jobs.jobs)
        if (!job.why_not.empty()) notes.push_back(job.why_not);
    if (!jobs.neighbours_known) notes.push_back("neighbours are not known where SimGrid carries messages");
    if (sampled > 0)
        notes.push_back(
            fmt::format("neighbours are those of the first {}: jobs that share links send more than {} "
                        "messages",
                        counted(sampled, "iteration"), most_recorded));
    for (const JobPlan& job : plan.jobs) {
        if (job.trace) notes.insert(notes.end(), job.trace->trace->notes.begin(), job.trace->trace->notes.end());
    }
    std::ranges::sort(notes);
    notes.erase(std::unique(notes.begin(), notes.end()), notes.end());
    return notes;
}

}  // namespace

Result simulate(const Cluster& cluster, const JobsPlan& plan, const Watch& watch) {
    Result result;
    Experiment experiment(cluster, plan, watch);
    result.jobs = experiment.run();
    const JobsResult& jobs = *result.jobs;
    result.workload = "jobs";
    result.ranks = plan.ranks();
    result.fabric = fabric_of(cluster);
    result.transport = transport_of(cluster);
    result.exchange = "jobs";
    result.time.iteration_s = jobs.mean_iteration_s();
    std::set<std::int64_t> nodes;
    for (const JobResult& job : jobs.jobs) {
        nodes.insert(job.nodes.begin(), job.nodes.end());
        result.messages += job.messages;
        result.bytes_sent += job.bytes_sent;
    }
    result.energy = experiment.energy(jobs.makespan_s);
    result.cost = cost_of(cluster, std::ssize(nodes), plan.ranks(), jobs.makespan_s);
    result.folded.messages_simulated = result.messages;
    result.closed_form.why_not = "none for jobs";
    result.notes = notes_of(jobs, plan, experiment.sampled());
    double end_s = 0;
    for (const JobResult& job : jobs.jobs) end_s = std::max(end_s, job.end_s.value_or(0));
    for (std::string& note : fault_notes(cluster, end_s, {})) result.notes.push_back(std::move(note));
    if (result.energy)
        if (const std::string note = result.energy->note(); !note.empty()) result.notes.push_back(note);
    return result;
}

}  // namespace syncline
