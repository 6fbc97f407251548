#pragma once

#include <string>

#include "sim/output/json_text.hpp"
#include "sim/training/plan.hpp"

/// Texts about how a model is split between ranks, for result writers.
namespace syncline {

/// Returns {"rows", "columns", "height", "width", "stages", "micro_batches", "schedule", "chunks", "sharding",
/// "sequence", "ranges"} of one stage: `columns` is the number of its replicas. `schedule` is null without stages.
/// `ranges`: {"first", "last", "rows", "columns", "height", "width"} of layers with a different layout.
Json to_json(const Parallelism& parallelism, std::int64_t ranks);

namespace text {

/// The same fields as CSV columns with the prefix `parallelism_`, separated by commas: names and values. All ranges are
/// one field: "fc6..fc8 32x16; conv1 8x64", as rows x columns, followed by height x width of the image partition if
/// images are split: "8x32x2x2".
extern const char* const parallelism_columns;
std::string parallelism_fields(const Parallelism& parallelism, std::int64_t ranks);

/// Returns "pipeline 16, model 8, data 8" or "data 512; fc6..fc8 model 32, data 16". Dimensions of size 1 are left out.
std::string split(const Parallelism& parallelism, std::int64_t ranks);

}  // namespace text

}  // namespace syncline
