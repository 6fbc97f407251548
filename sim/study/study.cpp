#include "sim/study/study.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "sim/config/jobs_keys.hpp"
#include "sim/config/variant.hpp"
#include "sim/study/study_parts.hpp"

namespace syncline::config {

namespace {

/// One way to settle what a point leaves open: its size or its grid.
struct Combination {
    std::vector<Setting> settings;
    std::function<void(Assembly&, Node&)> apply = [](Assembly&, Node&) {};
};

/// The result of reading a document.
struct Reading {
    std::optional<Variant> variant;
    GridChoices grids;
    Resolved resolved;
    std::optional<ConfigError> error;
};

void set(std::vector<Setting>& settings, const Setting& setting) {
    for (Setting& other : settings)
        if (other.key == setting.key) {
            other.value = setting.value;
            return;
        }
    settings.push_back(setting);
}

std::vector<Combination> choices_of(const Reading& reading, const Node& document) {
    std::vector<Combination> choices;
    if (!reading.variant) return {{}};
    if (reading.variant->collective) {
        const Mark mark = document.find("collective")->mark;
        for (const std::uint64_t bytes : reading.variant->collective->sweep) {
            const std::string text = fmt::format("{} B", bytes);
            choices.push_back({{{sizes_key, text}}, [mark, text](Assembly& assembly, Node& point) {
                                   change(assembly, point, document_of(sizes_key, mark, scalar_at(mark, text)));
                               }});
        }
    }
    for (const GridChoice& grid : reading.grids.fitting) {
        const std::int64_t rows = grid.rows;
        const bool sequence = grid.lowered->plan.parallelism.sequence;
        choices.push_back({{{grids_key, std::to_string(rows)}},
                           [rows, sequence](Assembly&, Node& point) { set_grid(point, rows, sequence); }});
    }
    if (choices.empty()) choices.push_back({});
    return choices;
}

}  // namespace

/// Goes through all points once.
class Walk {
public:
    Walk(Study::Parts& parts, std::vector<Node> changes) : parts_(parts), last_(parts.last) {
        for (Node& change : changes) last_.push_back(std::move(change));
    }

    /// Calls `visit` for each wanted point, until it returns false.
    template <class Visit>
    void each(const Study::Wanted& wanted, const Visit& visit) {
        StudyPoint point;
        for (at_.assign(parts_.axes.size(), 0);;) {
            for (const Combination& choice : choices()) {
                std::optional<Reading> reading;
                ++point.combination;
                for (point.repeat = 1; point.repeat <= parts_.file.repeat; ++point.repeat) {
                    point.seed = static_cast<std::uint64_t>(parts_.file.seed + point.repeat - 1);
                    point.settings = settings(choice, point.seed);
                    if (wanted && !wanted(point.settings)) continue;
                    // Repetitions differ only by what is drawn.
                    if (!reading || !parts_.file.draw.empty()) {
                        Node document = put_together(point.seed);
                        choice.apply(parts_.assembly, document);
                        reading = read(document);
                    }
                    ++point.number;
                    point.resolved = reading->resolved;
                    point.misfit = reading->error ? reading->error->what() : "";
                    if (!visit(point, *reading)) return;
                }
            }
            if (!next()) return;
        }
    }

private:
    /// Advances to the next combination of values; returns false after the last one.
    bool next() {
        for (std::size_t axis = at_.size(); axis-- > 0;) {
            if (++at_[axis] < parts_.axes[axis].size()) return true;
            at_[axis] = 0;
        }
        return false;
    }

    const Entry& variant() const {
        for (std::size_t axis = 0; axis < at_.size(); ++axis)
            for (const AxisColumn& column : parts_.axes[axis].columns)
                if (column.key == variant_key)
                    for (const Entry& entry : parts_.base.variants)
                        if (entry.key == column.values[at_[axis]].scalar) return entry;
        return parts_.base.variants.front();
    }

    Node put_together(std::uint64_t seed) {
        Node document = parts_.base.base;
        const auto apply = [&](const Node& changes) { change(parts_.assembly, document, changes); };
        apply(variant().value);
        for (std::size_t axis = 0; axis < at_.size(); ++axis)
            for (const Node& changes : parts_.axes[axis].changes[at_[axis]]) apply(changes);
        for (std::size_t i = 0; i < parts_.file.draw.size(); ++i) {
            const auto& [key, distribution] = parts_.file.draw[i];
            const Mark& mark = parts_.draw_marks[i];
            apply(document_of(key, mark, scalar_at(mark, distribution.draw(seed, key))));
        }
        for (const Node& changes : last_) apply(changes);
        expand_jobs(parts_.assembly, document);
        return document;
    }

    Reading read(const Node& document) {
        Reading reading;
        std::string unnamed;
        reading.variant =
            read_variant(parts_.assembly, document, variant().key, unnamed, reading.grids, parts_.inspect);
        refuse_open(parts_.assembly, document, *reading.variant);
        reading.resolved = resolve(document, parts_.assembly.other_files());
        try {
            parts_.assembly.finish();
        } catch (const ConfigError& error) {
            reading.error = error;
            reading.variant.reset();
        }
        return reading;
    }

    std::vector<Combination> choices() {
        if (!parts_.open) return {{}};
        const Node document = put_together(static_cast<std::uint64_t>(parts_.file.seed));
        return choices_of(read(document), document);
    }

    std::vector<Setting> settings(const Combination& choice, std::uint64_t seed) const {
        std::vector<Setting> settings;
        for (std::size_t axis = 0; axis < at_.size(); ++axis)
            for (const AxisColumn& column : parts_.axes[axis].columns)
                settings.push_back({column.key, column.texts[at_[axis]]});
        for (const Setting& setting : choice.settings) set(settings, setting);
        for (const auto& [key, distribution] : parts_.file.draw)
            settings.push_back({key, distribution.draw(seed, key)});
        return settings;
    }

    Study::Parts& parts_;
    std::vector<Node> last_;
    std::vector<std::size_t> at_;  ///< index of the current value of each axis
};

Study::Study(const std::string& path, const std::vector<std::string>& assignments, const Inspect& inspect)
    : parts_(load_study(path, assignments)) {
    parts_->inspect = inspect;
}
Study::~Study() = default;
Study::Study(Study&&) noexcept = default;

const std::string& Study::name() const {
    return parts_->file.name;
}
const std::vector<Axis>& Study::axes() const {
    return parts_->shown_axes;
}
const std::vector<Condition>& Study::include() const {
    return parts_->include;
}
const std::vector<Condition>& Study::exclude() const {
    return parts_->exclude;
}
std::int64_t Study::repeats() const {
    return parts_->file.repeat;
}
const Question& Study::question() const {
    return parts_->file.question;
}
const std::vector<std::string>& Study::keys() const {
    return parts_->keys;
}

void Study::check() const {
    std::optional<ConfigError> first;
    bool fits = false;
    Walk(*parts_, {}).each({}, [&](const StudyPoint&, const Reading& reading) {
        fits = reading.variant.has_value();
        if (!fits && !first) first = reading.error;
        return !fits;
    });
    if (!fits && first) throw ConfigError(*first);
}

void Study::each(const Wanted& wanted, const Visit& visit, const std::vector<std::string>& changes) const {
    std::vector<Node> parsed;
    for (const std::string& text : changes)
        parts_->assembly.attempt([&] { parsed.push_back(parse_assignment(parts_->assembly.library, text)); });
    parts_->assembly.finish();
    Walk(*parts_, std::move(parsed)).each(wanted, [&](const StudyPoint& point, const Reading& reading) {
        visit(point, reading.variant ? &*reading.variant : nullptr);
        return true;
    });
}

}  // namespace syncline::config
