#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/output/cells.hpp"
#include "sim/validation/tables.hpp"

// Why predictions are off: what limits them.

namespace syncline::validation {

namespace {

/// Predicted rows with the same limit.
struct Limited {
    std::string by;
    std::vector<double> slower = {};
    double exposed = 0;  ///< sum of the shares
    std::size_t trainings = 0;

    double mean_slower() const {
        double sum = 0;
        for (const double one : slower) sum += one;
        return sum / static_cast<double>(slower.size());
    }
};

std::vector<Limited> limits_of(const Validation& one) {
    std::vector<Limited> all;
    for (std::size_t row = 0; row < one.measurements.rows.size(); ++row) {
        const std::optional<double> slower = one.slower(row);
        if (!slower || one.calibration.causes.empty()) continue;
        const Cause& cause = one.calibration.causes[row];
        if (cause.limited_by.empty()) continue;
        auto known =
            std::find_if(all.begin(), all.end(), [&](const Limited& other) { return other.by == cause.limited_by; });
        if (known == all.end()) known = all.insert(all.end(), Limited{cause.limited_by});
        known->slower.push_back(*slower);
        if (cause.exposed) known->exposed += *cause.exposed;
        if (cause.exposed) ++known->trainings;
    }
    return all;
}

/// Returns what has this effect if it takes longer than predicted, and shorter.
struct Meaning {
    std::string longer, shorter;
};

Meaning meaning_of(const std::string& limit) {
    const auto is = [&](std::initializer_list<const char*> words) {
        return std::any_of(words.begin(), words.end(), [&](const char* word) { return limit == word; });
    };
    if (is({"matrix products", "memory bandwidth", "computation"}))
        return {"the device computes more slowly than its rates say", "the device computes faster than its rates say"};
    if (is({"launches"}))
        return {"the host launches kernels more slowly than the device's `host_launch` says",
                "the host launches kernels faster than the device's `host_launch` says"};
    if (is({"latency"}) || limit.ends_with(" and latency"))
        return {"start-up and latencies are longer than the transport and its selection say",
                "start-up and latencies are shorter than the transport and its selection say"};
    if (is({"bubble", "waiting"})) return {"ranks wait longer for one another", "ranks wait less for one another"};
    if (is({"reductions", "copies"})) return {"the host adds or copies more slowly", "the host adds or copies faster"};
    return {"these links carry less than the platform and its transport say",
            "these links carry more than the platform and its transport say"};
}

}  // namespace

std::string causes_table(const Validation& one, const text::TableLayout& layout) {
    constexpr double as_predicted = 0.05;
    constexpr double all = 100;
    const std::vector<Limited> limits = limits_of(one);
    if (limits.empty()) return "";
    std::vector<text::Row> table{{"limited by", "rows", "predicted time", "exposed", "what that suggests"}};
    for (const Limited& limit : limits) {
        const double slower = limit.mean_slower();
        const Meaning meaning = meaning_of(limit.by);
        table.push_back({limit.by, fmt::format("{}", limit.slower.size()),
                         fmt::format("{:.0f} % too {}", all * std::abs(slower), slower >= 0 ? "short" : "long"),
                         limit.trainings == 0
                             ? "-"
                             : fmt::format("{:.0f} %", all * limit.exposed / static_cast<double>(limit.trainings)),
                         std::abs(slower) < as_predicted ? "as predicted"
                         : slower > 0                    ? meaning.longer
                                                         : meaning.shorter});
    }
    return text::aligned(table, 1, layout);
}

}  // namespace syncline::validation
