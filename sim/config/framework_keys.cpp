#include "sim/config/framework_keys.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "sim/config/keys.hpp"

namespace syncline::config {

namespace {

/// The keys of `training` that a framework may have. None is about the model, the cluster, or the number of ranks in a
/// group.
constexpr std::array software_keys{
    "exchange",
    "servers.placement",
    "servers.pull",
    "servers.local_reduction",
    "overlap",
    "fusion",
    "partition",
    "schedule",
    "precision",
    "accumulation",
    "launches",
    "elementwise",
    "attention_kernel",
    "recomputation",
    "saved",
    "parallelism.sharding",
    "parallelism.sequence",
    "parallelism.model_overlap",
    "parallelism.gathering",
    "parallelism.gradient_sync",
    "parallelism.device_queues",
    "parallelism.pipeline.transfers",
    "parallelism.pipeline.scatter_gather",
};

/// Keys inside one of these, which a plan may refuse alone.
constexpr std::array inner_keys{"fusion.cycle", "fusion.negotiation"};

/// Mappings that a framework leaves out: what is in them is beside the other keys.
constexpr std::array left_out{"parallelism", "parallelism.pipeline"};

template <class List>
bool contains(const List& list, std::string_view path) {
    return std::find(list.begin(), list.end(), path) != list.end();
}

bool leads_to_software(const std::string& path) {
    return std::any_of(software_keys.begin(), software_keys.end(),
                       [&](const std::string_view key) { return key.starts_with(path + "."); });
}

/// Returns the name in a framework of a key of `training`.
std::string short_name(std::string key) {
    for (const std::string mapping : {"parallelism.", "pipeline."})
        if (key.starts_with(mapping)) key.erase(0, mapping.size());
    return key;
}

/// Shows the table of `training` only the keys of a framework, which are those of `fields`. To the table the document
/// looks like that of a schema: nothing is given, so that nothing is checked that concerns several keys.
class SoftwareFields : public Fields {
public:
    SoftwareFields(Fields& fields, std::string path) : fields_(fields), path_(std::move(path)) {}

    void text(Key key, std::string& value) override {
        if (chosen(key)) fields_.text(key, value);
    }
    void texts(Key key, std::vector<std::string>& values) override {
        if (chosen(key)) fields_.texts(key, values);
    }
    void file(Key key, const FileReader& body) override {
        if (chosen(key)) fields_.file(key, body);
    }
    void paths(Key key, const PathsReader& body) override {
        if (chosen(key)) fields_.paths(key, body);
    }
    void flag(Key key, bool& value) override {
        if (chosen(key)) fields_.flag(key, value);
    }
    void integer(Key key, std::int64_t& value, std::int64_t least, std::int64_t most) override {
        if (chosen(key)) fields_.integer(key, value, least, most);
    }
    void integer_or_word(Key key, std::int64_t& value, std::int64_t most, const char* word) override {
        if (chosen(key)) fields_.integer_or_word(key, value, most, word);
    }
    void integers(Key key, std::vector<std::int64_t>& values, std::size_t size, std::int64_t least) override {
        if (chosen(key)) fields_.integers(key, values, size, least);
    }
    void integer_list(Key key, std::vector<std::int64_t>& values, std::int64_t least, std::int64_t most) override {
        if (chosen(key)) fields_.integer_list(key, values, least, most);
    }
    void count_or_list(Key key, std::int64_t& count, std::vector<std::int64_t>& list, std::int64_t most) override {
        if (chosen(key)) fields_.count_or_list(key, count, list, most);
    }
    void quantity(Key key, double& value, Dimension dimension, QuantityRange range) override {
        if (chosen(key)) fields_.quantity(key, value, dimension, range);
    }
    void quantities(Key key, std::vector<double>& values, Dimension dimension, QuantityRange range) override {
        if (chosen(key)) fields_.quantities(key, values, dimension, range);
    }
    void sizes(Key key, std::vector<std::uint64_t>& values) override {
        if (chosen(key)) fields_.sizes(key, values);
    }
    void number(Key key, double& value, double least, double most) override {
        if (chosen(key)) fields_.number(key, value, least, most);
    }
    void number_or_percent(Key key, double& value, bool& percent, double least, double most, const char* off) override {
        if (chosen(key)) fields_.number_or_percent(key, value, percent, least, most, off);
    }
    void choice(Key key, int& value, const std::vector<std::string>& words, std::vector<std::int64_t>* list) override {
        if (chosen(key)) fields_.choice(key, value, words, list);
    }
    void section(Key key, const std::function<void(Fields&)>& body, const char* off) override {
        if (chosen(key)) return fields_.section(key, body, off);
        const std::string path = path_ + key.name;
        if (!leads_to_software(path)) return;
        fields_.section(
            key,
            [&](Fields& inner) {
                SoftwareFields some(inner, path + ".");
                body(some);
            },
            off);
    }
    void each(Key key, const std::function<void(Fields&)>& body) override {
        if (chosen(key)) fields_.each(key, body);
    }
    void quantity_or_each(Key key, double& value, Dimension dimension, QuantityRange range,
                          const std::function<void(Fields&)>& body) override {
        if (chosen(key)) fields_.quantity_or_each(key, value, dimension, range, body);
    }
    void named(Key key, const std::function<void(const std::string&, Fields&)>& body) override {
        if (chosen(key)) fields_.named(key, body);
    }

    void reject(std::string_view, const std::string&, const std::string&) override {}
    bool given(std::string_view) const override { return false; }
    bool sound() const override { return false; }

private:
    /// Returns whether `key` is shown. Visits what is in a mapping that is left out as if it were beside it.
    bool chosen(const Key& key) {
        const std::string path = path_ + key.name;
        if (key.body && contains(left_out, path)) {
            SoftwareFields inner(fields_, path + ".");
            (*key.body)(inner);
        }
        return contains(software_keys, path);
    }

    Fields& fields_;
    const std::string path_;  ///< of this mapping within `training`, with a dot at its end
};

void describe_keys(Fields& fields, Plan& plan) {
    std::string name, base, description;
    fields.text({"name", "Name of the framework, for readers."}, name);
    fields.text({"description", "Text for readers."}, description);
    fields.text({"base",
                 "Framework whose keys the others change: a file, relative to this one, or the name of one in "
                 "scenarios/frameworks/."},
                base);
    SoftwareFields software(fields, "");
    OpenPlan open;
    describe_training_keys(software, plan, open);
}

}  // namespace

void describe(Fields& fields, FrameworkFile&) {
    Plan plan;
    describe_keys(fields, plan);
}

void describe_framework(Fields& training, Plan& plan) {
    Plan read;  // not the plan, whose defaults a schema shows, although it visits all keys
    training.section(
        {"framework",
         "Framework that gives the keys which are not written: its file, its name in scenarios/frameworks/, or a "
         "mapping: `{base: megatron-core, model_overlap: none}`. Default: each key's own default.",
         false, true},
        [&](Fields& inner) {
            read = plan;
            describe_keys(inner, read);
        });
    if (training.given("framework")) plan = std::move(read);
}

std::string place_in_framework(const Fields& training, const std::string& key) {
    const std::string place = "framework." + short_name(key);
    return training.given(place) ? place : "";
}

void note_inherited(const Fields& training, Plan& plan) {
    const auto note = [&](const std::string& key) {
        if (!training.given(key) && !place_in_framework(training, key).empty()) plan.inherited.push_back(key);
    };
    for (const char* key : software_keys) note(key);
    for (const char* key : inner_keys) note(key);
}

bool is_framework(const Node& document) {
    // Other files may have such keys by mistake, and a workload's `sequence` is another one.
    for (const char* other :
         {"platform", "workload", "training", "collective", "trace", "jobs", "variants", "axes", "layers"})
        if (document.find(other)) return false;
    return std::any_of(software_keys.begin(), software_keys.end(), [&](const char* key) {
        const std::string name = short_name(key);
        return document.find(name.substr(0, name.find('.'))) != nullptr;
    });
}

}  // namespace syncline::config
