#pragma once

#include <CLI/CLI.hpp>

#include "sim/batch/batch.hpp"

namespace syncline::cli {

/// The option `--jobs N`.
void add_jobs(CLI::App& verb, std::size_t& jobs);

/// The options `--jobs N`, `--timeout TIME` and `--retry-failed`, of verbs that run batches.
void add_batch_options(CLI::App& verb, batch::BatchOptions& options);

}  // namespace syncline::cli
