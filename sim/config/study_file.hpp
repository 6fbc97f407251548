#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/distribution.hpp"
#include "sim/config/fields.hpp"
#include "sim/config/study.hpp"

namespace syncline::config {

/// What a study's file says, except of its base and its axes, whose keys are those of a scenario.
struct StudyFile {
    std::string name;
    std::vector<std::string> include, exclude;
    std::int64_t repeat = 1, seed = 1;
    std::vector<std::pair<std::string, Distribution>> draw;  ///< by key, in the order written
    Question question;  ///< constraints without their places, and no cheaper settings
};

void describe(Fields& fields, StudyFile& study);

/// Whether these are keys of a study, which a scenario has not.
bool is_study(const Node& document);

}  // namespace syncline::config
