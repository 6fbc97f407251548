#include "sim/explore/plans.hpp"

#include "sim/query/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace syncline::batch {

namespace {

/// Keeps the settings that are in both.
void keep_common(std::vector<config::Setting>& settings, const std::vector<config::Setting>& others) {
    const auto differs = [&](const config::Setting& one) {
        return std::none_of(others.begin(), others.end(), [&](const config::Setting& other) {
            return other.key == one.key && other.value == one.value;
        });
    };
    settings.erase(std::remove_if(settings.begin(), settings.end(), differs), settings.end());
}

/// Returns the keys of each axis, joined ones together; then other keys of settings: sizes, grids.
std::vector<std::vector<std::string>> groups_of(const config::Study& study) {
    std::vector<std::vector<std::string>> groups;
    std::set<std::string> known;
    for (const config::Axis& axis : study.axes()) {
        groups.push_back(axis.keys);
        known.insert(axis.keys.begin(), axis.keys.end());
    }
    for (const std::string& key : study.keys())
        if (known.insert(key).second) groups.push_back({key});
    return groups;
}

}  // namespace

bool Candidate::fits() const {
    return std::all_of(points.begin(), points.end(),
                       [](const config::StudyPoint* point) { return point->misfit.empty(); });
}

std::vector<Candidate> plans_of(const std::vector<config::StudyPoint>& points) {
    std::vector<Candidate> plans;
    for (const config::StudyPoint& point : points) {
        const bool repeats = !plans.empty() && point.combination == plans.back().points.back()->combination;
        if (!repeats) plans.push_back({point.settings, {}});
        keep_common(plans.back().settings, point.settings);
        plans.back().points.push_back(&point);
    }
    return plans;
}

std::vector<PlanAxis> axes_of(const config::Study& study, const std::vector<const Candidate*>& plans) {
    std::vector<PlanAxis> axes;
    for (const std::vector<std::string>& keys : groups_of(study)) {
        PlanAxis axis;
        std::vector<std::string> names;
        for (const std::string& key : keys) names.push_back(short_name(key, study.keys()));
        axis.name = fmt::format("{}", fmt::join(names, " + "));
        std::map<std::string, std::size_t> known;
        for (const Candidate* plan : plans) {
            std::vector<std::string> texts;
            for (const std::string& key : keys) texts.push_back(setting_of(*plan, key));
            const std::string value = fmt::format("{}", fmt::join(texts, " + "));
            const auto [at, is_new] = known.emplace(value, axis.values.size());
            if (is_new) axis.values.push_back(value);
            axis.value_of.push_back(at->second);
        }
        if (axis.values.size() > 1) axes.push_back(std::move(axis));
    }
    return axes;
}

std::string short_name(const std::string& key, const std::vector<std::string>& keys) {
    const std::string last = last_part(key);
    const auto same = [&](const std::string& other) { return last_part(other) == last; };
    return std::count_if(keys.begin(), keys.end(), same) > 1 ? key : last;
}

std::string setting_of(const Candidate& plan, const std::string& key) {
    for (const config::Setting& setting : plan.settings)
        if (setting.key == key) return setting.value;
    return "";
}

}  // namespace syncline::batch
