#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "sim/planning/search.hpp"

namespace syncline::cli {

/// What `syncline plan` has found so far, in a file of its directory, so that the same command continues after Ctrl-C.
/// Questions are named by hashes of all that determines their answers.
class PlanState {
public:
    /// Reads the file, if it is one of this version. An empty path: nothing is kept.
    explicit PlanState(std::filesystem::path path);

    /// Returns a search that has ended.
    std::optional<planning::Found> found(const std::string& question, const Plan& base) const;
    void keep(const std::string& question, const planning::Found& found);
    /// For Search::known.
    std::map<std::string, planning::Simulated>& simulated(const std::string& question) { return simulated_[question]; }

    void write() const;
    /// Removes the file, whose directory has the whole answer.
    void remove() const;

private:
    std::filesystem::path path_;
    std::map<std::string, std::string> searches_;  ///< by question, in JSON
    std::map<std::string, std::map<std::string, planning::Simulated>> simulated_;
};

}  // namespace syncline::cli
