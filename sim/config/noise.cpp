#include "sim/config/noise.hpp"

#include <fmt/format.h>

#include <set>

#include "sim/config/exchange.hpp"

namespace syncline::config {

namespace {

/// A larger coefficient of variation is no longer jitter, and usually a forgotten '%'.
constexpr double most_jitter = 1;

void describe(Fields& fields, std::optional<std::int64_t> ranks, Stragglers& stragglers) {
    fields.count_or_list({"ranks", "Number of stragglers, drawn with the seed (see --seed), or a list of ranks.", true},
                         stragglers.count, stragglers.ranks, largest_group);
    fields.number({"slowdown", "Factor by which their computation takes longer: `1.5`.", true}, stragglers.slowdown,
                  1e-3, 1e3);
    if (!ranks || !fields.sound()) return;
    if (stragglers.count > *ranks)
        fields.reject("ranks", fmt::format("{} stragglers exceed the number of ranks", stragglers.count),
                      fmt::format("there are {}", *ranks));
    std::set<std::int64_t> seen;
    for (const std::int64_t rank : stragglers.ranks) {
        if (rank >= *ranks)
            return fields.reject("ranks", fmt::format("there is no rank {}", rank),
                                 fmt::format("there are {}: 0 to {}", *ranks, *ranks - 1));
        if (!seen.insert(rank).second) return fields.reject("ranks", fmt::format("rank {} is listed twice", rank), "");
    }
}

}  // namespace

void describe_noise(Fields& training, std::optional<std::int64_t> ranks, Noise& noise) {
    bool percent = false;
    training.number_or_percent(
        {"jitter",
         "Variation of each rank's computation time: a lognormal factor of mean 1 and this coefficient of variation, "
         "drawn anew in every iteration (see --seed): `5 %`."},
        noise.jitter, percent, 0, 100 * most_jitter, "none");
    if (percent) noise.jitter /= 100;
    if (noise.jitter > most_jitter)
        training.reject("jitter", fmt::format("'jitter' is {}, which is above 100 %", noise.jitter),
                        fmt::format("write `{} %`, or {}", noise.jitter, noise.jitter / 100));
    training.section(
        {"stragglers", "Ranks that compute more slowly all the time."},
        [&](Fields& inner) { describe(inner, ranks, noise.stragglers); }, "none");
}

}  // namespace syncline::config
