#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/study/study.hpp"

/// Plans: the points of a study, each with all its repetitions. Users read of them as points.
namespace syncline::batch {

struct Candidate {
    std::vector<config::Setting> settings;          ///< without the settings that each repetition draws
    std::vector<const config::StudyPoint*> points;  ///< its repetitions among the study's points

    bool fits() const;
};

/// Returns the plans in the study's order.
std::vector<Candidate> plans_of(const std::vector<config::StudyPoint>& points);

/// One axis over plans: keys that vary together, and the value that each plan has.
struct PlanAxis {
    std::string name;                   ///< "ranks", "topology + bandwidth"
    std::vector<std::string> values;    ///< as shown to users
    std::vector<std::size_t> value_of;  ///< index of the value of each plan
};

/// Returns the axes of which these plans have more than one value.
std::vector<PlanAxis> axes_of(const config::Study& study, const std::vector<const Candidate*>& plans);

/// Returns a key as shown in tables: its last part, if no other of `keys` has the same.
std::string short_name(const std::string& key, const std::vector<std::string>& keys);

/// Returns the value of a setting; empty if the plan has no such setting.
std::string setting_of(const Candidate& plan, const std::string& key);

}  // namespace syncline::batch
