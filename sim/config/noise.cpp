#include "sim/config/noise.hpp"

#include <fmt/format.h>

#include <set>

#include "sim/config/exchange.hpp"

namespace syncline::config {

namespace {

/// Twice the mean is out of reach of what is called jitter; above that it is mostly a forgotten '%'.
constexpr double most_jitter = 1;

void describe(Fields& fields, std::optional<std::int64_t> ranks, Stragglers& stragglers) {
    fields.count_or_list({"ranks", "How many, drawn with the seed (see --seed), or a list of ranks.", true},
                         stragglers.count, stragglers.ranks, largest_group);
    fields.number({"slowdown", "How much longer they compute: `1.5`.", true}, stragglers.slowdown, 1e-3, 1e3);
    if (!ranks || !fields.sound()) return;
    if (stragglers.count > *ranks)
        fields.reject("ranks", fmt::format("{} stragglers are more than there are ranks", stragglers.count),
                      fmt::format("there are {}", *ranks));
    std::set<std::int64_t> seen;
    for (const std::int64_t rank : stragglers.ranks) {
        if (rank >= *ranks)
            return fields.reject("ranks", fmt::format("there is no rank {}", rank),
                                 fmt::format("there are {}: 0 to {}", *ranks, *ranks - 1));
        if (!seen.insert(rank).second) return fields.reject("ranks", fmt::format("rank {} stands twice", rank), "");
    }
}

}  // namespace

void describe_noise(Fields& training, std::optional<std::int64_t> ranks, Noise& noise) {
    bool percent = false;
    training.number_or_percent({"jitter",
                                "Each rank's computation takes a factor drawn anew in every iteration (see --seed): "
                                "lognormal, of mean 1 and this coefficient of variation: `5 %`. None by default."},
                               noise.jitter, percent, 0, 100 * most_jitter, "none");
    if (percent) noise.jitter /= 100;
    if (noise.jitter > most_jitter)
        training.reject("jitter", fmt::format("'jitter' is {}, which is above 100 %", noise.jitter),
                        fmt::format("write `{} %`, or {}", noise.jitter, noise.jitter / 100));
    training.section(
        {"stragglers", "Some ranks compute slower all the time."},
        [&](Fields& inner) { describe(inner, ranks, noise.stragglers); }, "none");
}

}  // namespace syncline::config
