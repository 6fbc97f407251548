#pragma once

#include <string>
#include <vector>

#include "sim/document/document.hpp"

/// Jobs that were submitted to a cluster, as published logs list them.
///
/// A log is a CSV file (without line ends in quotes) whose first line names the columns. Read are `submit_time`,
/// `gpu_num`, and `end_time` - `start_time`, or without these `duration`: the columns of the logs of Helios (Q. Hu et
/// al., "Characterization and prediction of deep learning workloads in large-scale GPU datacenters", SC 2021) and Acme
/// (Q. Hu et al., "Characterization of large language model development in the datacenter", NSDI 2024), whose own
/// `duration` includes waiting in one of its files. Times are seconds, or dates such as `2020-04-01 12:30:00` or
/// `2023-03-01T12:30:00+08:00`. Left out: jobs without GPUs, and those that never ran; the log's placement, user and
/// state.
namespace syncline::config {

struct Submission {
    double submit_s = 0;  ///< since the first one
    std::string ranks;
    double duration_s = 0;
};

/// Returns the submissions in order of time. Throws ConfigError with places in the file, whose name is `path`.
std::vector<Submission> read_submissions(const std::string& path, const std::string& text);

}  // namespace syncline::config
