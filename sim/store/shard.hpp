#pragma once

#include <cstdint>
#include <optional>
#include <string>

/// A part of a study for one of several machines: of n shards, shard i has the points whose number, counted from 0
/// here, has the remainder i-1 when divided by n, so that long and short points mix.
namespace syncline::batch {

struct Shard {
    std::int64_t index = 1;  ///< from 1
    std::int64_t count = 1;

    bool has(std::int64_t point_number) const { return (point_number - 1) % count == index - 1; }
    bool whole() const { return count == 1; }
    /// Returns the directory of its store: `shard-2-of-4`.
    std::string directory() const;
};

/// Reads `2/4`; returns nothing if the text is not a shard.
std::optional<Shard> parse_shard(const std::string& text);

/// Returns the shard of a task of a Slurm array, from SLURM_ARRAY_TASK_ID, _MIN, _STEP and _COUNT; nothing outside of
/// an array. Throws ConfigError if these are inconsistent.
std::optional<Shard> slurm_shard();

}  // namespace syncline::batch
