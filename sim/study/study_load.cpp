#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "sim/document/key_path.hpp"
#include "sim/document/yaml_text.hpp"
#include "sim/study/study_parts.hpp"

namespace syncline::config {

namespace {

bool contains(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr std::size_t most_varied = 500;  // keys; points are rows of a table with two columns for each

/// Changes entries whose keys are paths; a null removes its key.
void change_paths(std::vector<Entry>& entries, std::vector<Entry> changes) {
    for (Entry& change : changes) {
        const bool removes = change.value.kind == Node::Kind::null;
        std::erase_if(entries, [&](const Entry& entry) {
            return lies_in(entry.key, change.key) || (removes && entry.key == change.key);
        });
        const auto same =
            std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.key == change.key; });
        if (same != entries.end())
            *same = std::move(change);
        else if (!removes)
            entries.push_back(std::move(change));
    }
}

/// Returns `{a.b: {least: 1, most: 2}}` for `a.b.least: 1, a.b.most: 2`.
Node grouped(const Mark& mark, const std::vector<Entry>& paths) {
    Node groups = mapping_at(mark);
    for (const Entry& path : paths) {
        const std::vector<PathPart> parts = parse_path(path.key).parts;
        const std::size_t last = parts.empty() ? 0 : parts.back().at;
        const std::string key = last == 0 ? "" : path.key.substr(0, last - 1);
        Node* group = groups.find(key);
        if (!group) {
            groups.entries.push_back({key, path.mark, mapping_at(path.mark)});
            group = &groups.entries.back().value;
        }
        group->entries.push_back({parts.empty() ? path.key : parts.back().key, path.mark, path.value});
    }
    return groups;
}

/// An assignment, split into its path and its value.
struct Assigned {
    std::vector<std::string> keys;  ///< the path
    Mark mark;                      ///< of the last one
    Node value;

    std::string path(std::size_t from = 0) const {
        std::string text;
        for (std::size_t i = from; i < keys.size(); ++i) text += (i == from ? "" : ".") + path_part(keys[i]);
        return text;
    }
};

/// Splits `change`, which parse_assignment() has made of `text`: nested mappings with one key for each part of the
/// path.
Assigned assigned(const std::string& text, const Node& change) {
    Assigned result{{}, change.mark, change};
    const std::size_t depth = parse_path(text.substr(0, end_of_path(text))).parts.size();
    for (std::size_t i = 0; i < depth; ++i) {
        const Entry inner = result.value.entries.front();
        result.keys.push_back(inner.key);
        result.mark = inner.mark;
        result.value = inner.value;
    }
    return result;
}

class Loader {
public:
    explicit Loader(Study::Parts& parts) : parts_(parts), assembly_(parts.assembly) {}

    void load(const std::string& path, const std::vector<std::string>& assignments) {
        open(path);
        for (const std::string& text : assignments) assembly_.attempt([&] { assign(text); });
        read_keys(path);
        parts_.base = take_apart(assembly_, std::move(base_));
        assembly_.finish();
        read_axes();
        for (const Other& other : others_) apply(other);
        parts_.draw_marks.clear();
        for (const auto& [key, distribution] : parts_.file.draw) parts_.draw_marks.push_back(place_of_draw(key));
        check_keys();
        assembly_.finish();
        count_points();
        make_changes();
        assembly_.finish();
        list();
    }

private:
    /// A `--set` of a scenario's key.
    struct Other {
        Assigned what;
        Node change;
    };

    void open(const std::string& path) {
        Node file = assembly_.library.load_argument(path);
        if (!is_study(file)) {
            study_ = mapping_at(file.mark);
            if (const Node* name = file.find("name")) study_.entries.push_back({"name", name->mark, *name});
            study_.entries.push_back({"base", file.mark, mapping_at(file.mark)});
            base_ = std::move(file);
        } else {
            study_ = std::move(file);
            if (Node* base = study_.find("base")) {
                assembly_.attempt([&] { assembly_.library.expand(*base, {"scenario", "measured"}); });
                assembly_.finish();  // what follows would only complain about the unread name
                base_ = *base;
            }
            if (const Node* axes = study_.find("axes")) axes_ = flattened(*axes);
            if (const Node* draws = study_.find("draw")) draws_ = flattened(*draws);
        }
        assembly_.attempt([&] { split_paths(base_); });
    }

    void assign(const std::string& text) {
        Node change = parse_assignment(assembly_.library, text);
        const Entry first = change.entries.front();
        const Assigned what = assigned(text, change);
        if (first.key == "axes") return change_paths(axes_, below(what));
        if (first.key == "draw") return change_paths(draws_, below(what));
        if (first.key == "base") {
            Node base = first.value;
            assembly_.library.expand(base, {"scenario", "measured"});
            drop_alternatives(base_, base);
            return merge(base_, base);
        }
        if (first.key == "variants" || first.key == "expect" || first.key == "measured" || first.key == "knobs")
            return merge(base_, change);
        if (contains(study_keys, first.key)) return merge(study_, change);
        others_.push_back({what, std::move(change)});
    }

    /// Returns what is set in the mapping that is the path's first key, by path.
    static std::vector<Entry> below(const Assigned& what) {
        if (what.keys.size() == 1) return flattened(what.value);
        Node paths = mapping_at(what.mark);
        paths.entries.push_back({what.path(1), what.mark, what.value});
        return flattened(paths);
    }

    void read_keys(const std::string& path) {
        parts_.file.name = std::filesystem::path(path).stem().string();
        // The draws as changed by assignments. A value that is not a mapping stays, and reading it reports an error.
        if (const Node* draws = study_.find("draw"); !draws_.empty() && (!draws || !draws->entries.empty())) {
            const Mark mark = draws_.front().mark;
            take(study_, "draw");
            study_.entries.push_back({"draw", mark, grouped(mark, draws_)});
        }
        assembly_.read(study_, "study", [&](Fields& fields) { describe(fields, parts_.file); });
        if (!assembly_.sound()) return;
        parts_.include = conditions(study_, "include");
        parts_.exclude = conditions(study_, "exclude");
        const Node* question = study_.find("question");
        if (!question) return;
        parts_.file.question.constraints = conditions(*question, "constraints");
        const Node* cheaper = question->find("cheaper");
        if (!cheaper) return;
        for (const Node& setting : cheaper->items) {
            std::vector<std::string>& texts = parts_.file.question.cheaper.emplace_back();
            for (const Entry& entry : flattened(setting)) {
                check_axis(assembly_, entry.key, entry.mark);
                texts.push_back(entry.key + "=" + flow_text(entry.value));
            }
        }
    }

    static std::vector<Condition> conditions(const Node& mapping, const char* key) {
        std::vector<Condition> result;
        if (const Node* list = mapping.find(key))
            for (const Node& item : list->items) result.push_back({item.scalar, locate(item.mark)});
        return result;
    }

    void read_axes() {
        const auto column = [&](const Entry& entry) {
            return read_axis(assembly_, entry.key, entry.mark, entry.value);
        };
        for (const Entry& entry : axes_) parts_.axes.push_back({{column(entry)}, {}});
        if (const Node* zip = study_.find("zip")) {
            for (const Node& item : zip->items) {
                JoinedAxis joined;
                for (const Entry& entry : flattened(item)) joined.columns.push_back(column(entry));
                if (joined.columns.empty())
                    assembly_.report(item.mark, "this item has no axes",
                                     "write for example {training.ranks: [4, 8], ...}");
                else
                    parts_.axes.push_back(std::move(joined));
            }
        }
        if (!parts_.base.has_variants || find(variant_key)) return;
        AxisColumn variants{variant_key, parts_.base.variants.front().mark, {}, {}};
        for (const Entry& entry : parts_.base.variants) {
            variants.values.push_back(scalar_at(entry.mark, entry.key));
            variants.texts.push_back(entry.key);
        }
        parts_.axes.insert(parts_.axes.begin(), {{std::move(variants)}, {}});
    }

    const AxisColumn* find(const std::string& key) const {
        for (const JoinedAxis& axis : parts_.axes)
            for (const AxisColumn& column : axis.columns)
                if (column.key == key) return &column;
        return nullptr;
    }

    /// Applies an assignment: it replaces an axis or a draw, or changes every point.
    void apply(const Other& other) {
        const Mark mark = other.change.mark;
        const std::string key = other.what.path();
        std::erase_if(parts_.file.draw, [&](const auto& draw) { return draw.first == key; });
        if (find(key) || key == variant_key) return replace_axis(read_axis(assembly_, key, mark, other.what.value));
        check_axis(assembly_, key, mark);
        for (const auto& [varied, place] : all_keys())
            if (lies_in(varied, key))
                assembly_.report(mark, fmt::format("'{}' would hide '{}', which the study varies", key, varied),
                                 fmt::format("set '{}'", varied));
        parts_.last.push_back(other.change);
    }

    void replace_axis(AxisColumn column) {
        for (std::size_t i = 0; i < parts_.axes.size(); ++i) {
            std::vector<AxisColumn>& columns = parts_.axes[i].columns;
            if (std::erase_if(columns, [&](const AxisColumn& old) { return old.key == column.key; }) == 0) continue;
            const auto at = parts_.axes.begin() + static_cast<std::ptrdiff_t>(i);
            if (columns.empty())
                columns.push_back(std::move(column));
            else
                parts_.axes.insert(at, {{std::move(column)}, {}});
            return;
        }
        parts_.axes.insert(parts_.axes.begin(), {{std::move(column)}, {}});
    }

    Mark place_of_draw(const std::string& key) const {
        for (const Entry& entry : study_.find("draw")->entries)
            if (entry.key == key) return entry.mark;
        return {};
    }

    /// Returns the keys of axes and draws, and where they are written.
    std::vector<std::pair<std::string, Mark>> all_keys() const {
        std::vector<std::pair<std::string, Mark>> keys;
        for (const JoinedAxis& axis : parts_.axes)
            for (const AxisColumn& column : axis.columns) keys.emplace_back(column.key, column.mark);
        for (std::size_t i = 0; i < parts_.file.draw.size() && i < parts_.draw_marks.size(); ++i)
            keys.emplace_back(parts_.file.draw[i].first, parts_.draw_marks[i]);
        return keys;
    }

    void check_keys() {
        const auto keys = all_keys();
        if (keys.size() > most_varied)
            return assembly_.report(keys[most_varied].second,
                                    fmt::format("the study varies more than {} keys", most_varied), "");
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const auto& [key, mark] = keys[i];
            if (key != variant_key) check_axis(assembly_, key, mark);
            for (std::size_t j = 0; j < i; ++j) {
                const auto& [other, place] = keys[j];
                const std::string hint =
                    fmt::format("the other one is in line {} of {}", place.line, place.source->name);
                if (key == other)
                    assembly_.report(mark, fmt::format("the study varies '{}' twice", key), hint);
                else if (lies_in(key, other) || lies_in(other, key))
                    assembly_.report(mark, fmt::format("'{}' and '{}' overlap: one contains the other", key, other),
                                     hint);
            }
        }
        for (const JoinedAxis& axis : parts_.axes) check_values(axis);
        if (const AxisColumn* variants = find(variant_key)) {
            std::vector<std::string> names;
            if (parts_.base.has_variants)
                for (const Entry& entry : parts_.base.variants) names.push_back(entry.key);
            check_variants(assembly_, *variants, names);
        }
    }

    void check_values(const JoinedAxis& axis) {
        const AxisColumn& first = axis.columns.front();
        for (const AxisColumn& column : axis.columns)
            if (column.values.size() != first.values.size())
                return assembly_.report(column.mark,
                                        fmt::format("'{}' has {} values, but '{}' has {}", column.key,
                                                    column.values.size(), first.key, first.values.size()),
                                        "axes of one 'zip' item must have equally many values");
        std::set<std::vector<std::string>> known;
        for (std::size_t value = 0; value < axis.size(); ++value) {
            std::vector<std::string> texts;
            for (const AxisColumn& column : axis.columns) texts.push_back(column.texts[value]);
            if (!known.insert(texts).second)
                assembly_.report(first.values[value].mark, fmt::format("'{}' is listed twice", fmt::join(texts, ", ")),
                                 "");
        }
    }

    void count_points() {
        auto points = static_cast<double>(parts_.file.repeat);
        for (const JoinedAxis& axis : parts_.axes) points *= static_cast<double>(axis.size());
        if (points > static_cast<double>(most_points))
            assembly_.report(study_.mark, fmt::format("this study has {:.0f} points", points),
                             fmt::format("the maximum is {}", most_points));
        assembly_.finish();
    }

    void make_changes() {
        for (JoinedAxis& axis : parts_.axes) {
            axis.changes.resize(axis.size());
            for (const AxisColumn& column : axis.columns) {
                if (column.key == variant_key) continue;
                for (std::size_t value = 0; value < axis.size(); ++value)
                    assembly_.attempt([&] {
                        axis.changes[value].push_back(document_of(column.key, column.mark, column.values[value]));
                    });
            }
        }
        for (const auto& drawn : parts_.file.draw)
            assembly_.attempt([&] { document_of(drawn.first, place_of_draw(drawn.first), {}); });
    }

    /// Lists axes and keys as users see them.
    void list() {
        for (const JoinedAxis& axis : parts_.axes) {
            Axis& shown = parts_.shown_axes.emplace_back();
            for (const AxisColumn& column : axis.columns) {
                shown.keys.push_back(column.key);
                parts_.keys.push_back(column.key);
            }
            for (std::size_t value = 0; value < axis.size(); ++value) {
                std::vector<std::string>& texts = shown.values.emplace_back();
                for (const AxisColumn& column : axis.columns) texts.push_back(column.texts[value]);
            }
        }
        const bool sweeps = some_document(gives_sweep), grids = some_document(gives_open_grid);
        parts_.open = sweeps || grids;
        if (sweeps && !find(sizes_key)) parts_.keys.push_back(sizes_key);
        if (grids && !find(grids_key)) parts_.keys.push_back(grids_key);
        for (const auto& [key, distribution] : parts_.file.draw) parts_.keys.push_back(key);
    }

    template <class Gives>
    bool some_document(const Gives& gives) const {
        const auto some = [&](const std::vector<Node>& nodes) {
            return std::any_of(nodes.begin(), nodes.end(), gives);
        };
        return gives(parts_.base.base) || some(parts_.last) ||
               std::any_of(parts_.base.variants.begin(), parts_.base.variants.end(),
                           [&](const Entry& entry) { return gives(entry.value); }) ||
               std::any_of(parts_.axes.begin(), parts_.axes.end(), [&](const JoinedAxis& axis) {
                   return std::any_of(axis.changes.begin(), axis.changes.end(), some);
               });
    }

    static inline const std::vector<std::string> study_keys{"name",    "description", "zip",  "include",
                                                            "exclude", "repeat",      "seed", "question"};

    Study::Parts& parts_;
    Assembly& assembly_;
    Node study_, base_;                ///< the study's own keys; the base before take_apart()
    std::vector<Entry> axes_, draws_;  ///< by path
    std::vector<Other> others_;
};

}  // namespace

std::unique_ptr<Study::Parts> load_study(const std::string& path, const std::vector<std::string>& assignments) {
    auto parts = std::make_unique<Study::Parts>();
    Loader(*parts).load(path, assignments);
    return parts;
}

}  // namespace syncline::config
