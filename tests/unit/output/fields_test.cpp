#include "sim/output/result_fields.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "sim/output/writers.hpp"
#include "tests/catch.hpp"

// The tables of results' fields agree with what the writers print, with themselves, and with the shipped reference.

using namespace syncline;

namespace {

bool names_a_time(const std::string& name) {
    return name.ends_with("_s") && !name.ends_with("_per_s");
}

bool fits(Unit unit, const Json& value) {
    if (value.is_null()) return unit != Unit::list;
    if (unit == Unit::text) return value.is_string() || value.is_boolean();
    return unit == Unit::list ? value.is_array() : value.is_number();
}

/// The paths of everything that is not an object, in order.
void collect(const Json& json, const std::string& before, std::vector<std::string>& paths) {
    for (const auto& [key, value] : json.items()) {
        if (value.is_object())
            collect(value, before + key + ".", paths);
        else
            paths.push_back(before + key);
    }
}

template <class T>
void check_table(const T& result) {
    std::set<std::string> names;
    std::set<int> columns;
    for (const ResultField<T>& field : fields_of<T>()) {
        CAPTURE(field.name);
        if (field.in_json) {
            CHECK(names.insert(field.name).second);
            CHECK_FALSE(std::string(field.doc).empty());
            CHECK((fits(field.unit, field.value(result)) || (field.if_given && field.value(result).is_null())));
        } else {
            CHECK(field.column > 0);
        }
        if (field.column > 0) CHECK(columns.insert(field.column).second);
        CHECK(names_a_time(field.name) == (field.unit == Unit::seconds));
        CHECK(field.name.ends_with("_Bps") == (field.unit == Unit::bandwidth));
        CHECK(field.name.ends_with("_samples_per_s") == (field.unit == Unit::samples_per_s));
        CHECK(field.name.ends_with("_J") == (field.unit == Unit::joules));
        CHECK(field.name.ends_with("_W") == (field.unit == Unit::watts));
        if (field.name.ends_with("_bytes")) CHECK(field.unit == Unit::bytes);
        CHECK(std::string(field.doc).find('|') == std::string::npos);
    }
}

template <class T>
std::vector<std::string> names_in_json() {
    std::vector<std::string> names;
    for (const ResultField<T>& field : fields_of<T>())
        if (field.in_json) names.push_back(field.name);
    return names;
}

std::string head(const std::string& csv) {
    return csv.substr(0, csv.find('\n'));
}

std::string text_of(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

Report report() {
    Report report{"a name", {Result{}}};
    LayerRange& range = report.results.front().parallelism.ranges.emplace_back();
    range.first = "fc6";
    range.last = "fc8";
    range.layout = Layout{2, 1, 1};
    report.results.front().links = {{"up, left", 7, 0.5}};
    report.results.front().notes = {"one", "two"};
    return report;
}

}  // namespace

TEST_CASE("fields: each has a description, a unit that its name and value fit, and a column of its own",
          "[fields][memory]") {
    check_table(Memory{});
    check_table(report().results.front());
    check_table(CollectiveResult{});
    check_table(SweepResult{});
    check_table(SweepPoint{});
    std::set<int> columns;
    for (const auto& [column, name] : csv_names<SweepResult>()) CHECK(columns.insert(column).second);
    for (const auto& [column, name] : csv_names<SweepPoint>()) CHECK(columns.insert(column).second);
}

TEST_CASE("fields: JSON has those of the table, in its order", "[fields][memory]") {
    std::vector<std::string> names;
    Report whole = report();
    whole.results.front().repeated = Spread{2, 1, 1, 1, 1};
    whole.results.front().expected_slowest_s = whole.results.front().expected_slowest_factor = 1;
    whole.results.front().run = WholeRun{1, 1, 1, 1};
    whole.results.front().samples = 1;
    whole.results.front().energy = Energy{1, 1, 1, 1, 1, 1};
    FailingRun& failing = whole.results.front().run->failing.emplace();
    failing.mtbf_s = 1;
    failing.bytes = 1;
    failing.goodput.emplace().mean.useful_s = 1;
    failing.repair_s = 1;
    failing.energy_J.emplace();
    whole.results.front().run->samples_to_accuracy = 1;
    whole.results.front().parallelism.layout.context = 2;
    whole.results.front().parallelism.experts = {.ranks = 2, .model = 1, .imbalance = 0.2};
    whole.results.front().parallelism.pipeline.stages = whole.results.front().parallelism.pipeline.micro_batches = 2;
    whole.results.front().parallelism.sharding = Sharding::optimizer;
    whole.results.front().parallelism.device_queues = DeviceQueues::one;
    whole.results.front().parallelism.layout.rows = 2;
    whole.results.front().memory.host_bytes = 1;
    whole.results.front().busy_share = 0.5;
    whole.results.front().iteration_times_s = {1, 2};
    whole.results.front().balance.emplace();
    whole.results.front().time.input_wait_s = 1;
    whole.results.front().kinds = KindsResult{"1 × a + 1 × b", 1, 2, 1, 1};
    whole.results.front().updates = WorkerUpdates{1, {1}, 0, 0, {{0, 1}}, {0}, false};
    collect(Json::parse(to_json(whole)).at("results").at(0), "", names);
    // Jobs have fields of their own, and only some of the others.
    const std::set<std::string> of_jobs{"makespan_s",
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
                                        "energy_unheld_J",
                                        "jobs"};
    std::vector<std::string> known = names_in_json<Result>(), of_training = known;
    std::erase_if(of_training, [&](const std::string& name) { return of_jobs.contains(name); });
    CHECK(names == of_training);
    Report shared = report();
    JobsResult& jobs = shared.results.front().jobs.emplace();
    jobs.unheld_J = 1;
    jobs.makespans_s = jobs.slowdowns = Spread{2, 1, 1, 1, 1};
    std::vector<std::string> few;
    collect(Json::parse(to_json(shared)).at("results").at(0), "", few);
    std::erase_if(known, [&](const std::string& name) { return std::ranges::find(few, name) == few.end(); });
    CHECK(few == known);
    CHECK(std::ranges::all_of(of_jobs,
                              [&](const std::string& name) { return std::ranges::find(few, name) != few.end(); }));
    // Some fields are left out where they have no value.
    std::vector<std::string> fewer, if_given;
    collect(Json::parse(to_json(report())).at("results").at(0), "", fewer);
    std::set_difference(names.begin(), names.end(), fewer.begin(), fewer.end(), std::back_inserter(if_given),
                        [&](const std::string& a, const std::string& b) {
                            return std::find(names.begin(), names.end(), a) < std::find(names.begin(), names.end(), b);
                        });
    CHECK(if_given == std::vector<std::string>{"parallelism.context",
                                               "parallelism.context_exchange",
                                               "parallelism.experts",
                                               "parallelism.expert_model",
                                               "parallelism.expert_imbalance",
                                               "parallelism.transfers",
                                               "parallelism.scatter_gather",
                                               "parallelism.gathering",
                                               "parallelism.gradient_sync",
                                               "parallelism.device_queues",
                                               "times_by_iteration",
                                               "longest_iteration_s",
                                               "repeats",
                                               "iteration_time_mean_s",
                                               "iteration_time_median_s",
                                               "iteration_time_p05_s",
                                               "iteration_time_p95_s",
                                               "expected_slowest_s",
                                               "expected_slowest_factor",
                                               "busy_share",
                                               "attention_scores",
                                               "padding_share",
                                               "micro_batch_imbalance",
                                               "replica_imbalance",
                                               "input_wait_s",
                                               "kinds.devices",
                                               "kinds.least_samples",
                                               "kinds.most_samples",
                                               "kinds.least_compute_time_s",
                                               "kinds.most_compute_time_s",
                                               "updates.rate_per_s",
                                               "updates.staleness_mean",
                                               "updates.staleness_max",
                                               "updates.staleness_distribution",
                                               "updates.rates_by_rank",
                                               "updates.staleness_by_rank",
                                               "run_iterations",
                                               "run_samples_to_accuracy",
                                               "run_time_s",
                                               "run_cost",
                                               "run_elapsed_median_s",
                                               "run_elapsed_p05_s",
                                               "run_elapsed_p95_s",
                                               "run_elapsed_mean_s",
                                               "run_checkpoints_s",
                                               "run_lost_s",
                                               "run_restarts_s",
                                               "run_slower_s",
                                               "run_waiting_s",
                                               "run_fewer_replicas_s",
                                               "run_goodput",
                                               "run_failures",
                                               "run_elapsed_cost_median",
                                               "run_elapsed_cost_p05",
                                               "run_elapsed_cost_p95",
                                               "run_mtbf_s",
                                               "run_checkpoint_interval_s",
                                               "run_checkpoint_blocking_s",
                                               "run_checkpoint_write_s",
                                               "run_checkpoint_bytes",
                                               "run_young_interval_s",
                                               "run_daly_interval_s",
                                               "run_expected_s",
                                               "run_seeds",
                                               "energy_J",
                                               "energy_per_million_samples_J",
                                               "power_W",
                                               "energy_devices_J",
                                               "energy_hosts_J",
                                               "energy_switches_J",
                                               "energy_ports_J",
                                               "run_energy_J",
                                               "run_elapsed_energy_median_J",
                                               "run_elapsed_energy_p05_J",
                                               "run_elapsed_energy_p95_J",
                                               "memory.host_bytes"});

    names.clear();
    collect(Json::parse(to_json(CollectiveResult{})), "", names);
    REQUIRE(names.front() == "schema_version");
    names.erase(names.begin());
    CHECK(names == names_in_json<CollectiveResult>());

    SweepResult sweep;
    sweep.points.emplace_back();
    names.clear();
    collect(Json::parse(to_json(SweepReport{"", {sweep}})).at("results").at(0), "", names);
    CHECK(names == names_in_json<SweepResult>());
    CHECK_FALSE(Json::parse(to_json(sweep)).contains("variant"));
    names.clear();
    collect(Json::parse(to_json(sweep)).at("points").at(0), "", names);
    CHECK(names == names_in_json<SweepPoint>());
}

TEST_CASE("fields: columns of CSV keep their order", "[fields][memory]") {
    CHECK(head(to_csv(report())) ==
          "variant,workload,ranks,iteration_time_s,compute_time_s,communication_time_s,exposed_communication_time_s,"
          "throughput_samples_per_s,scaling_efficiency,messages,bytes_sent,most_bytes_sent_by_rank,gradient_bytes,"
          "closed_form_communication_time_s,closed_form_iteration_time_s,fabric,exchange,algorithm,overlay,"
          "most_used_link,most_used_link_utilisation,transport,memory_weights_bytes,memory_gradients_bytes,"
          "memory_optimizer_bytes,memory_activations_bytes,memory_total_bytes,memory_device_bytes,memory_fraction,"
          "parallelism_rows,parallelism_columns,parallelism_height,parallelism_width,parallelism_stages,"
          "parallelism_micro_batches,parallelism_schedule,parallelism_chunks,parallelism_sharding,"
          "parallelism_sequence,parallelism_ranges,choice_of,best,pipeline_bubble,nodes,samples,device_time_s,cost,"
          "cost_per_million_samples,fidelity,messages_simulated,messages_folded,folding_error_s,iterations_folded,"
          "waiting_time_s,idle_time_s,scaling,model_flops_utilisation,hardware_flops_utilisation,tflops_per_device,"
          "tokens_per_s,model_flops,tokens_per_s_per_device,micro_batches_folded,limited_by,notes");
    Report whole = report();
    whole.results.push_back(whole.results.front());
    whole.results.front().repeated = Spread{2, 1, 1, 1, 1};
    const std::string one = head(to_csv(report())), last = "micro_batches_folded,limited_by,notes";
    REQUIRE(one.ends_with(last));
    CHECK(head(to_csv(whole)) == one.substr(0, one.size() - last.size()) +
                                     "repeats,iteration_time_mean_s,iteration_time_median_s,iteration_time_p05_s,"
                                     "iteration_time_p95_s," +
                                     last);
    CHECK(head(to_csv(CollectiveResult{})) ==
          "operation,algorithm,ranks,bytes,completion_time_s,closed_form_s,messages,bytes_sent,"
          "algorithm_bandwidth_Bps,bus_bandwidth_Bps,most_bytes_sent_by_rank,overlay,fabric,most_used_link,"
          "most_used_link_utilisation,transport,nodes,device_time_s,cost,fidelity,messages_simulated,messages_folded,"
          "folding_error_s,limited_by,notes");
    const std::string sweep =
        "bytes,completion_time_s,algorithm_bandwidth_Bps,bus_bandwidth_Bps,closed_form_s,algorithm,operation,ranks,"
        "fabric,transport,nodes,device_time_s,cost,fidelity,messages_simulated,messages_folded,folding_error_s,limited_"
        "by,notes";
    CHECK(head(to_csv(SweepResult{})) == sweep);
    CHECK(head(to_csv(SweepReport{})) == "variant," + sweep);
}

TEST_CASE("fields: a value is the same in CSV, a list is one text", "[fields][memory]") {
    const CsvCells names = csv_names<Result>(), values = csv_values(report().results.front());
    const auto value = [&](const std::string& name) {
        for (const auto& [column, each] : names)
            if (each == name) return values.at(column);
        return std::string("no such column");
    };
    CHECK(value("notes") == "one; two");
    CHECK(value("most_used_link") == "\"up, left\"");
    CHECK(value("most_used_link_utilisation") == "0.5");
    CHECK(value("parallelism_ranges") == "fc6..fc8 2x0");
    CHECK(value("parallelism_sequence") == "false");
    CHECK(value("best").empty());
    CHECK(value("memory_total_bytes").empty());  // nothing is known of it
}

TEST_CASE("fields: units are known by name", "[fields][memory]") {
    CHECK(unit_of("iteration_time_s") == Unit::seconds);
    CHECK(unit_of("memory.total_bytes") == Unit::bytes);
    CHECK(unit_of("bytes") == Unit::bytes);
    CHECK(unit_of("tokens_per_s") == Unit::tokens_per_s);
    CHECK(unit_of("bus_bandwidth_Bps") == Unit::bandwidth);
    CHECK(unit_of("somebody's_time_s") == Unit::number);
    CHECK(without_unit("iteration_time_s", Unit::seconds) == "iteration_time");
    CHECK(without_unit("iteration_time_s", Unit::number) == "iteration_time_s");
    CHECK(without_unit("throughput", Unit::samples_per_s) == "throughput");
    // A name has the same unit in all kinds of result.
    for (const ResultField<SweepPoint>& field : fields_of<SweepPoint>()) CHECK(unit_of(field.name) == field.unit);
    for (const ResultField<CollectiveResult>& field : fields_of<CollectiveResult>())
        CHECK(unit_of(field.name) == field.unit);
}

TEST_CASE("fields: scenarios/results.md has the tables that `syncline schema results` prints", "[fields][memory]") {
    const std::string text = text_of(std::filesystem::path(SYNCLINE_SOURCE_DIR) / "scenarios/results.md");
    const std::string begin = "<!-- generated: syncline schema results -->\n", end = "<!-- end -->\n";
    const auto from = text.find(begin);
    REQUIRE(from != std::string::npos);
    const auto until = text.find(end, from);
    REQUIRE(until != std::string::npos);
    CHECK(text.substr(from + begin.size(), until - from - begin.size()) == fields_reference());
}
