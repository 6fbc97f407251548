#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/config/study.hpp"

/// The points of a study as a person chooses between them: repetitions of one are one plan.
namespace syncline::batch {

struct Plan {
    std::vector<config::Setting> settings;          ///< without what each repetition draws anew
    std::vector<const config::StudyPoint*> points;  ///< its repetitions; of the study's points

    bool fits() const;
};

/// In the study's order.
std::vector<Plan> plans_of(const std::vector<config::StudyPoint>& points);

/// What one axis is in plans: keys that are varied together, and which of its values each plan has.
struct PlanAxis {
    std::string name;                   ///< "ranks", "topology + bandwidth"
    std::vector<std::string> values;    ///< as people read them
    std::vector<std::size_t> value_of;  ///< by plan
};

/// The axes of which these plans have more than one value.
std::vector<PlanAxis> axes_of(const config::Study& study, const std::vector<const Plan*>& plans);

/// A key as tables show it: its last part, where no other of `keys` has the same.
std::string short_name(const std::string& key, const std::vector<std::string>& keys);

/// Empty if the plan has no such setting.
std::string setting_of(const Plan& plan, const std::string& key);

}  // namespace syncline::batch
