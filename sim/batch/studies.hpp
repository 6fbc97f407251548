#pragma once

#include <string>
#include <vector>

#include "sim/store/shard.hpp"
#include "sim/store/store.hpp"
#include "sim/study/study.hpp"

/// The studies that a command line names, with their points.
namespace syncline::batch {

struct PlannedStudy {
    std::string path;
    config::Study study;
    std::vector<config::StudyPoint> points;  ///< the points of all shards
};

/// Returns the points of `study` that satisfy its conditions, with `changes` applied after all others. Throws
/// ConfigError at an invalid condition.
std::vector<config::StudyPoint> points_of(const config::Study& study, const std::vector<std::string>& changes = {});

/// Reads studies and scenarios; from a directory, all *.yaml that are one, by name, with a note on the others. Throws
/// ConfigError, also if two have the same name or one has no points.
std::vector<PlannedStudy> read_studies(const std::vector<std::string>& paths,
                                       const std::vector<std::string>& assignments, const config::Inspect& inspect);

/// Prints which points do not fit and why, and then throws ConfigError if there are any.
void require_fit(const std::vector<PlannedStudy>& studies);

/// Adds the study's points of `shard` to `store`.
void add_points(Store& store, const PlannedStudy& planned, const Shard& shard);

/// Returns "training.ranks=4, variant=ring".
std::string shown(const std::vector<config::Setting>& settings);

}  // namespace syncline::batch
