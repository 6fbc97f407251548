#pragma once

#include <string>

#include "sim/output/json_text.hpp"
#include "sim/plan/plan.hpp"

/// Texts about how a model is split between ranks, for result writers.
namespace syncline {

/// Returns the number of replicas of a layer with this layout, within its stage.
std::int64_t columns(const Parallelism& parallelism, const Layout& layout, std::int64_t ranks);

// The names of the keys' values in files, with what `auto` stands for; empty where the key changes nothing: without
// stages, if no updates are divided, with one microbatch, or with several device queues.
std::string schedule_of(const Parallelism& parallelism);
std::string transfers_of(const Parallelism& parallelism);
std::string gathering_of(const Parallelism& parallelism);
std::string gradient_sync_of(const Parallelism& parallelism);
std::string device_queues_of(const Parallelism& parallelism);
const char* name_of(Sharding sharding);
const char* name_of(ContextExchange exchange);

/// Returns a list of {"first", "last", "rows", "columns", "height", "width"}: the layers with a different layout.
Json ranges_of(const Parallelism& parallelism, std::int64_t ranks);

namespace text {

/// Returns the same as "fc6..fc8 32x16; conv1 8x64": rows x columns, followed by height x width of the image partition
/// if images are split: "8x32x2x2".
std::string ranges(const Parallelism& parallelism, std::int64_t ranks);

/// Returns "pipeline 16, model 8, data 8" or "data 512; fc6..fc8 model 32, data 16". Dimensions of size 1 are left out.
std::string split(const Parallelism& parallelism, std::int64_t ranks);

}  // namespace text

}  // namespace syncline
