#include "sim/explore/rating.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/explore/importance.hpp"

namespace syncline::batch {

namespace {

/// Cramér's V from which two axes are the same, except for rounding; and from which a note is given.
constexpr double same = 1 - 1e-9, much = 0.3;

std::string listed(const std::vector<std::string>& names) {
    return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

/// Notes the axes that vary together: each group once, with all its axes.
void note_confounded(const std::vector<PlanAxis>& axes, const std::vector<std::vector<double>>& associations,
                     std::vector<std::string>& notes) {
    std::vector<bool> named(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) {
        if (named[i]) continue;
        std::vector<std::string> group{axes[i].name};
        for (std::size_t j = 0; j < axes.size(); ++j) {
            if (j == i || associations[i][j] < same) continue;
            group.push_back(axes[j].name);
            named[j] = true;
        }
        if (group.size() > 1)
            notes.push_back(fmt::format("{} vary together: their shares cannot be distinguished", listed(group)));
    }
    for (std::size_t i = 0; i < axes.size(); ++i)
        for (std::size_t j = i + 1; j < axes.size(); ++j)
            if (associations[i][j] >= much && associations[i][j] < same)
                notes.push_back(
                    fmt::format("{} and {} partly vary together (Cramér's V {:.2f}): their shares overlap, and "
                                "their means are over different points",
                                axes[i].name, axes[j].name, associations[i][j]));
}

}  // namespace

std::vector<AxisImportance> rate_axes(const std::vector<PlanAxis>& axes, const Objective& objective,
                                      const std::vector<double>& values, std::vector<std::string>& notes) {
    std::vector<std::vector<double>> associations(axes.size(), std::vector<double>(axes.size()));
    for (std::size_t i = 0; i < axes.size(); ++i)
        for (std::size_t j = 0; j < axes.size(); ++j)
            associations[i][j] = association(axes[i].value_of, axes[j].value_of);
    std::vector<AxisImportance> rated;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const MainEffect effect = main_effect(axes[i].value_of, values);
        std::size_t best = 0;
        for (std::size_t value = 1; value < effect.means.size(); ++value)
            if (better(objective, effect.means[value], effect.means[best])) best = value;
        rated.push_back({axes[i].name, effect.share, axes[i].values[best], effect.means[best], {}});
        for (std::size_t j = 0; j < axes.size(); ++j)
            if (j != i && associations[i][j] >= same) rated.back().confounded_with.push_back(axes[j].name);
    }
    note_confounded(axes, associations, notes);
    std::stable_sort(rated.begin(), rated.end(),
                     [](const AxisImportance& a, const AxisImportance& b) { return a.share > b.share; });
    return rated;
}

}  // namespace syncline::batch
