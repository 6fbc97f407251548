#include <fmt/format.h>

#include <vector>

#include "sim/analysis/scaling.hpp"
#include "sim/output/fidelity.hpp"
#include "sim/output/memory.hpp"
#include "sim/output/notes.hpp"
#include "sim/output/parallelism.hpp"
#include "sim/output/text.hpp"
#include "sim/output/writers.hpp"

namespace syncline {

using namespace text;

namespace {

std::string most_used(const std::vector<LinkLoad>& links) {
    return links.empty() ? "" : links.front().name;
}
std::optional<double> utilisation(const std::vector<LinkLoad>& links) {
    return links.empty() ? std::nullopt : std::optional(links.front().utilisation);
}

}  // namespace

std::string to_csv(const Report& report) {
    std::string text = line({"variant",
                             "workload",
                             "ranks",
                             "iteration_time_s",
                             "compute_time_s",
                             "communication_time_s",
                             "exposed_communication_time_s",
                             "throughput_samples_per_s",
                             "scaling_efficiency",
                             "messages",
                             "bytes_sent",
                             "most_bytes_sent_by_rank",
                             "gradient_bytes",
                             "closed_form_communication_time_s",
                             "closed_form_iteration_time_s",
                             "fabric",
                             "exchange",
                             "algorithm",
                             "overlay",
                             "most_used_link",
                             "most_used_link_utilisation",
                             "transport",
                             memory_columns,
                             parallelism_columns,
                             "choice_of",
                             "best",
                             "pipeline_bubble",
                             "nodes",
                             "samples",
                             "device_time_s",
                             "cost",
                             "cost_per_million_samples",
                             fidelity_columns,
                             "iterations_folded",
                             "waiting_time_s",
                             "idle_time_s",
                             "scaling",
                             "model_flops_utilisation",
                             "hardware_flops_utilisation",
                             "tflops_per_device",
                             "tokens_per_s",
                             "notes"});
    for (const Result& r : report.results) {
        text += line({quoted(r.variant),
                      quoted(r.workload),
                      field(r.ranks),
                      field(r.time.iteration_s),
                      field(r.time.compute_s),
                      field(r.time.communication_s),
                      field(r.time.exposed_communication_s),
                      field(r.throughput_samples_per_s),
                      field(r.scaling_efficiency),
                      field(r.messages),
                      field(r.bytes_sent),
                      field(r.most_bytes_sent_by_rank),
                      field(r.gradient_bytes),
                      field(r.closed_form.communication_time_s),
                      field(r.closed_form.iteration_time_s),
                      quoted(r.fabric),
                      r.exchange,
                      quoted(r.algorithm),
                      r.overlay,
                      quoted(most_used(r.links)),
                      field(utilisation(r.links)),
                      quoted(r.transport),
                      memory_fields(r.memory),
                      parallelism_fields(r.parallelism, r.ranks),
                      quoted(r.choice_of),
                      r.best ? fmt::format("{}", *r.best) : "",
                      field(r.time.pipeline_bubble),
                      field(r.cost.nodes),
                      field(r.samples),
                      field(r.cost.device_time_s),
                      field(r.cost.cost),
                      field(r.cost.per_million_samples(r.samples)),
                      fidelity_fields(r.folded),
                      field(r.folded.iterations_folded),
                      field(r.time.waiting_s),
                      field(r.time.idle_s),
                      name_of(r.scaling),
                      field(r.utilisation.model_flops),
                      field(r.utilisation.hardware_flops),
                      field(r.utilisation.tflops_per_device),
                      field(r.utilisation.tokens_per_s),
                      notes_field(r.notes)});
    }
    return text;
}

std::string to_csv(const CollectiveResult& r) {
    return line({"operation",
                 "algorithm",
                 "ranks",
                 "bytes",
                 "completion_time_s",
                 "closed_form_s",
                 "messages",
                 "bytes_sent",
                 "algorithm_bandwidth_Bps",
                 "bus_bandwidth_Bps",
                 "most_bytes_sent_by_rank",
                 "overlay",
                 "fabric",
                 "most_used_link",
                 "most_used_link_utilisation",
                 "transport",
                 "nodes",
                 "device_time_s",
                 "cost",
                 fidelity_columns,
                 "notes"}) +
           line({r.operation,
                 quoted(r.algorithm),
                 field(r.ranks),
                 field(r.bytes),
                 field(r.completion_time_s),
                 field(r.closed_form_s),
                 field(r.messages),
                 field(r.bytes_sent),
                 field(r.algorithm_bandwidth_Bps),
                 field(r.bus_bandwidth_Bps),
                 field(r.most_bytes_sent_by_rank),
                 r.overlay,
                 quoted(r.fabric),
                 quoted(most_used(r.links)),
                 field(utilisation(r.links)),
                 quoted(r.transport),
                 field(r.cost.nodes),
                 field(r.cost.device_time_s),
                 field(r.cost.cost),
                 fidelity_fields(r.folded),
                 notes_field(r.notes)});
}

}  // namespace syncline
