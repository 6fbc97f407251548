#pragma once

#include <CLI/CLI.hpp>

#include "sim/batch/batch.hpp"

namespace syncline::cli {

/// Adds the option `--jobs N`.
CLI::Option* add_jobs(CLI::App& verb, std::size_t& jobs);

/// Adds the options `--jobs N`, `--timeout TIME`, `--retry-failed` and `--force` to a verb that runs batches.
void add_batch_options(CLI::App& verb, batch::BatchOptions& options);

}  // namespace syncline::cli
