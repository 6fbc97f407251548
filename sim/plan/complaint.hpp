#pragma once

#include <string>
#include <vector>

namespace syncline {

/// A reason why a plan cannot be carried out.
struct Complaint {
    /// The setting to blame: the path of its key within `training` or `collective`, `parallelism.pipeline.stages`.
    /// Items of a list count from 0.
    std::string key;
    std::string message, hint;
    std::string otherwise = {};  ///< blamed if `key` is not given: some settings can be written with two keys
};

using Complaints = std::vector<Complaint>;

}  // namespace syncline
