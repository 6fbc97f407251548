#include "sim/batch/studies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "sim/base/diagnostics.hpp"
#include "sim/check/check.hpp"
#include "sim/document/presets.hpp"
#include "sim/output/reasons.hpp"
#include "sim/output/written_files.hpp"
#include "sim/query/table.hpp"

namespace syncline::batch {

namespace {

namespace fs = std::filesystem;

bool holds(Table& settings, const config::Condition& condition) {
    try {
        return settings.holds(condition.text);
    } catch (const SqlError& error) {
        throw located(error, condition.at);
    }
}

[[noreturn]] void fail(const std::string& path, std::string message, std::string hint = "") {
    throw ConfigError({{{path, 1, 1, ""}, std::move(message), std::move(hint)}});
}

std::vector<std::string> studies_in(const std::string& directory) {
    std::vector<std::string> found;
    std::error_code error;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
        if (entry->path().extension() == ".yaml") found.push_back(entry->path().string());
    if (error) fail(directory, "cannot read this directory: " + error.message());
    std::sort(found.begin(), found.end());
    const auto others = std::stable_partition(found.begin(), found.end(), config::is_study_or_scenario);
    if (others != found.end())
        say("note: skipped files that are neither a study nor a scenario: {}\n",
            fmt::join(std::vector<std::string>(others, found.end()), ", "));
    found.erase(others, found.end());
    if (found.empty()) fail(directory, "there is no study or scenario here", "their file names end in .yaml");
    return found;
}

/// Returns ": (ranks=8), (ranks=16) and 3 more"; nothing for a scenario without settings.
std::string first_few(const Reasons::Reason& reason) {
    if (reason.of.empty()) return "";
    std::string text = ": " + fmt::format("({})", fmt::join(reason.of, "), ("));
    const auto more = reason.count - static_cast<std::int64_t>(reason.of.size());
    if (more > 0) text += fmt::format(" and {} more", more);
    return text;
}

/// Prints why points do not fit: the most frequent reasons, each with its first error as an example.
void say_misfits(const Reasons& reasons) {
    constexpr std::size_t most = 5;
    std::int64_t said = 0;
    const std::vector<Reasons::Reason> all = reasons.all();
    for (std::size_t i = 0; i < std::min(most, all.size()); ++i) {
        said += all[i].count;
        say("{}  in {} points{}{}\n", all[i].example, all[i].count,
            all[i].varies ? ", some with different numbers" : "", first_few(all[i]));
    }
    if (all.size() > most)
        say("and {} more reasons, in {} points; `syncline batch --dry-run --format json` lists all\n",
            all.size() - most, reasons.total() - said);
}

}  // namespace

std::string shown(const std::vector<config::Setting>& settings) {
    std::string text;
    for (const config::Setting& one : settings)
        text += fmt::format("{}{}={}", text.empty() ? "" : ", ", one.key, one.value);
    return text;
}

std::vector<config::StudyPoint> points_of(const config::Study& study, const std::vector<std::string>& changes) {
    Table settings(study.keys());
    const auto wanted = [&](const std::vector<config::Setting>& values) {
        settings.set(values);
        const auto is = [&](const config::Condition& condition) { return holds(settings, condition); };
        const auto& include = study.include();
        const auto& exclude = study.exclude();
        return (include.empty() || std::any_of(include.begin(), include.end(), is)) &&
               std::none_of(exclude.begin(), exclude.end(), is);
    };
    std::vector<config::StudyPoint> points;
    study.each(
        wanted, [&](const config::StudyPoint& point, const config::Variant*) { points.push_back(point); }, changes);
    return points;
}

std::vector<PlannedStudy> read_studies(const std::vector<std::string>& paths,
                                       const std::vector<std::string>& assignments, const config::Inspect& inspect) {
    std::vector<std::string> files;
    for (const std::string& path : paths) {
        std::error_code unknown;  // reading it as a file then reports the error
        // The directory of a study's results may have the study's name.
        if (!fs::is_directory(path, unknown) || fs::exists(fs::path(path) / "results.db", unknown)) {
            files.push_back(config::find_argument(path, {"study", "scenario", "measured"}));
            continue;
        }
        const std::vector<std::string> found = studies_in(path);
        files.insert(files.end(), found.begin(), found.end());
    }
    std::vector<PlannedStudy> studies;
    std::map<std::string, std::string> named;
    for (const std::string& file : files) {
        config::Study study(file, assignments, inspect);
        const auto [other, added] = named.emplace(study.name(), file);
        if (!added)
            fail(file, fmt::format("this study and {} are both called '{}'", other->second, study.name()),
                 "set the key `name`; its default is the file's name");
        std::vector<config::StudyPoint> points = points_of(study);
        if (points.empty()) fail(file, "the study has no points: its conditions exclude all of them");
        studies.push_back({file, std::move(study), std::move(points)});
    }
    return studies;
}

void require_fit(const std::vector<PlannedStudy>& studies) {
    std::vector<Diagnostic> refused;
    for (const PlannedStudy& planned : studies) {
        Reasons reasons;
        for (const config::StudyPoint& point : planned.points)
            if (!point.misfit.empty()) reasons.add(point.misfit, shown(point.settings));
        say_misfits(reasons);
        if (reasons.total() > 0)
            refused.push_back({{planned.path, 1, 1, ""},
                               fmt::format("{} of {} points do not fit", reasons.total(), planned.points.size()),
                               "remove points with `exclude`, or run the others with `--keep-going`"});
    }
    if (!refused.empty()) throw ConfigError(std::move(refused));
}

void add_points(Store& store, const PlannedStudy& planned, const Shard& shard) {
    store.begin_study(planned.study.name(), shard);
    for (const config::StudyPoint& point : planned.points) {
        if (shard.has(point.number))
            store.add(point);
        else
            store.skip(point);
    }
    const std::int64_t left = store.end_study();
    if (left > 0)
        say("note: {} points are no longer in '{}' and were removed from its list\n", left, planned.study.name());
}

}  // namespace syncline::batch
