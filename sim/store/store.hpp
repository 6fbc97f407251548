#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/store/database.hpp"
#include "sim/store/shard.hpp"
#include "sim/study/study.hpp"

/// The results of studies: one SQLite file, `results.db`, in a directory.
///
///     runs(run_id, version, seed, platform, workload, training, collective, status, message, result, checksum)
///     texts(hash, text)                                     sections of scenarios, which many runs share
///     points(study, number, repeat, settings, run_id, checksum)    settings: {"training.ranks": "4", ...}
///     attempts(run_id, status, wall_s)                      one row for each time a run ended, in order
///     view scenarios(run_id, scenario)                      the full resolved scenario, as input of `syncline run`
///     meta(key, value)                                      the program's version, its shards, numbers of rows
///
/// A run is named by a hash of its resolved scenario, its seed and the version. The same study gives equal runs, texts
/// and points, whether interrupted or not and in any number of shards; only `attempts` depends on the clock. Every
/// change is a transaction that is written synchronously. Any number of programs may have the store open. A store of
/// another version or format, or a damaged one (found by SQLite, checksums, references, numbers of rows), is rejected.
namespace syncline::batch {

enum class Status { pending, done, failed };

std::string name_of(Status status);

/// Returns the name of a run: see hash.hpp.
std::string run_id(const config::Resolved& resolved, std::uint64_t seed);
/// Returns the name of a point's run. A point that does not fit has a unique name, which does not depend on the study's
/// location.
std::string run_id(const config::StudyPoint& point);

struct PlannedRun {
    std::uint64_t seed = 1;
    std::string scenario;  ///< the resolved text
};

/// The outcome of a run.
struct Ending {
    std::string run_id;
    Status status = Status::done;
    std::string text;   ///< done: the result, a JSON object; failed: the reason
    double wall_s = 0;  ///< from its process's start to its end
};

class Store {
public:
    enum class Mode { create, change, read };

    /// Opens DIR/results.db; `create` creates the directory and an empty store if there is none. Throws OutputError.
    Store(const std::filesystem::path& directory, Mode mode);

    static bool exists(const std::filesystem::path& directory);

    /// Add the points of a study: add() and skip() (for points of another shard) are called between begin_study() and
    /// end_study(), which is one transaction. New runs become pending, or failed with the reason if they do not fit.
    /// end_study() removes points of an earlier form of the study and returns their number. Runs that are not done get
    /// the names of files as they are now. `shard` is stored with the study, if given.
    void begin_study(const std::string& study, const std::optional<Shard>& shard = {});
    std::string add(const config::StudyPoint& point);
    void skip(const config::StudyPoint& point);
    std::int64_t end_study();

    /// Returns the pending runs of the study's points, and with `failed` also the failed ones, except points that do
    /// not fit; in the points' order, each once.
    std::vector<std::string> to_run(const std::string& study, bool failed);
    struct Counts {
        std::int64_t points = 0, pending = 0, done = 0, failed = 0;
    };
    Counts counts(const std::string& study);

    /// Returns the shards that were passed to begin_study(), by study.
    std::map<std::string, std::vector<Shard>> shards();

    PlannedRun planned(const std::string& run_id);
    Status status(const std::string& run_id);
    /// Stores outcomes in one transaction. A run that is done stays unchanged.
    void finish(const std::vector<Ending>& endings);

    /// Takes over the content of `other`; a result replaces a failure or a missing result. Throws OutputError if both
    /// have different results of a run.
    void take(Store& other);

    Database& database() { return database_; }
    const std::filesystem::path& file() const { return file_; }

private:
    void make();
    void check();
    void seal(const std::string& run_id);
    /// Records how many rows each table has. Every transaction that may have added or removed rows ends with it, or,
    /// since counting takes as long as the table, with count_attempts() if it has only added attempts.
    void count_rows();
    void count_attempts(std::size_t more);
    void require_all_rows();
    void take_runs(Store& other);
    void take_points(Store& other);
    void forget_loose_texts();

    std::filesystem::path file_;
    Database database_;
    std::string study_;
    std::optional<Transaction> noting_;                     ///< open from begin_study() to end_study()
    std::set<std::pair<std::int64_t, std::int64_t>> seen_;  ///< number and repeat of points passed since then
    bool loose_texts_ = false;                              ///< true if some texts may belong to no run
};

/// Returns the settings of a row of `points`, in their order. Throws OutputError if the text is not such an object.
std::vector<config::Setting> settings_of(const Store& store, const std::string& text);

/// Merges stores, each a directory or its results.db, into a new one in `to`: all or nothing (it is written under a
/// temporary name). Returns what is missing: "the study 's' lacks shards 2, 3 of 4"; if anything is,
/// nothing is written unless `partial`. Throws OutputError.
std::vector<std::string> merge_stores(const std::vector<std::filesystem::path>& from, const std::filesystem::path& to,
                                      bool partial);

}  // namespace syncline::batch
