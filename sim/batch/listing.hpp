#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/batch/studies.hpp"
#include "sim/batch/table.hpp"

/// What people are told of a batch's points.
namespace syncline::batch {

/// Before anything runs: a row for each point that is `shard`'s, with study, number, settings, repetition, seed,
/// run_id, and status: what the store in `directory`, if there is one, has of the run; `misfit` of what does not fit.
/// Where some do not fit, also the message that says why.
Rows list_points(const std::vector<PlannedStudy>& studies, const Shard& shard, const std::filesystem::path& directory);

struct Failure {
    std::int64_t point = 0;
    std::string settings;  ///< "ranks=4, variant=ring"
    std::string message;
};

/// The first `most` points of the study that failed.
std::vector<Failure> first_failures(Store& store, const std::string& study, std::size_t most);

}  // namespace syncline::batch
