#include "sim/store/shard.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "sim/base/diagnostics.hpp"
#include "sim/base/number.hpp"

namespace syncline::batch {

namespace {

/// Returns an environment variable of Slurm, or `otherwise` if it is not set.
std::int64_t variable(const char* name, std::int64_t otherwise) {
    const char* text = std::getenv(name);
    if (text == nullptr) return otherwise;
    if (const auto number = number_in<std::int64_t>(text)) return *number;
    throw ConfigError(
        {{{name, 1, 1, text}, fmt::format("{} is not a whole number", name), "write `--shard 1/1` to ignore Slurm"}});
}

}  // namespace

std::string Shard::directory() const {
    return fmt::format("shard-{}-of-{}", index, count);
}

std::optional<Shard> parse_shard(const std::string& text) {
    const std::string_view all = text;
    const std::size_t slash = all.find('/');
    if (slash == std::string_view::npos) return {};
    const auto index = number_in<std::int64_t>(all.substr(0, slash)),
               count = number_in<std::int64_t>(all.substr(slash + 1));
    if (!index || !count || *index < 1 || *index > *count) return {};
    return Shard{*index, *count};
}

std::optional<Shard> slurm_shard() {
    const char* task = std::getenv("SLURM_ARRAY_TASK_ID");
    if (task == nullptr) return {};
    const std::int64_t first = variable("SLURM_ARRAY_TASK_MIN", 0), step = variable("SLURM_ARRAY_TASK_STEP", 1);
    const std::int64_t id = variable("SLURM_ARRAY_TASK_ID", 0), count = variable("SLURM_ARRAY_TASK_COUNT", 0);
    const bool regular = step > 0 && id >= first && (id - first) % step == 0 && (id - first) / step < count;
    if (!regular)
        throw ConfigError({{{"SLURM_ARRAY_TASK_ID", 1, 1, task},
                            fmt::format("task {} of an array of {} from {} is not a shard", id, count, first),
                            "submit it with a plain range, `sbatch --array=0-3`, or write `--shard i/n`"}});
    return Shard{(id - first) / step + 1, count};
}

}  // namespace syncline::batch
