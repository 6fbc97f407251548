#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/jobs/devices.hpp"
#include "sim/jobs/job_replay.hpp"
#include "sim/plan/jobs_plan.hpp"

/// When and where jobs start, and how long they take beside each other.
///
/// A job that waits starts when another gives its devices back, and that moment depends on all jobs that run. The
/// future changes nothing that was before: jobs that have started are replayed from the beginning of time, the first
/// end at which a waiting job can start is where it starts, and its group is replayed with it. A group has the jobs
/// that share links with each other at some time, directly or by others; each is replayed together, once for each set
/// of its jobs. A job that has ended takes nothing from those that start later.
namespace syncline {

class JobSchedule {
public:
    JobSchedule(const Cluster& cluster, const JobsPlan& plan, const Watch& watch);

    /// Starts all jobs that can ever start.
    void run();

    struct Started {
        PlacedJob job;
        JobRun alone;
    };
    /// By job, in the order of the plan; null: it never starts.
    const std::vector<std::unique_ptr<Started>>& started() const { return started_; }
    /// Returns the jobs of each group that shares links, or other traffic, in the order of their numbers.
    std::vector<std::vector<std::size_t>> groups() const;
    /// Returns why a job never starts.
    std::string why_not(std::size_t job) const;
    const Devices& devices() const { return devices_; }

private:
    struct Group {
        std::vector<std::size_t> jobs;  ///< in the order of their numbers
        std::vector<JobRun> runs;       ///< of each; empty: not known since a job joined
    };

    /// Starts a job now if it finds devices.
    bool start(std::size_t job, double now_s);
    void end(std::size_t job);
    void start_waiting(double now_s);
    void backfill(double now_s);
    std::optional<std::vector<std::int64_t>> choose(const Devices& devices, std::size_t job) const;
    PlacedJob placed(std::size_t job, std::vector<std::int64_t> devices, double now_s);
    /// Puts a job that has started in a group with those that run on its links.
    void join(std::size_t job);
    /// Returns when a started job ends, if nothing starts after it.
    double end_s(std::size_t job);

    const Cluster& cluster_;
    const JobsPlan& plan_;
    const Watch& watch_;
    const bool all_share_;  ///< the links of a job are not known before it runs beside the others
    Devices devices_;
    std::vector<std::unique_ptr<Started>> started_;
    std::vector<std::size_t> running_, waiting_;
    std::map<std::size_t, std::uint32_t> iterations_;             ///< by job with a duration
    std::vector<std::shared_ptr<Group>> group_of_;                ///< by job
    std::map<std::string, std::vector<std::size_t>> running_on_;  ///< by link
};

}  // namespace syncline
