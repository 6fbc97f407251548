#include "sim/config/jobs_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "sim/base/did_you_mean.hpp"
#include "sim/base/split_mix.hpp"
#include "sim/config/keys.hpp"
#include "sim/config/scenario_file.hpp"
#include "sim/config/submissions.hpp"
#include "sim/config/variant.hpp"
#include "sim/document/override.hpp"
#include "sim/document/read_text.hpp"

namespace syncline::config {

namespace {

constexpr std::int64_t most_copies = 4096;
constexpr double latest_s = 1e8;    ///< three years: later times have too few digits for messages
constexpr double most_flows = 1e9;  ///< each is three tasks, whose numbers have 32 bits

/// A job of the file, which may stand for several.
struct Copies {
    JobPlan job;
    OpenPlan open;
    std::int64_t count = 1;
    double interval_s = 0;
    bool poisson = false, uniform = false;
    std::vector<double> arrivals_s = {};  ///< replace the others
};

void describe_training(Fields& job, Copies& copies, const Cluster& cluster, bool known) {
    job.section({"workload", "Model: its keys, its file, or the name of one in workloads/.", false, true, "trace"},
                [&](Fields& inner) { describe(inner, copies.job.model); });
    known = known && job.sound();
    job.section({"training", "Training of the model: the keys of a scenario's `training`.", false, false, "trace"},
                [&](Fields& inner) {
                    describe(inner, copies.job.plan, copies.open);
                    copies.job.device = cluster.device;
                    choose_attention(inner, copies.job.device, copies.job.plan);
                    if (inner.given("run"))
                        inner.reject("run", "'run' has no effect here: a job ends after its 'iterations'",
                                     "remove it; that of its scenario with `training: {run: null}`");
                    if (inner.given("iterations") && job.given("duration"))
                        inner.reject("iterations", "'iterations' has no effect here: they follow from 'duration'",
                                     "remove one of the two");
                    if (!known || !inner.sound()) return;
                    if (copies.open.everything || copies.open.automatic())
                        return inner.reject("parallelism", "the plan of a job cannot be searched",
                                            "write the plan that `syncline run` finds for this training alone");
                    if (copies.job.plan.server_nodes() > 0)
                        return inner.reject("servers", "a job's servers have no nodes of their own",
                                            "`location: spread` puts them on the nodes of its ranks");
                    Cluster with = cluster;
                    with.device = copies.job.device;
                    report(inner, judge(with, copies.job.model, copies.job.plan, copies.open).complaints);
                });
}

void describe_trace(Fields& job, Copies& copies, const Cluster& cluster, bool known) {
    job.section({"trace", "Execution trace in place of `workload` and `training`: the keys of a scenario's `trace`."},
                [&](Fields& inner) {
                    TracePlan& plan = copies.job.trace.emplace();
                    describe(inner, plan);
                    copies.job.device = cluster.device;
                    if (!known || !inner.sound() || !plan.trace) return;
                    CollectivePlan alike;
                    alike.ranks = plan.ranks();
                    alike.placement = plan.placement;
                    report(inner, judge(cluster, alike));
                });
    for (const char* key : {"workload", "training"})
        if (job.given("trace") && job.given(key))
            job.reject(key, fmt::format("'{}' and 'trace' exclude each other", key), "a job is a training or a trace");
}

void describe_job(Fields& job, Copies& copies, const Cluster& cluster, bool known) {
    std::string scenario, variant;
    // These two are replaced before a job is read; they are described here so that misspelt ones are recognised.
    job.text({"scenario",
              "Scenario file, or the name of one in scenarios/, whose workload and training, or trace, the "
              "job has; other keys of the job change them."},
             scenario);
    job.text({"variant", "Variant of that scenario."}, variant);
    std::string submissions;  // the same
    job.text({"submissions",
              "Log of a cluster as a CSV file: each row is a job, with its `submit_time`, its `gpu_num` as ranks, and "
              "its `duration`, or `end_time` - `start_time`."},
             submissions);
    job.integer({"count", "Number of such jobs: `ring-1`, `ring-2`, …"}, copies.count, 1, most_copies);
    job.quantity({"arrival", "Time at which the job, or the first of several, may start."}, copies.job.arrival_s,
                 Dimension::seconds, {.zero = true, .most = latest_s});
    job.quantity({"interval", "Time between the arrivals of several such jobs."}, copies.interval_s, Dimension::seconds,
                 {.zero = true, .most = latest_s});
    job.flag({"poisson", "Arrivals are a Poisson process with this mean interval (see --seed)."}, copies.poisson);
    job.flag({"uniform", "Intervals are drawn evenly between 0 and twice this one (see --seed)."}, copies.uniform);
    job.quantities({"arrivals", "Times at which such jobs may start, one each; they replace `count` and `arrival`."},
                   copies.arrivals_s, Dimension::seconds, {.zero = true, .most = latest_s});
    job.quantity(
        {"duration",
         "Time that the job takes alone on packed devices: `2 h`. The number of iterations follows from it, in "
         "place of `training.iterations`."},
        copies.job.duration_s, Dimension::seconds, {.most = latest_s});
    job.one_of({"placement",
                "Devices: in few racks and nodes (`packed`), over racks in turn (`spread`), `random`, in one `rack`, "
                "`avoiding` racks of others, `sharing` them, or `listed` (`training.placement`)."},
               copies.job.placement,
               {{"packed", JobPlacement::packed},
                {"spread", JobPlacement::spread},
                {"random", JobPlacement::random},
                {"rack", JobPlacement::rack},
                {"avoiding", JobPlacement::avoiding},
                {"sharing", JobPlacement::sharing},
                {"listed", JobPlacement::listed}});
    describe_training(job, copies, cluster, known);
    describe_trace(job, copies, cluster, known);
    if (!job.sound()) return;
    const bool lists = copies.job.rank_placement().order == RankPlacement::Order::listed;
    const char* const part = copies.job.trace ? "trace" : "training";
    if (lists && !job.given("placement")) copies.job.placement = JobPlacement::listed;
    if (lists != (copies.job.placement == JobPlacement::listed))
        job.reject("placement",
                   lists ? fmt::format("`{}.placement` lists devices, so the job has no other choice", part)
                         : "no devices are listed",
                   lists ? "remove one of the two" : fmt::format("`{}.placement: [0, 1, 2, 3]`", part));
    if (job.given("variant") && !job.given("scenario"))
        job.reject("variant", "'variant' belongs to 'scenario'",
                   "write both, also in a variant; they then replace the job's `workload`, `training` and `trace`");
    if (job.given("trace") && job.given("duration")) job.reject("duration", "a trace has one iteration", "remove it");
    for (const char* key : {"count", "arrival", "interval", "poisson", "uniform"})
        if (!copies.arrivals_s.empty() && job.given(key))
            job.reject(key, fmt::format("'{}' has no effect here: 'arrivals' lists all times", key),
                       "remove one of the two");
    if (copies.arrivals_s.size() > static_cast<std::size_t>(most_copies))
        job.reject("arrivals", fmt::format("{} jobs are too many", copies.arrivals_s.size()),
                   fmt::format("write at most {}", most_copies));
    if (copies.count == 1 && copies.arrivals_s.empty() && job.given("interval"))
        job.reject("interval", "there is only one such job", "write `count`, or remove it");
    if (copies.poisson && copies.uniform)
        job.reject("uniform", "'poisson' and 'uniform' exclude each other", "remove one of the two");
    for (const char* key : {"poisson", "uniform"})
        if (job.given(key) && copies.interval_s == 0 && copies.arrivals_s.empty())
            job.reject(key, "random arrivals need a mean interval", "write `interval: 60 s`");
}

/// Adds each of the copies, with its name and arrival.
void add_jobs(JobsPlan& plan, const std::string& name, Copies copies, std::uint64_t seed) {
    const std::size_t written = plan.jobs.empty() ? 0 : plan.jobs.back().written + 1;
    std::vector<double> arrivals_s = std::move(copies.arrivals_s);
    std::ranges::sort(arrivals_s);
    double arrival_s = copies.job.arrival_s;
    for (std::uint64_t index = plan.jobs.size(); std::ssize(arrivals_s) < copies.count; ++index) {
        arrivals_s.push_back(arrival_s);
        // Evenly from (0, 1].
        const double drawn = (static_cast<double>(split_mix(split_mix(seed) + index) >> 11) + 1) * 0x1p-53;
        arrival_s += copies.interval_s * (copies.poisson ? -std::log(drawn) : copies.uniform ? 2 * drawn : 1);
    }
    for (std::size_t number = 0; number < arrivals_s.size(); ++number) {
        JobPlan& job = plan.jobs.emplace_back(copies.job);
        job.name = arrivals_s.size() == 1 ? name : fmt::format("{}-{}", name, number + 1);
        job.arrival_s = arrivals_s[number];
        job.written = written;
        job.random_arrival = (copies.poisson || copies.uniform) && number > 0;
        const auto index = static_cast<std::uint64_t>(plan.jobs.size() - 1);
        job.plan.set_seed(seed + index);
        if (job.trace) job.trace->placement.seed = seed + index;
    }
}

void describe_traffic(Fields& fields, TrafficPlan& traffic, const Cluster& cluster, bool known) {
    double bytes = 0;
    fields.one_of({"pattern",
                   "Who sends to whom: a random cycle (`permutation`), all to the first device (`incast`), the listed "
                   "`pairs`, or random flows at random times (`poisson`); see --seed."},
                  traffic.kind,
                  {{"permutation", TrafficPlan::Kind::permutation},
                   {"incast", TrafficPlan::Kind::incast},
                   {"pairs", TrafficPlan::Kind::pairs},
                   {"poisson", TrafficPlan::Kind::poisson}});
    fields.integer_list({"devices",
                         "Devices that take part, numbered node by node; jobs may use them, too. Of `pairs`: sender, "
                         "receiver, next sender, …. Default: all."},
                        traffic.devices, 0);
    fields.quantity({"size", "Size of a message; of `poisson` the mean size of a flow.", true}, bytes, Dimension::bytes,
                    {.least = 1, .most = 1e15});
    traffic.bytes = static_cast<std::uint64_t>(bytes);
    fields.quantity(
        {"rate", "Mean rate at which each device sends. Default: one message after the other; `poisson` needs it."},
        traffic.rate_Bps, Dimension::bandwidth);
    fields.number({"shape", "Shape of the Pareto distribution of flow sizes of `poisson`, above 1. Default: one size."},
                  traffic.shape, 1.001, 1000);
    fields.quantity({"until", "Time after which no flow of `poisson` begins."}, traffic.until_s, Dimension::seconds);
    if (!fields.sound()) return;
    const bool random = traffic.kind == TrafficPlan::Kind::poisson;
    if (random && !(fields.given("rate") && fields.given("until")))
        fields.reject("pattern", "random flows need a 'rate' and a time 'until' which they begin",
                      "`rate: 1 Gbps`, `until: 10 s`");
    for (const char* key : {"shape", "until"})
        if (!random && fields.given(key))
            fields.reject(key, fmt::format("'{}' has no effect here: it applies to `pattern: poisson`", key),
                          "remove it");
    if (!known) return;
    const std::int64_t devices = cluster.nodes * cluster.node.devices;
    if (traffic.devices.empty()) {
        traffic.devices.resize(static_cast<std::size_t>(devices));
        std::iota(traffic.devices.begin(), traffic.devices.end(), std::int64_t{0});
    }
    for (const std::int64_t device : traffic.devices)
        if (device >= devices)
            return fields.reject("devices", fmt::format("there is no device {}", device),
                                 fmt::format("the devices are 0 to {}", devices - 1));
    if (traffic.devices.size() < 2) return fields.reject("devices", "traffic needs two devices", "write at least two");
    if (random && traffic.flows() > most_flows)
        return fields.reject(
            "until", fmt::format("about {:.2g} flows would begin until then", traffic.flows()),
            fmt::format("at most {:g} can be simulated: write larger ones, or a lower 'rate'", most_flows));
    if (traffic.kind == TrafficPlan::Kind::pairs) {
        if (traffic.devices.size() % 2 != 0)
            return fields.reject("devices", "the last sender has no receiver", "write an even number of devices");
        for (std::size_t i = 0; i < traffic.devices.size(); i += 2)
            if (traffic.devices[i] == traffic.devices[i + 1])
                return fields.reject("devices", fmt::format("device {} sends to itself", traffic.devices[i]), "");
    } else if (std::set(traffic.devices.begin(), traffic.devices.end()).size() != traffic.devices.size()) {
        fields.reject("devices", "a device is listed twice", "");
    }
}

/// Puts the workload and the training, or the trace, of the file that `scenario` names in its place.
void expand_scenario(Assembly& assembly, Node& job) {
    Node* const reference = job.find("scenario");
    if (reference == nullptr || reference->kind != Node::Kind::scalar) return;
    assembly.attempt([&] {
        Node document = *reference;
        assembly.library.expand(document, {"scenario"});
        if (document.kind != Node::Kind::mapping) return;
        split_paths(document);
        const Node variants = take(document, "variants");
        const Node* const asked = job.find("variant");
        if (asked != nullptr) {
            const Node* const variant = variants.find(asked->scalar);
            if (variant == nullptr) {
                std::vector<std::string> names;
                for (const Entry& entry : variants.entries) names.push_back(entry.key);
                assembly.report(asked->mark, fmt::format("unknown variant '{}'", asked->scalar),
                                names.empty()
                                    ? "this scenario has none"
                                    : did_you_mean(asked->scalar, names,
                                                   fmt::format("the variants are {}", fmt::join(names, ", "))));
            } else {
                Node changes = *variant;
                split_paths(changes);
                drop_alternatives(document, changes);
                merge(document, changes);
            }
        }
        Node whole = mapping_at(job.mark);
        for (const char* key : {"workload", "training", "trace"})
            if (Entry* entry = document.entry(key)) whole.entries.push_back(*entry);
        if (whole.entries.empty())
            return assembly.report(reference->mark, "this scenario has neither a training nor a trace", "");
        take(job, "scenario");
        take(job, "variant");
        drop_alternatives(whole, job);
        merge(whole, job);
        job = std::move(whole);
    });
}

/// Returns a job for each row of the log that `submissions` names, and which runs as this job says.
std::vector<Entry> jobs_of_log(Assembly& assembly, Entry job) {
    std::vector<Entry> jobs;
    const Node file = take(job.value, "submissions");
    assembly.attempt([&] {
        for (const char* key : {"arrival", "arrivals", "count", "interval", "poisson", "uniform", "duration", "trace"})
            if (const Entry* const found = job.value.entry(key))
                assembly.report(found->mark, fmt::format("'{}' has no effect here: 'submissions' has all jobs", key),
                                "remove it");
        if (Node* const training = job.value.find("training"))
            if (const Entry* const found = training->entry("iterations")) {
                assembly.report(found->mark,
                                "'iterations' has no effect here: they follow from the durations in 'submissions'",
                                "remove it");
                take(*training, "iterations");
            }
        if (file.kind != Node::Kind::scalar)
            return assembly.report(file.mark, "'submissions' is not the name of a file", "`submissions: log.csv`");
        const std::filesystem::path path = referred_file(file);
        const Text text = read_text(path, largest_other_file);
        if (!text.text) return assembly.report(file.mark, text.error, text.hint);
        const std::vector<Submission> all = read_submissions(shown(path), *text.text);
        if (all.empty()) return assembly.report(file.mark, "no job of this log ran on a GPU", "");
        if (all.size() > static_cast<std::size_t>(most_copies))
            return assembly.report(file.mark, fmt::format("{} jobs are too many", all.size()),
                                   fmt::format("keep the first lines: `head -n {}`", most_copies + 1));
        const std::size_t digits = fmt::format("{}", all.size()).size();
        for (std::size_t i = 0; i < all.size(); ++i) {
            Entry one = job;
            // In the order of the log, also when sorted by name.
            one.key = fmt::format("{}-{:0{}}", job.key, i + 1, digits);
            const auto scalar = [&](std::string value) { return scalar_at(file.mark, std::move(value)); };
            Node changes = mapping_at(
                file.mark,
                {{"arrival", file.mark, scalar(fmt::format("{} s", all[i].submit_s))},
                 {"duration", file.mark, scalar(fmt::format("{} s", all[i].duration_s))},
                 {"training", file.mark, mapping_at(file.mark, {{"ranks", file.mark, scalar(all[i].ranks)}})}});
            merge(one.value, changes);
            jobs.push_back(std::move(one));
        }
    });
    if (jobs.empty()) jobs.push_back(std::move(job));  // an error is reported
    return jobs;
}

}  // namespace

void expand_jobs(Assembly& assembly, Node& document) {
    Node* const jobs = document.find("jobs");
    if (jobs == nullptr || jobs->kind != Node::Kind::mapping) return;
    std::vector<Entry> all;
    for (Entry& job : jobs->entries) {
        expand_scenario(assembly, job.value);
        assembly.expand_references(job.value);
        if (job.value.find("submissions") == nullptr)
            all.push_back(std::move(job));
        else
            for (Entry& one : jobs_of_log(assembly, std::move(job))) all.push_back(std::move(one));
    }
    jobs->entries = std::move(all);
}

std::vector<Location> places_of_jobs(const Node& document) {
    const Node* const jobs = document.find("jobs");
    if (jobs == nullptr) return {};
    std::vector<const Entry*> sorted;
    for (const Entry& job : jobs->entries) sorted.push_back(&job);
    std::ranges::stable_sort(sorted, {}, [](const Entry* job) -> const std::string& { return job->key; });
    std::vector<Location> places;
    for (const Entry* job : sorted) places.push_back(locate(job->mark));
    return places;
}

void describe_jobs(Fields& scenario, Variant& variant, bool known, std::uint64_t seed) {
    JobsPlan plan;
    plan.seed = seed;
    std::vector<std::pair<std::string, Copies>> all;
    bool sound = true;
    scenario.named({"jobs",
                    "Jobs that share the platform, by name: each has `workload` and `training`, or `scenario`, or "
                    "`trace`. They replace these keys of the scenario."},
                   [&](const std::string& name, Fields& job) {
                       all.emplace_back(name, Copies{});
                       describe_job(job, all.back().second, variant.cluster, known);
                       sound = sound && job.sound();
                   });
    scenario.one_of(
        {"queue",
         "Order in which waiting jobs start: the first blocks others (`fifo`), or any that fits (`skip`), or "
         "those that do not delay the first (`backfill`: EASY)."},
        plan.queue, {{"fifo", JobQueue::fifo}, {"skip", JobQueue::skip}, {"backfill", JobQueue::backfill}});
    // Files that change the order of keys must not change results.
    std::ranges::stable_sort(all, {}, [](const auto& one) { return one.first; });
    std::set<std::string> names;
    const bool jobs_known = known && sound && scenario.given("jobs") && !all.empty();
    if (jobs_known) {
        for (const auto& [name, copies] : all) add_jobs(plan, name, copies, seed);
        for (const JobPlan& job : plan.jobs)
            if (!names.insert(job.name).second)
                scenario.reject("jobs", fmt::format("two jobs are named '{}'", job.name),
                                "copies of a job get numbers: write another name");
        if (variant.cluster.nodes == 0)
            for (const JobPlan& job : plan.jobs) {
                const std::int64_t nodes = nodes_needed(variant.cluster, job.rank_placement(), job.ranks());
                std::int64_t& have = variant.cluster.nodes;
                have = job.placement == JobPlacement::listed ? std::max(have, nodes) : have + nodes;
            }
    }
    scenario.named({"traffic", "Background traffic beside the jobs, by name."},
                   [&](const std::string& name, Fields& inner) {
                       TrafficPlan& traffic = plan.traffic.emplace_back();
                       traffic.name = name;
                       traffic.seed = seed + plan.traffic.size();
                       describe_traffic(inner, traffic, variant.cluster, jobs_known);
                       if (jobs_known && !names.insert(name).second)
                           inner.reject("pattern", fmt::format("a job is named '{}', too", name), "");
                   });
    std::ranges::stable_sort(plan.traffic, {}, &TrafficPlan::name);
    if (scenario.given("jobs") && all.empty() && known)
        scenario.reject("jobs", "there is no job", "write at least one: `jobs: {first: {workload: …, training: …}}`");
    for (const char* key : {"queue", "traffic"})
        if (scenario.given(key) && !scenario.given("jobs"))
            scenario.reject(key, fmt::format("'{}' has no effect here: it applies to `jobs`", key), "remove it");
    if (scenario.given("jobs")) variant.jobs = std::move(plan);
}

}  // namespace syncline::config
