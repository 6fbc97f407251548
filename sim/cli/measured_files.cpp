#include "sim/cli/measured_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <system_error>
#include <utility>

#include "sim/base/diagnostics.hpp"
#include "sim/cli/guard.hpp"
#include "sim/document/data_roots.hpp"
#include "sim/document/presets.hpp"
#include "sim/output/written_files.hpp"
#include "sim/replay/native.hpp"
#include "sim/validation/validation.hpp"

namespace syncline::cli {

namespace {

namespace fs = std::filesystem;

/// Returns the YAML files of a directory, sorted by name.
std::vector<std::string> files_in(const fs::path& directory) {
    std::error_code error;
    std::vector<std::string> files;
    fs::directory_iterator entry(directory, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error))
        if (entry->path().extension() == ".yaml") files.push_back(entry->path().string());
    if (error)
        throw ConfigError({{{directory.string(), 1, 1, ""},
                            "cannot be read: " + error.message(),
                            "name a scenario or a directory of scenarios"}});
    std::sort(files.begin(), files.end());
    return files;
}

/// Returns true for an unreadable file, too: loading it reports the error.
bool is_measured_or_broken(const std::string& file) {
    try {
        return config::is_measured(file);
    } catch (const ConfigError&) {
        return true;
    }
}

class Loading {
public:
    Loading(std::vector<std::string> paths, const std::vector<std::string>& assignments)
        : paths_(std::move(paths)), assignments_(assignments) {}

    std::vector<config::MeasuredScenario> run() {
        if (paths_.empty()) paths_.push_back(config::data_folder("scenarios/published").string());
        for (const std::string& path : paths_) {
            std::error_code error;
            if (fs::is_directory(path, error))
                attempt([&] { load_directory(path); });
            else
                attempt([&] { load(config::find_argument(path, {"measured", "scenario"})); });
        }
        if (!errors_.empty()) throw ConfigError(std::move(errors_));
        return std::move(scenarios_);
    }

private:
    /// Skips files without measurements; errors in one file do not hide those in others.
    void load_directory(const std::string& path) {
        bool any = false;
        for (const std::string& file : files_in(path)) {
            const bool measured = is_measured_or_broken(file);
            any = any || measured;
            if (measured)
                load(file);
            else
                say("note: skipped {}: it has no key 'measured'\n", file);
        }
        if (!any)
            throw ConfigError({{{path, 1, 1, ""},
                                "no scenario in this directory has the key 'measured'",
                                "name a scenario or a directory of scenarios"}});
    }

    void load(const std::string& file) {
        std::error_code error;
        const fs::path known = fs::weakly_canonical(file, error);
        if (!seen_.insert(error ? fs::path(file) : known).second) return;
        attempt([&] {
            config::MeasuredScenario scenario({.scenario = file, .assignments = assignments_}, inspect);
            validation::require_fields(scenario);
            validation::require_few_parameters(scenario);
            scenarios_.push_back(std::move(scenario));
        });
    }

    void attempt(const std::function<void()>& step) {
        try {
            step();
        } catch (const ConfigError& error) {
            errors_.insert(errors_.end(), error.diagnostics().begin(), error.diagnostics().end());
        }
    }

    std::vector<std::string> paths_;
    const std::vector<std::string>& assignments_;
    std::vector<config::MeasuredScenario> scenarios_;
    std::vector<Diagnostic> errors_;
    std::set<fs::path> seen_;  // counts a file that is named twice once
};

}  // namespace

std::vector<config::MeasuredScenario> load_measured(const std::vector<std::string>& paths,
                                                    const std::vector<std::string>& assignments) {
    return Loading(paths, assignments).run();
}

void require_whole(const std::vector<std::string>& failures) {
    if (!failures.empty()) throw Failed(fmt::format("{}", fmt::join(failures, "\nerror: ")));
}

}  // namespace syncline::cli
