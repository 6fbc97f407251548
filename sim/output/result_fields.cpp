#include "sim/output/result_fields.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string_view>

#include "sim/analysis/scaling.hpp"
#include "sim/output/cells.hpp"
#include "sim/output/fidelity_text.hpp"
#include "sim/output/jobs_output.hpp"
#include "sim/output/parallelism_text.hpp"

namespace syncline {

namespace {

template <class Value>
Json shown(const Value& value) {
    return value;
}
template <class Value>
Json shown(const std::optional<Value>& value) {
    return value ? Json(*value) : Json(nullptr);
}

std::optional<std::string> given(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

/// Returns a whole number if it fits into 64 bits.
Json whole(double bytes) {
    constexpr double countable = 1.8e19;
    return bytes < countable ? Json(static_cast<std::uint64_t>(bytes)) : Json(bytes);
}

/// A field of one or several kinds of result.
template <class Get>
struct Shared {
    const char* name;
    Unit unit;
    const char* doc;
    Get get;
};
template <class Get>
Shared(const char*, Unit, const char*, Get) -> Shared<Get>;

template <class T>
class Fields {
public:
    template <class Get>
    Fields& add(const char* name, Unit unit, const char* doc, int column, Get get) {
        fields_.push_back(
            {name, unit, doc, column, [get](const T& result) { return shown(std::invoke(get, result)); }});
        return *this;
    }
    template <class Get>
    Fields& add(const Shared<Get>& field, int column) {
        return add(field.name, field.unit, field.doc, column, field.get);
    }
    /// Adds a field that only some results have.
    template <class Get>
    Fields& add_if_given(const char* name, Unit unit, const char* doc, int column, Get get) {
        add(name, unit, doc, column, get);
        fields_.back().if_given = true;
        return *this;
    }
    /// Adds a column of CSV that JSON has in another form.
    template <class Get>
    Fields& add_column(const Shared<Get>& field, int column) {
        add(field, column);
        fields_.back().in_json = false;
        return *this;
    }
    /// Adds the fields of a part as `name.…`; the columns are counted from `column`.
    template <class Part, class Get>
    Fields& add_part(const std::string& name, int column, Get get) {
        for (const ResultField<Part>& field : fields_of<Part>())
            fields_.push_back({name + "." + field.name, field.unit, field.doc, column + field.column - 1,
                               [get, &field](const T& result) { return field.value(std::invoke(get, result)); }});
        return *this;
    }
    std::vector<ResultField<T>> all() { return std::move(fields_); }

private:
    std::vector<ResultField<T>> fields_;
};

constexpr int last_column = 1000;

/// Fields of several kinds of result.
namespace common {

constexpr Shared ranks{"ranks", Unit::number, "number of ranks", [](const auto& r) { return r.ranks; }};
constexpr Shared nodes{"nodes", Unit::number, "nodes that have ranks or servers",
                       [](const auto& r) { return r.cost.nodes; }};
constexpr Shared fabric{"fabric", Unit::text, "shape of the fabric, or name of a SimGrid platform file",
                        [](const auto& r) { return r.fabric; }};
constexpr Shared transport{"transport", Unit::text, "name of the transport; null without one",
                           [](const auto& r) { return given(r.transport); }};
constexpr Shared overlay{"overlay", Unit::text, "communication pattern; null without one",
                         [](const auto& r) { return given(r.overlay); }};
constexpr Shared device_time{"device_time_s", Unit::seconds, "ranks × time",
                             [](const auto& r) { return r.cost.device_time_s; }};
constexpr Shared cost{"cost", Unit::money, "nodes × `per_node.price_per_hour` × hours, in that price's currency",
                      [](const auto& r) { return r.cost.cost; }};
constexpr Shared messages{"messages", Unit::number, "messages of all ranks and servers",
                          [](const auto& r) { return r.messages; }};
constexpr Shared bytes_sent{"bytes_sent", Unit::bytes, "bytes sent by all ranks and servers",
                            [](const auto& r) { return r.bytes_sent; }};
constexpr Shared most_bytes_sent{"most_bytes_sent_by_rank", Unit::bytes,
                                 "the rank that sends most; servers are not ranks",
                                 [](const auto& r) { return r.most_bytes_sent_by_rank; }};
constexpr Shared links{
    "links", Unit::list, "the ten most used links, one direction each: `link`, `bytes`, `utilisation`",
    [](const auto& r) {
        Json list = Json::array();
        for (const LinkLoad& link : r.links)
            list.push_back({{"link", link.name}, {"bytes", link.bytes}, {"utilisation", link.utilisation}});
        return list;
    }};
constexpr Shared most_used_link{"most_used_link", Unit::text, "the first of `links`; in CSV only",
                                [](const auto& r) { return r.links.empty() ? "" : r.links.front().name; }};
constexpr Shared most_used_link_utilisation{
    "most_used_link_utilisation", Unit::share, "its utilisation; in CSV only",
    [](const auto& r) { return r.links.empty() ? std::nullopt : std::optional(r.links.front().utilisation); }};
constexpr Shared limited_by{"limited_by", Unit::text,
                            "what takes the largest part of the time: see [below](#limits); null if unknown",
                            [](const auto& r) { return given(r.limited_by); }};
constexpr Shared notes{"notes", Unit::list, "facts needed to trust the numbers, one sentence each",
                       [](const auto& r) { return r.notes; }};
constexpr Shared fidelity{"fidelity", Unit::text, "`message` or `folded`: how the time was simulated",
                          [](const auto& r) { return text::fidelity(r.folded.choice); }};
constexpr Shared messages_simulated{"messages_simulated", Unit::number, "messages that were simulated one by one",
                                    [](const auto& r) { return r.folded.messages_simulated; }};
constexpr Shared messages_folded{"messages_folded", Unit::number, "the other messages",
                                 [](const auto& r) { return r.folded.messages_folded; }};
constexpr Shared folding_error{
    "folding_error_s", Unit::seconds,
    "upper bound on the error of the time due to folding; null if unknown: averaged latencies, blocks made equal",
    [](const auto& r) { return std::isfinite(r.folded.error_s) ? std::optional(r.folded.error_s) : std::nullopt; }};

constexpr Shared operation{"operation", Unit::text, "the operation: `allreduce`, `broadcast`, …",
                           [](const auto& r) { return r.operation; }};
constexpr Shared exchange_algorithm{"algorithm", Unit::text, "the algorithm, or what a selection chose",
                                    [](const auto& r) { return r.algorithm; }};
constexpr Shared contributors{"contributors", Unit::number, "number of ranks that contribute",
                              [](const auto& r) { return r.contributors; }};
constexpr Shared receivers{"receivers", Unit::number, "number of ranks that receive",
                           [](const auto& r) { return r.receivers; }};
constexpr Shared rounds{
    "rounds", Unit::number,
    "times, messages and bytes are means over these rounds, counts rounded; above 1 for gossip with "
    "changing peers",
    [](const auto& r) { return r.rounds; }};
constexpr Shared bytes{"bytes", Unit::bytes, "size of the whole buffer", [](const auto& r) { return r.bytes; }};
constexpr Shared completion_time{"completion_time_s", Unit::seconds, "time until the last rank is done",
                                 [](const auto& r) { return r.completion_time_s; }};
constexpr Shared closed_form{"closed_form_s", Unit::seconds, "the same by the closed form; null if there is none",
                             [](const auto& r) { return r.closed_form_s; }};
constexpr Shared algorithm_bandwidth{"algorithm_bandwidth_Bps", Unit::bandwidth, "bytes / time",
                                     [](const auto& r) { return r.algorithm_bandwidth_Bps; }};
constexpr Shared bus_bandwidth{"bus_bandwidth_Bps", Unit::bandwidth, "bus bandwidth as nccl-tests defines it",
                               [](const auto& r) { return r.bus_bandwidth_Bps; }};

}  // namespace common

/// Returns a getter of a number of the results with several seeds.
template <class Get>
auto spread(Get get) {
    return [get](const Result& r) { return r.repeated ? std::optional(std::invoke(get, *r.repeated)) : std::nullopt; };
}

/// Returns a getter of a number of the whole training.
template <class Get>
auto of_run(Get get) {
    return [get](const Result& r) { return r.run ? std::optional(std::invoke(get, *r.run)) : std::nullopt; };
}

/// Returns a getter of a number of the energy.
template <class Get>
auto of_energy(Get get) {
    return [get](const Result& r) -> std::optional<double> {
        if (!r.energy) return std::nullopt;
        return std::invoke(get, *r.energy);
    };
}

template <class Get>
auto of_updates(Get get) {
    return [get](const Result& r) { return r.updates ? std::optional(std::invoke(get, *r.updates)) : std::nullopt; };
}

template <class Get>
auto of_kinds(Get get) {
    return [get](const Result& r) { return r.kinds ? std::optional(std::invoke(get, *r.kinds)) : std::nullopt; };
}

/// Returns a getter of a number of the whole training with failures; null if it is not finite.
template <class Get>
auto of_failing(Get get) {
    return [get](const Result& r) -> std::optional<double> {
        if (!r.run || !r.run->failing) return std::nullopt;
        const std::optional<double> value = std::invoke(get, *r.run->failing);
        return value && std::isfinite(*value) ? value : std::nullopt;
    };
}

/// Returns a getter of a number of the sampled runs, unless they would not end.
template <class Get>
auto of_goodput(Get get) {
    return of_failing([get](const FailingRun& run) {
        return run.goodput ? std::optional<double>(std::invoke(get, *run.goodput)) : std::nullopt;
    });
}

/// Returns a getter of the balance of documents' work.
auto of_balance(double WorkBalance::*member) {
    return [member](const Result& r) { return r.balance ? std::optional<double>((*r.balance).*member) : std::nullopt; };
}

/// Returns a getter of a mean time of the sampled runs, if nodes are repaired.
auto of_repairs(double ElapsedParts::*part_s) {
    return of_failing([part_s](const FailingRun& run) {
        return run.repair_s > 0 && run.goodput ? std::optional(run.goodput->mean.*part_s) : std::nullopt;
    });
}

/// Returns a getter of the energy of the sampled runs.
auto of_elapsed_energy(double Spread::*quantile) {
    return of_failing([quantile](const FailingRun& run) {
        return run.energy_J ? std::optional((*run.energy_J).*quantile) : std::nullopt;
    });
}

/// Returns a getter of the cost of an elapsed time.
template <class Get>
auto of_elapsed_cost(Get get) {
    return [get](const Result& r) -> std::optional<double> {
        if (!r.run || !r.run->failing || !r.run->failing->goodput) return std::nullopt;
        return r.run->cost_of(std::invoke(get, r.run->failing->goodput->elapsed_s));
    };
}

/// Returns getters of the spread of jobs over several seeds.
template <class Get>
auto of_makespans(Get get) {
    return [get](const Result& r) {
        return r.jobs && r.jobs->makespans_s ? std::optional(std::invoke(get, *r.jobs->makespans_s)) : std::nullopt;
    };
}
template <class Get>
auto of_slowdowns(Get get) {
    return [get](const Result& r) {
        return r.jobs && r.jobs->slowdowns ? std::optional(std::invoke(get, *r.jobs->slowdowns)) : std::nullopt;
    };
}

/// Returns a getter of a number of all jobs together.
template <class Get>
auto of_jobs(Get get) {
    return [get](const Result& r) { return r.jobs ? std::optional(std::invoke(get, *r.jobs)) : std::nullopt; };
}

/// Returns a part of the memory; null if nothing is known of it, as for a trace.
Json of_memory(const Memory& memory, double bytes) {
    return memory.total_bytes() > 0 ? whole(bytes) : Json(nullptr);
}

Json host_bytes(const Memory& memory) {
    return memory.host_bytes ? whole(*memory.host_bytes) : Json(nullptr);
}

/// Returns an object of the fields of JSON.
template <class T>
Json json_object(const T& result) {
    Json json = Json::object();
    for (const ResultField<T>& field : fields_of<T>()) {
        if (!field.in_json) continue;
        Json value = field.value(result);
        if (field.if_given && value.is_null()) continue;
        Json* place = &json;
        std::size_t begin = 0;
        for (std::size_t dot; (dot = field.name.find('.', begin)) != std::string::npos; begin = dot + 1)
            place = &(*place)[field.name.substr(begin, dot - begin)];
        (*place)[field.name.substr(begin)] = std::move(value);
    }
    return json;
}

}  // namespace

template <>
const std::vector<ResultField<Memory>>& fields_of() {
    static const auto table =
        Fields<Memory>{}
            .add("weights_bytes", Unit::bytes, "weights", 1,
                 [](const Memory& m) { return of_memory(m, m.weights_bytes); })
            .add("gradients_bytes", Unit::bytes, "gradients", 2,
                 [](const Memory& m) { return of_memory(m, m.gradients_bytes); })
            .add("optimizer_bytes", Unit::bytes, "optimizer state", 3,
                 [](const Memory& m) { return of_memory(m, m.optimizer_bytes); })
            .add("activations_bytes", Unit::bytes, "what layers keep for their backward pass", 4,
                 [](const Memory& m) { return of_memory(m, m.activations_bytes); })
            .add("total_bytes", Unit::bytes, "the sum", 5,
                 [](const Memory& m) { return of_memory(m, m.total_bytes()); })
            .add("device_bytes", Unit::bytes, "memory of the device; null if unknown", 6,
                 [](const Memory& m) { return m.device_bytes ? whole(*m.device_bytes) : Json(nullptr); })
            .add("fraction", Unit::share, "total / device; null if the device's memory is unknown", 7,
                 &Memory::fraction)
            .all();
    return table;
}

template <>
const std::vector<ResultField<Result>>& fields_of() {
    static const auto table =
        Fields<Result>{}
            .add("variant", Unit::text, "the variant", 1, &Result::variant)
            .add("workload", Unit::text, "its model", 2, &Result::workload)
            .add(common::ranks, 3)
            .add(common::nodes, 44)
            .add("samples", Unit::number, "samples of an iteration, all ranks together; 0 for a trace", 45,
                 &Result::samples)
            .add(common::fabric, 16)
            .add(common::transport, 22)
            .add("exchange", Unit::text, "`allreduce`, `parameter-server`, `gossip`, `trace` or `jobs`", 17,
                 &Result::exchange)
            .add("algorithm", Unit::text,
                 "the algorithm, or what a selection chose: `mpich: rabenseifner`; null with a parameter server or "
                 "gossip",
                 18, [](const Result& r) { return given(r.algorithm); })
            .add(common::overlay, 19)
            .add("parallelism.rows", Unit::number, "ranks among which the layers are split", 30,
                 [](const Result& r) { return r.parallelism.layout.rows; })
            .add("parallelism.columns", Unit::number, "replicas of a stage", 31,
                 [](const Result& r) { return columns(r.parallelism, r.parallelism.layout, r.ranks); })
            .add("parallelism.height", Unit::number, "image partitions, vertically", 32,
                 [](const Result& r) { return r.parallelism.layout.height; })
            .add("parallelism.width", Unit::number, "image partitions, horizontally", 33,
                 [](const Result& r) { return r.parallelism.layout.width; })
            .add("parallelism.stages", Unit::number, "stages of the pipeline", 34,
                 [](const Result& r) { return r.parallelism.pipeline.stages; })
            .add("parallelism.micro_batches", Unit::number, "microbatches of an iteration", 35,
                 [](const Result& r) { return r.parallelism.pipeline.micro_batches; })
            .add("parallelism.schedule", Unit::text, "order of the passes of a stage; null without stages", 36,
                 [](const Result& r) { return given(schedule_of(r.parallelism)); })
            .add("parallelism.chunks", Unit::number, "virtual stages on each stage", 37,
                 [](const Result& r) { return r.parallelism.pipeline.virtual_stages; })
            .add("parallelism.sharding", Unit::text, "what is sharded among replicas", 38,
                 [](const Result& r) { return name_of(r.parallelism.sharding); })
            .add("parallelism.sequence", Unit::text, "`true` if sequences are split among rows", 39,
                 [](const Result& r) { return r.parallelism.sequence; })
            .add_if_given("parallelism.context", Unit::number,
                          "ranks that divide the positions of a sequence; only with `context`", 93,
                          [](const Result& r) {
                              const std::int64_t ranks = r.parallelism.layout.context;
                              return ranks > 1 ? Json(ranks) : Json();
                          })
            .add_if_given("parallelism.context_exchange", Unit::text,
                          "how they compute attention: `ring` or `ulysses`; only with `context`", 94,
                          [](const Result& r) {
                              const bool divides = r.parallelism.layout.context > 1;
                              return divides ? Json(name_of(r.parallelism.context_exchange)) : Json();
                          })
            .add_if_given("parallelism.experts", Unit::number,
                          "ranks that divide the experts of a layer; only with `experts`", 95,
                          [](const Result& r) {
                              const std::int64_t ranks = r.parallelism.experts.ranks;
                              return ranks > 1 ? std::optional(ranks) : std::nullopt;
                          })
            .add_if_given("parallelism.expert_model", Unit::number,
                          "ranks that divide each expert; only with `experts.model`, if it is not `model`", 102,
                          [](const Result& r) {
                              const std::int64_t rows = r.parallelism.layout.rows;
                              const std::int64_t ranks = r.parallelism.experts.rows_of(rows);
                              return ranks != rows ? std::optional(ranks) : std::nullopt;
                          })
            .add_if_given("parallelism.expert_imbalance", Unit::number,
                          "coefficient of variation of the experts' tokens; only with `experts` and `imbalance`", 96,
                          [](const Result& r) {
                              const double imbalance = r.parallelism.experts.imbalance;
                              return imbalance > 0 ? std::optional(imbalance) : std::nullopt;
                          })
            .add_if_given("parallelism.transfers", Unit::text,
                          "transfers between stages: `blocking` or `overlapped`; only with stages", 98,
                          [](const Result& r) { return given(transfers_of(r.parallelism)); })
            .add_if_given(
                "parallelism.scatter_gather", Unit::text,
                "`true` if rows send shares of their outputs to the next stage; only with stages and rows", 101,
                [](const Result& r) {
                    const bool sends = r.parallelism.pipeline.stages > 1 && r.parallelism.layout.rows > 1;
                    return sends && !r.parallelism.sequence ? Json(r.parallelism.pipeline.scatter_gather) : Json();
                })
            .add_if_given(
                "parallelism.gathering", Unit::text,
                "of updated weights: `after-update` or `before-forward`; only if ranks update a share of them", 99,
                [](const Result& r) { return given(gathering_of(r.parallelism)); })
            .add_if_given(
                "parallelism.gradient_sync", Unit::text,
                "gradients are exchanged after `each-micro-batch` or the `last-micro-batch`; only if there are several",
                100, [](const Result& r) { return given(gradient_sync_of(r.parallelism)); })
            .add_if_given("parallelism.device_queues", Unit::text,
                          "`one` if a device takes the kernels of all streams through one queue; else left out", 103,
                          [](const Result& r) { return given(device_queues_of(r.parallelism)); })
            .add("parallelism.ranges", Unit::list,
                 "layers with another layout: `first`, `last`, `rows`, `columns`, `height`, `width`; in CSV one text",
                 0, [](const Result& r) { return ranges_of(r.parallelism, r.ranks); })
            .add_column(Shared{"parallelism.ranges", Unit::list, "",
                               [](const Result& r) { return text::ranges(r.parallelism, r.ranks); }},
                        40)
            .add("choice_of", Unit::text, "with `model: auto`: the variant this is a choice of; else null", 41,
                 [](const Result& r) { return given(r.choice_of); })
            .add("best", Unit::text, "with `model: auto`: whether it is the fastest of the choices; else null", 42,
                 &Result::best)
            .add(
                "iteration_time_s", Unit::seconds,
                "one iteration in steady state; with `platform.faults` the mean over all; of `jobs` the mean of theirs",
                4, [](const Result& r) { return r.time.iteration_s; })
            .add_if_given(
                "times_by_iteration", Unit::list, "that of each iteration, in seconds; only with `platform.faults`", 0,
                [](const Result& r) { return r.iteration_times_s.empty() ? Json() : Json(r.iteration_times_s); })
            .add_if_given("longest_iteration_s", Unit::seconds, "the longest of these; only with `platform.faults`",
                          160,
                          [](const Result& r) {
                              return r.iteration_times_s.empty() ? std::optional<double>()
                                                                 : std::ranges::max(r.iteration_times_s);
                          })
            .add_if_given("makespan_s", Unit::seconds, "from the first arrival to the last end; only of `jobs`", 140,
                          of_jobs(&JobsResult::makespan_s))
            .add_if_given("cluster_use", Unit::share,
                          "computation of all ranks / (devices of the platform × makespan); only of `jobs`", 141,
                          of_jobs(&JobsResult::cluster_use))
            .add_if_given("devices_held", Unit::share,
                          "part of the devices' time in which they belong to a job; only of `jobs`", 142,
                          of_jobs(&JobsResult::allocated))
            .add_if_given("mean_slowdown", Unit::number,
                          "mean over the jobs of their iteration time / the same alone; only of `jobs`", 143,
                          of_jobs(&JobsResult::mean_slowdown))
            .add_if_given("worst_slowdown", Unit::number, "that of the job which loses most; only of `jobs`", 144,
                          of_jobs(&JobsResult::worst_slowdown))
            .add_if_given("mean_wait_s", Unit::seconds, "mean time from arrival to start; only of `jobs`", 145,
                          of_jobs(&JobsResult::mean_wait_s))
            .add_if_given("jobs_started", Unit::number, "number of jobs that start; only of `jobs`", 146,
                          of_jobs(&JobsResult::started))
            .add_if_given("makespan_mean_s", Unit::seconds, "mean over the seeds; only of `jobs` with `--repeat`", 186,
                          of_makespans(&Spread::mean))
            .add_if_given("makespan_median_s", Unit::seconds, "median over the seeds; only of `jobs` with `--repeat`",
                          187, of_makespans(&Spread::median))
            .add_if_given("makespan_p05_s", Unit::seconds, "5 % quantile; only of `jobs` with `--repeat`", 188,
                          of_makespans(&Spread::p05))
            .add_if_given("makespan_p95_s", Unit::seconds, "95 % quantile; only of `jobs` with `--repeat`", 189,
                          of_makespans(&Spread::p95))
            .add_if_given("mean_slowdown_mean", Unit::number, "mean over the seeds; only of `jobs` with `--repeat`",
                          190, of_slowdowns(&Spread::mean))
            .add_if_given("mean_slowdown_median", Unit::number, "median over the seeds; only of `jobs` with `--repeat`",
                          191, of_slowdowns(&Spread::median))
            .add_if_given("mean_slowdown_p05", Unit::number, "5 % quantile; only of `jobs` with `--repeat`", 192,
                          of_slowdowns(&Spread::p05))
            .add_if_given("mean_slowdown_p95", Unit::number, "95 % quantile; only of `jobs` with `--repeat`", 193,
                          of_slowdowns(&Spread::p95))
            .add_if_given("jobs", Unit::list, "the jobs: see [below](#jobs); in CSV one row each", 0,
                          [](const Result& r) {
                              if (!r.jobs) return Json();
                              Json list = Json::array();
                              for (const JobResult& job : r.jobs->jobs) list.push_back(object_of(job));
                              return list;
                          })
            .add_if_given("repeats", Unit::number, "number of seeds, 1 if nothing is random; only with `--repeat`", 81,
                          spread(&Spread::count))
            .add_if_given("iteration_time_mean_s", Unit::seconds, "mean over all seeds; only with `--repeat`", 82,
                          spread(&Spread::mean))
            .add_if_given("iteration_time_median_s", Unit::seconds, "median over all seeds; only with `--repeat`", 83,
                          spread(&Spread::median))
            .add_if_given("iteration_time_p05_s", Unit::seconds, "5 % quantile over all seeds; only with `--repeat`",
                          84, spread(&Spread::p05))
            .add_if_given("iteration_time_p95_s", Unit::seconds, "95 % quantile over all seeds; only with `--repeat`",
                          85, spread(&Spread::p95))
            .add_if_given(
                "expected_slowest_s", Unit::seconds,
                "expected computation time of an iteration's slowest rank; only with jitter of ranks or nodes", 86,
                &Result::expected_slowest_s)
            .add_if_given("expected_slowest_factor", Unit::number,
                          "the same / the longest planned computation time; only with jitter of ranks or nodes", 87,
                          &Result::expected_slowest_factor)
            .add("compute_time_s", Unit::seconds, "the compute stream is busy", 5,
                 [](const Result& r) { return r.time.compute_s; })
            .add("communication_time_s", Unit::seconds,
                 "at least one exchange is in flight, waiting for its peers included", 6,
                 [](const Result& r) { return r.time.communication_s; })
            .add("exposed_communication_time_s", Unit::seconds, "the part of it in which the compute stream is idle", 7,
                 [](const Result& r) { return r.time.exposed_communication_s; })
            .add("waiting_time_s", Unit::seconds,
                 "neither: the rank waits for pushes, servers, cycles, copies or other stages", 54,
                 [](const Result& r) { return r.time.waiting_s; })
            .add("idle_time_s", Unit::seconds, "the rest; 0 unless a rank could continue and does not", 55,
                 [](const Result& r) { return r.time.idle_s; })
            .add("pipeline_bubble", Unit::share,
                 "share of the time in which devices wait for other stages; null without stages", 43,
                 [](const Result& r) { return r.time.pipeline_bubble; })
            .add("throughput_samples_per_s", Unit::samples_per_s, "all ranks together", 8,
                 &Result::throughput_samples_per_s)
            .add_if_given("busy_share", Unit::share,
                          "share of the time in which a rank computes; only if ranks do not always wait for all others",
                          153, &Result::busy_share)
            .add_if_given("attention_scores", Unit::share,
                          "attention's scores, as a share of those of samples of one document; only with `documents`",
                          180, of_balance(&WorkBalance::attention))
            .add_if_given("padding_share", Unit::share,
                          "share of all positions that are padding; only with `documents`", 181,
                          of_balance(&WorkBalance::padding))
            .add_if_given("micro_batch_imbalance", Unit::number,
                          "work of an iteration's longest microbatch / mean of all microbatches; only with `documents`",
                          182, of_balance(&WorkBalance::micro_batches))
            .add_if_given("replica_imbalance", Unit::number,
                          "work of an iteration's replica with most / mean of all replicas; only with `documents`", 183,
                          of_balance(&WorkBalance::replicas))
            .add_if_given("input_wait_s", Unit::seconds,
                          "longest time for which a rank waits for its input; only with `loading`", 184,
                          [](const Result& r) { return r.time.input_wait_s; })
            .add_if_given("kinds.devices", Unit::text,
                          "ranks by device, with `platform.other_nodes`; this and the next four only if ranks are on "
                          "several kinds of nodes",
                          175, of_kinds(&KindsResult::devices))
            .add_if_given("kinds.least_samples", Unit::number,
                          "samples of the rank that has the fewest in an iteration, see `batch_shares`", 176,
                          of_kinds(&KindsResult::least_samples))
            .add_if_given("kinds.most_samples", Unit::number, "samples of the rank that has the most", 177,
                          of_kinds(&KindsResult::most_samples))
            .add_if_given("kinds.least_compute_time_s", Unit::seconds,
                          "planned computation of the kind of ranks that computes for the shortest time", 178,
                          of_kinds(&KindsResult::least_compute_s))
            .add_if_given("kinds.most_compute_time_s", Unit::seconds, "the same of the longest", 179,
                          of_kinds(&KindsResult::most_compute_s))
            .add_if_given("updates.rate_per_s", Unit::number,
                          "updates per second while all workers run; only if each worker's are its own", 150,
                          of_updates(&WorkerUpdates::per_s))
            .add_if_given("updates.staleness_mean", Unit::number,
                          "updates by others between a worker's reading of the weights and its own update, mean", 151,
                          of_updates(&WorkerUpdates::mean_staleness))
            .add_if_given("updates.staleness_max", Unit::number, "the largest number of these", 152,
                          of_updates(&WorkerUpdates::largest_staleness))
            .add_if_given("updates.staleness_distribution", Unit::list, "objects: `staleness`, `share` of the updates",
                          0,
                          [](const Result& r) {
                              if (!r.updates) return Json();
                              Json list = Json::array();
                              for (const auto& [stale, share] : r.updates->distribution)
                                  list.push_back({{"staleness", stale}, {"share", share}});
                              return list;
                          })
            .add_if_given("updates.rates_by_rank", Unit::list, "updates per second, by rank", 0,
                          of_updates(&WorkerUpdates::per_s_by_rank))
            .add_if_given("updates.staleness_by_rank", Unit::list, "mean staleness, by rank", 0,
                          of_updates(&WorkerUpdates::staleness_by_rank))
            .add("scaling", Unit::text, "`weak` with `batch_per_rank`, `strong` with `batch`; null for a trace", 56,
                 [](const Result& r) { return r.samples > 0 ? Json(name_of(r.scaling)) : Json(nullptr); })
            .add("scaling_efficiency", Unit::share,
                 "throughput / (ranks × throughput of one rank); null if one rank cannot hold the model", 9,
                 &Result::scaling_efficiency)
            .add("model_flops", Unit::number, "FLOP of an iteration's forward and backward passes, all ranks together",
                 61, [](const Result& r) { return r.utilisation.flop; })
            .add("model_flops_utilisation", Unit::share,
                 "model FLOP / (ranks × time × the device's `flops`); counts full attention, masked or not", 57,
                 [](const Result& r) { return r.utilisation.model_flops; })
            .add("hardware_flops_utilisation", Unit::share,
                 "the same for executed FLOP: what is recomputed counts, masked scores do not", 58,
                 [](const Result& r) { return r.utilisation.hardware_flops; })
            .add("tflops_per_device", Unit::tflops, "the model's FLOP / (ranks × time)", 59,
                 [](const Result& r) { return r.utilisation.tflops_per_device; })
            .add("tokens_per_s", Unit::tokens_per_s, "all ranks together; null for models without an embedding", 60,
                 [](const Result& r) { return r.utilisation.tokens_per_s; })
            .add("tokens_per_s_per_device", Unit::tokens_per_s, "the same / ranks", 62,
                 [](const Result& r) { return r.utilisation.tokens_per_s_per_device; })
            .add(common::device_time, 46)
            .add(common::cost, 47)
            .add("cost_per_million_samples", Unit::money, "the same per million samples", 48,
                 [](const Result& r) { return r.cost.per_million_samples(r.samples); })
            .add_if_given("run_iterations", Unit::number, "iterations of the whole training; only with `training.run`",
                          90, of_run(&WholeRun::iterations))
            .add_if_given("run_samples_to_accuracy", Unit::number,
                          "samples of the whole training by `training.run.samples_to_accuracy`; only with it", 171,
                          [](const Result& r) { return r.run ? r.run->samples_to_accuracy : std::nullopt; })
            .add_if_given("run_time_s", Unit::seconds,
                          "time of the whole training, without checkpoints and failures; only with `training.run`", 91,
                          of_run(&WholeRun::time_s))
            .add_if_given("run_cost", Unit::money, "its cost; only with `training.run` and a price", 92,
                          [](const Result& r) { return r.run ? r.run->cost : std::nullopt; })
            .add_if_given("run_elapsed_median_s", Unit::seconds,
                          "time of the whole training with [failures](#failures): median over the sampled runs", 106,
                          of_goodput([](const Goodput& g) { return g.elapsed_s.median; }))
            .add_if_given("run_elapsed_p05_s", Unit::seconds, "5 % quantile of the same", 107,
                          of_goodput([](const Goodput& g) { return g.elapsed_s.p05; }))
            .add_if_given("run_elapsed_p95_s", Unit::seconds, "95 % quantile of the same", 108,
                          of_goodput([](const Goodput& g) { return g.elapsed_s.p95; }))
            .add_if_given("run_elapsed_mean_s", Unit::seconds,
                          "mean of the same: the sum of `run_time_s` and the mean times below", 109,
                          of_goodput([](const Goodput& g) { return g.elapsed_s.mean; }))
            .add_if_given("run_checkpoints_s", Unit::seconds,
                          "mean time for which complete checkpoints stop the training", 110,
                          of_goodput([](const Goodput& g) { return g.mean.checkpoints_s; }))
            .add_if_given("run_lost_s", Unit::seconds, "mean time of what failures undo: since the last checkpoint",
                          111, of_goodput([](const Goodput& g) { return g.mean.lost_s; }))
            .add_if_given("run_restarts_s", Unit::seconds, "mean time of restarts", 112,
                          of_goodput([](const Goodput& g) { return g.mean.restarts_s; }))
            .add_if_given("run_slower_s", Unit::seconds,
                          "mean time by which iterations with fewer replicas take longer; only with `restart.repair`",
                          165, of_repairs(&ElapsedParts::slower_s))
            .add_if_given("run_waiting_s", Unit::seconds, "mean time of waiting for repairs; only with the same", 166,
                          of_repairs(&ElapsedParts::waiting_s))
            .add_if_given("run_fewer_replicas_s", Unit::seconds,
                          "mean time in which fewer replicas run, contained in these parts; only with the same", 167,
                          of_repairs(&ElapsedParts::fewer_s))
            .add_if_given("run_goodput", Unit::share, "useful time / elapsed time: `run_time_s` / `run_elapsed_mean_s`",
                          113, of_goodput(&Goodput::goodput))
            .add_if_given("run_failures", Unit::number, "mean number of failures", 114,
                          of_goodput([](const Goodput& g) { return g.mean.failures; }))
            .add_if_given("run_elapsed_cost_median", Unit::money,
                          "cost of the elapsed time, with nodes that stand by: median", 115,
                          of_elapsed_cost(&Spread::median))
            .add_if_given("run_elapsed_cost_p05", Unit::money, "5 % quantile of the same", 116,
                          of_elapsed_cost(&Spread::p05))
            .add_if_given("run_elapsed_cost_p95", Unit::money, "95 % quantile of the same", 117,
                          of_elapsed_cost(&Spread::p95))
            .add_if_given("run_mtbf_s", Unit::seconds, "mean time between failures of all parts that the job uses", 118,
                          of_failing(&FailingRun::mtbf_s))
            .add_if_given("run_checkpoint_interval_s", Unit::seconds,
                          "useful time between two checkpoints, in whole iterations", 119,
                          of_failing(&FailingRun::interval_s))
            .add_if_given("run_checkpoint_blocking_s", Unit::seconds, "time for which a checkpoint stops the training",
                          120, of_failing(&FailingRun::blocking_s))
            .add_if_given("run_checkpoint_write_s", Unit::seconds, "time until a checkpoint is complete", 121,
                          of_failing(&FailingRun::write_s))
            .add_if_given("run_checkpoint_bytes", Unit::bytes, "size of a checkpoint", 122,
                          of_failing(&FailingRun::bytes))
            .add_if_given("run_young_interval_s", Unit::seconds, "Young's optimum interval", 123,
                          of_failing(&FailingRun::young_s))
            .add_if_given("run_daly_interval_s", Unit::seconds, "Daly's optimum interval, of higher order", 124,
                          of_failing(&FailingRun::daly_s))
            .add_if_given("run_expected_s", Unit::seconds, "expected elapsed time by Daly's formula", 125,
                          of_failing(&FailingRun::expected_s))
            .add_if_given("run_seeds", Unit::number, "number of sampled runs", 126,
                          of_goodput([](const Goodput& g) { return static_cast<double>(g.all_s.size()); }))
            .add_if_given("energy_J", Unit::joules,
                          "energy of an iteration, of `jobs` of the makespan, with `pue`; only if the platform has "
                          "`power`",
                          130, of_energy(&Energy::total_J))
            .add_if_given(
                "energy_per_million_samples_J", Unit::joules, "the same per million samples", 131,
                [](const Result& r) { return r.energy ? r.energy->per_million_samples_J(r.samples) : std::nullopt; })
            .add_if_given("power_W", Unit::watts, "mean power: energy / time", 132, of_energy(&Energy::mean_W))
            .add_if_given("energy_devices_J", Unit::joules,
                          "part of the devices, without `pue`, if their power is known", 133,
                          of_energy(&Energy::devices_J))
            .add_if_given("energy_hosts_J", Unit::joules, "the same for hosts", 134, of_energy(&Energy::hosts_J))
            .add_if_given("energy_switches_J", Unit::joules, "the same for switches", 135,
                          of_energy(&Energy::switches_J))
            .add_if_given("energy_ports_J", Unit::joules, "the same for ports of the fabric", 136,
                          of_energy(&Energy::ports_J))
            .add_if_given(
                "energy_unheld_J", Unit::joules,
                "part of devices, and their share of hosts, while no job has them, with `pue`; only of `jobs`", 185,
                [](const Result& r) { return r.jobs ? r.jobs->unheld_J : std::nullopt; })
            .add_if_given(
                "run_energy_J", Unit::joules,
                "energy of the whole training, without checkpoints and failures; only with `training.run` and "
                "`power`",
                137, [](const Result& r) { return r.run ? r.run->energy_J : std::nullopt; })
            .add_if_given("run_elapsed_energy_median_J", Unit::joules,
                          "energy of the elapsed time, with nodes that stand by: median", 168,
                          of_elapsed_energy(&Spread::median))
            .add_if_given("run_elapsed_energy_p05_J", Unit::joules, "5 % quantile of the same", 169,
                          of_elapsed_energy(&Spread::p05))
            .add_if_given("run_elapsed_energy_p95_J", Unit::joules, "95 % quantile of the same", 170,
                          of_elapsed_energy(&Spread::p95))
            .add(common::messages, 10)
            .add(common::bytes_sent, 11)
            .add(common::most_bytes_sent, 12)
            .add("gradient_bytes", Unit::bytes, "one full set of gradients", 13, &Result::gradient_bytes)
            .add("closed_form.formula", Unit::text, "formula of one exchange", 0,
                 [](const Result& r) { return r.closed_form.formula; })
            .add("closed_form.communication_time_s", Unit::seconds, "all exchanges, without computation", 14,
                 [](const Result& r) { return r.closed_form.communication_time_s; })
            .add("closed_form.iteration_time_s", Unit::seconds, "the iteration", 15,
                 [](const Result& r) { return r.closed_form.iteration_time_s; })
            .add_part<Memory>("memory", 23, &Result::memory)
            .add_if_given("memory.host_bytes", Unit::bytes,
                          "the host's memory for this rank: optimizer state, gradients, weights; only with `offload`",
                          97, [](const Result& r) { return host_bytes(r.memory); })
            .add(common::links, 0)
            .add_column(common::most_used_link, 20)
            .add_column(common::most_used_link_utilisation, 21)
            .add(common::limited_by, 105)
            .add(common::notes, last_column)
            .add(common::fidelity, 49)
            .add(common::messages_simulated, 50)
            .add(common::messages_folded, 51)
            .add(common::folding_error, 52)
            .add("iterations_folded", Unit::number,
                 "iterations that were not simulated because they repeat the one before", 53,
                 [](const Result& r) { return r.folded.iterations_folded; })
            .add("micro_batches_folded", Unit::number,
                 "microbatches of an iteration that were not simulated because they repeat those before", 104,
                 [](const Result& r) { return r.folded.micro_batches_folded; })
            .all();
    return table;
}

template <>
const std::vector<ResultField<CollectiveResult>>& fields_of() {
    static const auto table =
        Fields<CollectiveResult>{}
            .add(common::operation, 1)
            .add(common::exchange_algorithm, 2)
            .add(common::overlay, 12)
            .add(common::fabric, 13)
            .add(common::transport, 16)
            .add(common::contributors, 0)
            .add(common::receivers, 0)
            .add(common::ranks, 3)
            .add(common::rounds, 0)
            .add(common::nodes, 17)
            .add(common::bytes, 4)
            .add(common::completion_time, 5)
            .add(common::device_time, 18)
            .add(common::cost, 19)
            .add(common::closed_form, 6)
            .add(common::messages, 7)
            .add(common::bytes_sent, 8)
            .add(common::most_bytes_sent, 11)
            .add("bytes_sent_by_rank", Unit::list, "one number per rank", 0, &CollectiveResult::sent_by)
            .add("bytes_received_by_rank", Unit::list, "one number per rank", 0, &CollectiveResult::received_by)
            .add(common::algorithm_bandwidth, 9)
            .add(common::bus_bandwidth, 10)
            .add(common::links, 0)
            .add_column(common::most_used_link, 14)
            .add_column(common::most_used_link_utilisation, 15)
            .add(common::limited_by, 24)
            .add(common::notes, last_column)
            .add(common::fidelity, 20)
            .add(common::messages_simulated, 21)
            .add(common::messages_folded, 22)
            .add(common::folding_error, 23)
            .all();
    return table;
}

// A row of CSV has the fields of a sweep and those of one of its points.
template <>
const std::vector<ResultField<SweepResult>>& fields_of() {
    static const auto table = Fields<SweepResult>{}
                                  .add("variant", Unit::text, "the variant of a scenario", 1, &SweepResult::variant)
                                  .add(common::operation, 8)
                                  .add(common::exchange_algorithm, 0)
                                  .add(common::overlay, 0)
                                  .add(common::fabric, 10)
                                  .add(common::transport, 11)
                                  .add(common::contributors, 0)
                                  .add(common::receivers, 0)
                                  .add(common::ranks, 9)
                                  .add(common::rounds, 0)
                                  .add("points", Unit::list, "the sizes, see below; in CSV one row each", 0,
                                       [](const SweepResult& r) {
                                           Json points = Json::array();
                                           for (const SweepPoint& point : r.points)
                                               points.push_back(json_object(point));
                                           return points;
                                       })
                                  .add(common::fidelity, 15)
                                  .add(common::messages_simulated, 16)
                                  .add(common::messages_folded, 17)
                                  .add(common::folding_error, 18)
                                  .add(common::notes, last_column)
                                  .all();
    return table;
}

template <>
const std::vector<ResultField<SweepPoint>>& fields_of() {
    static const auto table = Fields<SweepPoint>{}
                                  .add(common::bytes, 2)
                                  .add(common::completion_time, 3)
                                  .add(common::nodes, 12)
                                  .add(common::device_time, 13)
                                  .add(common::cost, 14)
                                  .add(common::algorithm_bandwidth, 4)
                                  .add(common::bus_bandwidth, 5)
                                  .add(common::closed_form, 6)
                                  .add(common::exchange_algorithm, 7)
                                  .add(common::limited_by, 19)
                                  .all();
    return table;
}

Json object_of(const Memory& memory) {
    Json json = json_object(memory);
    if (memory.host_bytes) json["host_bytes"] = host_bytes(memory);
    return json;
}
Json object_of(const Result& result) {
    Json json = json_object(result);
    if (!result.jobs) return json;
    // The other fields are those of one training.
    Json of_jobs = Json::object();
    static const std::set<std::string_view> names{"variant",
                                                  "ranks",
                                                  "nodes",
                                                  "fabric",
                                                  "transport",
                                                  "exchange",
                                                  "iteration_time_s",
                                                  "repeats",
                                                  "iteration_time_mean_s",
                                                  "iteration_time_median_s",
                                                  "iteration_time_p05_s",
                                                  "iteration_time_p95_s",
                                                  "makespan_s",
                                                  "cluster_use",
                                                  "devices_held",
                                                  "mean_slowdown",
                                                  "worst_slowdown",
                                                  "mean_wait_s",
                                                  "jobs_started",
                                                  "makespan_mean_s",
                                                  "makespan_median_s",
                                                  "makespan_p05_s",
                                                  "makespan_p95_s",
                                                  "mean_slowdown_mean",
                                                  "mean_slowdown_median",
                                                  "mean_slowdown_p05",
                                                  "mean_slowdown_p95",
                                                  "jobs",
                                                  "device_time_s",
                                                  "cost",
                                                  "energy_J",
                                                  "power_W",
                                                  "energy_devices_J",
                                                  "energy_hosts_J",
                                                  "energy_switches_J",
                                                  "energy_ports_J",
                                                  "energy_unheld_J",
                                                  "messages",
                                                  "bytes_sent",
                                                  "notes"};
    for (auto& [name, value] : json.items())
        if (names.contains(name)) of_jobs[name] = std::move(value);
    return of_jobs;
}
Json object_of(const CollectiveResult& result) {
    return json_object(result);
}
Json object_of(const SweepResult& result) {
    return json_object(result);
}

std::string csv_name(std::string path) {
    std::replace(path.begin(), path.end(), '.', '_');
    return path;
}

std::string csv_cell(const Json& value) {
    if (value.is_null()) return "";
    if (value.is_string()) return text::quoted(value.get<std::string>());
    if (value.is_number_float()) return text::field(value.get<double>());
    if (value.is_array())
        return text::quoted(fmt::format("{}", fmt::join(value.get<std::vector<std::string>>(), "; ")));
    return value.dump();
}

}  // namespace syncline
