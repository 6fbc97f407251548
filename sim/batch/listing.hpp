#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/batch/studies.hpp"
#include "sim/query/table.hpp"

/// Listings of a batch's points.
namespace syncline::batch {

/// Returns a row for each point of `shard` before anything runs: study, number, settings, repetition, seed, run_id, and
/// status, which is that of the run in the store in `directory`, if there is one, or `misfit` if the point does not
/// fit. If some points do not fit, a column has the reason.
Rows list_points(const std::vector<PlannedStudy>& studies, const Shard& shard, const std::filesystem::path& directory);

struct Failure {
    std::int64_t point = 0;
    std::string settings;  ///< "ranks=4, variant=ring"
    std::string message;
};

/// Returns the first failed points of the study, up to `most`.
std::vector<Failure> first_failures(Store& store, const std::string& study, std::size_t most);

}  // namespace syncline::batch
