#include "sim/config/noise.hpp"

#include <fmt/format.h>

#include "sim/config/exchange.hpp"

namespace syncline::config {

namespace {

/// A larger coefficient of variation is no longer jitter, and usually a forgotten '%'.
constexpr double most_jitter = 1;

void describe(Fields& fields, Stragglers& stragglers) {
    fields.count_or_list({"ranks", "Number of stragglers, drawn with the seed (see --seed), or a list of ranks.", true},
                         stragglers.count, stragglers.ranks, largest_group);
    fields.number({"slowdown", "Factor by which their computation takes longer: `1.5`.", true}, stragglers.slowdown,
                  1e-3, 1e3);
}

}  // namespace

void describe_noise(Fields& training, Noise& noise) {
    bool percent = false;
    training.number_or_percent(
        {"jitter",
         "Variation of each rank's computation time: a lognormal factor of mean 1 and this coefficient of variation, "
         "drawn anew in every iteration (see --seed): `5 %`. Default: none."},
        noise.jitter, percent, 0, 100 * most_jitter, "none");
    if (percent) noise.jitter /= 100;
    if (noise.jitter > most_jitter)
        training.reject("jitter", fmt::format("'jitter' is {}, which is above 100 %", noise.jitter),
                        fmt::format("write `{} %`, or {}", noise.jitter, noise.jitter / 100));
    training.section(
        {"stragglers", "Ranks that compute more slowly all the time."},
        [&](Fields& inner) { describe(inner, noise.stragglers); }, "none");
}

}  // namespace syncline::config
