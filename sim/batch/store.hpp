#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/batch/database.hpp"
#include "sim/config/study.hpp"

/// The results of studies: one SQLite file, `results.db`, in a directory.
///
///     runs(run_id, version, seed, platform, workload, training, collective, status, message, result, checksum)
///     texts(hash, text)                                     sections of scenarios, which many runs share
///     points(study, number, repeat, settings, run_id, checksum)    settings: {"training.ranks": "4", ...}
///     attempts(run_id, status, wall_s)                      one row for each time that a run ended, in that order
///     view scenarios(run_id, scenario)                      the full resolved scenario, which `syncline run` takes
///     meta(key, value)                                      the program's version
///
/// A run is one simulation, named by a hash of its resolved scenario, its seed and the version; points are what studies
/// call it. Of the same study, interrupted or not, in however many shards, runs, texts and points come out equal, row
/// for row; what depends on the clock is in `attempts` alone. Every change is a transaction, written through to the
/// disk: what kills the program loses the runs under way and no more. Any number of programs may have it open.
///
/// A store of another version, of another format, or damaged (rows have a checksum, for what SQLite does not see), is
/// refused and left as it is.
namespace syncline::batch {

enum class Status { pending, done, failed };

std::string name_of(Status status);

/// See hash.hpp.
std::string run_id(const config::Resolved& resolved, std::uint64_t seed);
/// The same of a point; what does not fit has a name that nothing else has, wherever the study is read from.
std::string run_id(const config::StudyPoint& point);

struct PlannedRun {
    std::uint64_t seed = 1;
    std::string scenario;  ///< the resolved text
};

/// How a run ended.
struct Ending {
    std::string run_id;
    Status status = Status::done;
    std::string text;   ///< done: the result, a JSON object; failed: why
    double wall_s = 0;  ///< from its process's start to its end
};

class Store {
public:
    enum class Mode { create, change, read };

    /// Opens DIR/results.db; with `create` makes the directory and an empty store if there is none. Throws OutputError.
    Store(const std::filesystem::path& directory, Mode mode);

    static bool exists(const std::filesystem::path& directory);

    /// Notes the points of a study, to be called between begin_study() and end_study(), which is one transaction; runs
    /// that are not there yet become pending, or failed with the reason if they do not fit. Points of an earlier form
    /// of the study, which have not been passed to add() or skip(), leave the list; returns how many. `skip`: a point
    /// of another shard.
    void begin_study(const std::string& study);
    std::string add(const config::StudyPoint& point);
    void skip(const config::StudyPoint& point);
    std::int64_t end_study();

    /// Of runs of the study's points: those pending, and with `failed` those failed too, except what never fitted; in
    /// the points' order, each once.
    std::vector<std::string> to_run(const std::string& study, bool failed);
    struct Counts {
        std::int64_t points = 0, pending = 0, done = 0, failed = 0;
    };
    Counts counts(const std::string& study);

    PlannedRun planned(const std::string& run_id);
    Status status(const std::string& run_id);
    /// One transaction. A run that is done stays as it is.
    void finish(const std::vector<Ending>& endings);

    /// Takes over what `other` has; a result replaces a failure or nothing. Throws OutputError if both have results of
    /// a run that differ.
    void take(Store& other);

    Database& database() { return database_; }
    const std::filesystem::path& file() const { return file_; }

private:
    void make();
    void check();
    void seal(const std::string& run_id);
    void take_runs(Store& other);
    void take_points(Store& other);

    std::filesystem::path file_;
    Database database_;
    std::string study_;
    std::optional<Transaction> noting_;                     ///< of begin_study() to end_study()
    std::set<std::pair<std::int64_t, std::int64_t>> seen_;  ///< number and repeat of points passed since then
};

/// Merges stores, each a directory or its results.db, into a new one in `to`: all or nothing (made under a temporary
/// name). Throws OutputError.
void merge_stores(const std::vector<std::filesystem::path>& from, const std::filesystem::path& to);

}  // namespace syncline::batch
