#include "sim/base/version.hpp"
#include "sim/output/result_fields.hpp"
#include "sim/output/writers.hpp"

namespace syncline {

namespace {

template <class AnyReport>
Json report_object(const AnyReport& report) {
    Json results = Json::array();
    for (const auto& result : report.results) results.push_back(object_of(result));
    return {{"schema_version", result_schema_version}, {"name", report.name}, {"results", std::move(results)}};
}

template <class AnyResult>
std::string single(const AnyResult& result) {
    Json json{{"schema_version", result_schema_version}};
    json.update(object_of(result));
    json.erase("variant");
    return dumped(json);
}

}  // namespace

Json object_of(const Report& report) {
    return report_object(report);
}
Json object_of(const SweepReport& report) {
    return report_object(report);
}

std::string to_json(const Report& report) {
    return dumped(report_object(report));
}
std::string to_json(const SweepReport& report) {
    return dumped(report_object(report));
}
std::string to_json(const CollectiveResult& result) {
    return single(result);
}
std::string to_json(const SweepResult& result) {
    return single(result);
}

}  // namespace syncline
