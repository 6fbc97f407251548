#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/config/assembly.hpp"
#include "sim/config/axis.hpp"
#include "sim/config/open_keys.hpp"
#include "sim/config/scenario_file.hpp"
#include "sim/document/override.hpp"
#include "sim/study/study_file.hpp"

namespace syncline::config {

inline constexpr const char* sizes_key = "collective.bytes";
inline constexpr const char* grids_key = "training.parallelism.model";

/// Keys that vary together, value by value.
struct JoinedAxis {
    std::vector<AxisColumn> columns;
    std::vector<std::vector<Node>>
        changes;  ///< [value]: changes to a variant's document, without the choice of a variant

    std::size_t size() const { return columns.front().values.size(); }
};

/// The content of a study's file, and the parts from which its points are assembled.
struct Study::Parts {
    Assembly assembly;
    Inspect inspect;
    StudyFile file;
    ScenarioFile base;
    std::vector<JoinedAxis> axes;
    std::vector<Mark> draw_marks;  ///< by StudyFile::draw
    std::vector<Node> last;        ///< `--set`, changes to every point
    bool open = false;             ///< some points may leave sizes or grids open

    std::vector<Axis> shown_axes;
    std::vector<Condition> include, exclude;
    std::vector<std::string> keys;
};

/// Reads a study's or a scenario's file. Throws ConfigError.
std::unique_ptr<Study::Parts> load_study(const std::string& path, const std::vector<std::string>& assignments);

}  // namespace syncline::config
