#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/document/fields.hpp"
#include "sim/study/distribution.hpp"
#include "sim/study/study.hpp"

namespace syncline::config {

/// The content of a study's file, except its base and its axes, whose keys are those of a scenario.
struct StudyFile {
    std::string name;
    std::vector<std::string> include, exclude;
    std::int64_t repeat = 1, seed = 1;
    std::vector<std::pair<std::string, Distribution>> draw;  ///< by key, in the order written
    Question question;  ///< constraints without their places, and without cheaper settings
};

void describe(Fields& fields, StudyFile& study);

/// Returns whether the document has keys that only a study has.
bool is_study(const Node& document);

}  // namespace syncline::config
