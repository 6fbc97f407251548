#include <map>
#include <nlohmann/json.hpp>

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

using Body = void (*)(Fields&);

template <class Thing>
void table_of(Fields& fields) {
    Thing thing;
    describe(fields, thing);
}

/// Returns the field table of a kind of file.
Body table_for(const std::string& kind) {
    static const std::map<std::string, Body> tables{
        {"scenario", table_of<Scenario>},      {"platform", table_of<Cluster>},
        {"device", table_of<Device>},          {"transport", table_of<Transport>},
        {"workload", table_of<Model>},         {"topology", table_of<TopologySpec>},
        {"selection", table_of<Selection>},    {"study", table_of<StudyFile>},
        {"measured", table_of<MeasuredFile>},  {"ablation", table_of<AblationFile>},
        {"framework", table_of<FrameworkFile>}};
    return tables.at(kind);
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
    return schema("syncline-" + kind, "Syncline " + kind, table_for(kind));
}

std::vector<DescribedKey> keys_of(const std::string& kind) {
    return key_paths(table_for(kind));
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
