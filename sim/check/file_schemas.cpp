#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "sim/check/check.hpp"
#include "sim/config/alternatives.hpp"
#include "sim/config/framework_keys.hpp"
#include "sim/config/measured_keys.hpp"
#include "sim/document/json_schema.hpp"
#include "sim/document/key_path.hpp"
#include "sim/document/shared_schema.hpp"
#include "sim/study/study_file.hpp"

namespace syncline::config {

namespace {

template <class Thing>
std::string schema_for(const std::string& kind) {
    return schema("syncline-" + kind, "Syncline " + kind, [](Fields& fields) {
        Thing thing;
        describe(fields, thing);
    });
}

/// Returns the schema of a key; the schema of its kind of file is made on first use.
const nlohmann::json& property(const std::string& kind, const std::string& key) {
    static std::map<std::string, nlohmann::json> schemas;
    if (!schemas.contains(kind)) schemas[kind] = expanded(nlohmann::json::parse(schema_of(kind)));
    const nlohmann::json* node = &schemas[kind];
    for (const PathPart& part : parse_path(key).parts) {
        if (node->contains("anyOf")) node = &node->at("anyOf").front();
        node = &node->at("properties").at(part.key);
    }
    return *node;
}

}  // namespace

const std::vector<std::string>& file_kinds() {
    static const std::vector<std::string> kinds{"scenario", "platform", "device",    "transport",
                                                "workload", "topology", "selection", "study",
                                                "measured", "ablation", "framework"};
    return kinds;
}

std::string schema_of(const std::string& kind) {
    if (kind == "scenario") return schema_for<Scenario>(kind);
    if (kind == "platform") return schema_for<Cluster>(kind);
    if (kind == "device") return schema_for<Device>(kind);
    if (kind == "transport") return schema_for<Transport>(kind);
    if (kind == "workload") return schema_for<Model>(kind);
    if (kind == "topology") return schema_for<TopologySpec>(kind);
    if (kind == "selection") return schema_for<Selection>(kind);
    if (kind == "study") return schema_for<StudyFile>(kind);
    if (kind == "measured") return schema_for<MeasuredFile>(kind);
    if (kind == "framework") return schema_for<FrameworkFile>(kind);
    if (kind == "ablation") return schema_for<AblationFile>(kind);
    throw std::logic_error("no kind of file '" + kind + "'");
}

std::string description_of(const std::string& kind, const std::string& key) {
    return property(kind, key).at("description");
}

std::vector<std::string> words_of(const std::string& kind, const std::string& key) {
    const nlohmann::json& node = property(kind, key);
    const nlohmann::json forms = node.value("anyOf", nlohmann::json::array({node}));
    std::vector<std::string> words;
    for (const nlohmann::json& form : forms)
        for (const nlohmann::json& word : form.value("enum", nlohmann::json::array()))
            if (word.is_string()) words.push_back(word);
    return words;
}

}  // namespace syncline::config
