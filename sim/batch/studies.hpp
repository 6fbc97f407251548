#pragma once

#include <string>
#include <vector>

#include "sim/batch/shard.hpp"
#include "sim/batch/store.hpp"
#include "sim/config/study.hpp"

/// The studies that a command line names, with the points that they want.
namespace syncline::batch {

struct PlannedStudy {
    std::string path;
    config::Study study;
    std::vector<config::StudyPoint> points;  ///< of all shards
};

/// The points of `study` for which its conditions hold, `changes` applied after all others. Throws ConfigError, at a
/// condition that is none.
std::vector<config::StudyPoint> points_of(const config::Study& study, const std::vector<std::string>& changes = {});

/// Reads studies and scenarios; of a directory, its *.yaml that are one, by name, with a note on the others. Throws
/// ConfigError, also where two are called the same or one has no points.
std::vector<PlannedStudy> read_studies(const std::vector<std::string>& paths,
                                       const std::vector<std::string>& assignments, const config::Inspect& inspect);

/// Throws ConfigError if there are points that do not fit, once it has said why and which.
void require_fit(const std::vector<PlannedStudy>& studies);

/// Notes in `store` the points of the study that are `shard`'s.
void add_points(Store& store, const PlannedStudy& planned, const Shard& shard);

/// "training.ranks=4, variant=ring"
std::string shown(const std::vector<config::Setting>& settings);

}  // namespace syncline::batch
