#include "sim/analysis/scaling.hpp"
#include "sim/base/version.hpp"
#include "sim/output/fidelity.hpp"
#include "sim/output/json_text.hpp"
#include "sim/output/memory.hpp"
#include "sim/output/parallelism.hpp"
#include "sim/output/writers.hpp"

namespace syncline {

namespace {

Json list(const std::vector<LinkLoad>& links) {
    Json result = Json::array();
    for (const LinkLoad& link : links)
        result.push_back({{"link", link.name}, {"bytes", link.bytes}, {"utilisation", link.utilisation}});
    return result;
}

Json object(const Result& result) {
    Json json{
        {"variant", result.variant},
        {"workload", result.workload},
        {"ranks", result.ranks},
        {"nodes", result.cost.nodes},
        {"samples", result.samples},
        {"fabric", result.fabric},
        {"transport", text_or_null(result.transport)},
        {"exchange", result.exchange},
        {"algorithm", text_or_null(result.algorithm)},
        {"overlay", text_or_null(result.overlay)},
        {"parallelism", to_json(result.parallelism, result.ranks)},
        {"choice_of", text_or_null(result.choice_of)},
        {"best", result.best ? Json(*result.best) : Json(nullptr)},
        {"iteration_time_s", result.time.iteration_s},
        {"compute_time_s", result.time.compute_s},
        {"communication_time_s", result.time.communication_s},
        {"exposed_communication_time_s", result.time.exposed_communication_s},
        {"waiting_time_s", result.time.waiting_s},
        {"idle_time_s", result.time.idle_s},
        {"pipeline_bubble", number_or_null(result.time.pipeline_bubble)},
        {"throughput_samples_per_s", number_or_null(result.throughput_samples_per_s)},
        {"scaling", name_of(result.scaling)},
        {"scaling_efficiency", number_or_null(result.scaling_efficiency)},
        {"model_flops_utilisation", number_or_null(result.utilisation.model_flops)},
        {"hardware_flops_utilisation", number_or_null(result.utilisation.hardware_flops)},
        {"tflops_per_device", number_or_null(result.utilisation.tflops_per_device)},
        {"tokens_per_s", number_or_null(result.utilisation.tokens_per_s)},
        {"device_time_s", result.cost.device_time_s},
        {"cost", number_or_null(result.cost.cost)},
        {"cost_per_million_samples", number_or_null(result.cost.per_million_samples(result.samples))},
        {"messages", result.messages},
        {"bytes_sent", result.bytes_sent},
        {"most_bytes_sent_by_rank", result.most_bytes_sent_by_rank},
        {"gradient_bytes", result.gradient_bytes},
        {"closed_form",
         {{"formula", result.closed_form.formula},
          {"communication_time_s", number_or_null(result.closed_form.communication_time_s)},
          {"iteration_time_s", number_or_null(result.closed_form.iteration_time_s)}}},
        {"memory", to_json(result.memory)},
        {"links", list(result.links)},
        {"notes", result.notes},
    };
    json.update(to_json(result.folded));
    json["iterations_folded"] = result.folded.iterations_folded;
    return json;
}

}  // namespace

std::string to_json(const Report& report) {
    Json results = Json::array();
    for (const Result& result : report.results) results.push_back(object(result));
    return Json{{"schema_version", result_schema_version}, {"name", report.name}, {"results", std::move(results)}}.dump(
               2) +
           "\n";
}

std::string to_json(const CollectiveResult& result) {
    Json json;
    json["schema_version"] = result_schema_version;
    json.update(exchange_fields(result));
    json.update(Json{
        {"nodes", result.cost.nodes},
        {"bytes", result.bytes},
        {"completion_time_s", result.completion_time_s},
        {"device_time_s", result.cost.device_time_s},
        {"cost", number_or_null(result.cost.cost)},
        {"closed_form_s", number_or_null(result.closed_form_s)},
        {"messages", result.messages},
        {"bytes_sent", result.bytes_sent},
        {"most_bytes_sent_by_rank", result.most_bytes_sent_by_rank},
        {"bytes_sent_by_rank", result.sent_by},
        {"bytes_received_by_rank", result.received_by},
        {"algorithm_bandwidth_Bps", number_or_null(result.algorithm_bandwidth_Bps)},
        {"bus_bandwidth_Bps", number_or_null(result.bus_bandwidth_Bps)},
        {"links", list(result.links)},
        {"notes", result.notes},
    });
    json.update(to_json(result.folded));
    return dumped(json);
}

}  // namespace syncline
