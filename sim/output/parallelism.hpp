#pragma once

#include <string>

#include "sim/output/json_text.hpp"
#include "sim/training/plan.hpp"

/// How a model was split between ranks, as the writers of results show it.
namespace syncline {

/// {"rows", "columns", "height", "width", "stages", "micro_batches", "schedule", "chunks", "sharding", "sequence",
/// "ranges"}, all of a stage: columns are how many replicas of it there are. `schedule` is null without stages.
/// `ranges`: {"first", "last", "rows", "columns", "height", "width"} of layers that are laid out in another way.
Json to_json(const Parallelism& parallelism, std::int64_t ranks);

namespace text {

/// Of CSV, the same fields with `parallelism_` before them: their names and their values, commas between them. All
/// ranges are one field: "fc6..fc8 32x16; conv1 8x64", as rows x columns, and with the parts of an image behind them
/// "8x32x2x2" where there are some.
extern const char* const parallelism_columns;
std::string parallelism_fields(const Parallelism& parallelism, std::int64_t ranks);

/// "pipeline 16, model 8, data 8"; "data 512; fc6..fc8 model 32, data 16". Ways that split into one part are left out.
std::string split(const Parallelism& parallelism, std::int64_t ranks);

}  // namespace text

}  // namespace syncline
