#include "sim/store/store.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "sim/base/version.hpp"
#include "sim/output/written_files.hpp"
#include "sim/store/hash.hpp"

namespace syncline::batch {

namespace {

namespace fs = std::filesystem;

constexpr std::array section_keys{"collective", "platform", "training", "workload"};

/// Returns the JSON in a value; a discarded one if there is none.
nlohmann::json parsed(const std::vector<Value>& values) {
    const auto* text = std::get_if<std::string>(&values.at(0));
    return nlohmann::json::parse(text != nullptr ? *text : "", nullptr, false);
}

/// Returns a seed as a number, or as a text if it exceeds SQL's numbers.
Value seed_value(std::uint64_t seed) {
    if (seed <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return static_cast<std::int64_t>(seed);
    return std::to_string(seed);
}

std::uint64_t seed_of(const std::string& digits) {
    std::uint64_t seed = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), seed);
    return seed;
}

std::string settings_text(const std::vector<config::Setting>& settings) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (const config::Setting& setting : settings) object[setting.key] = setting.value;
    return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Database::Mode database_mode(Store::Mode mode) {
    return mode == Store::Mode::create   ? Database::Mode::create
           : mode == Store::Mode::change ? Database::Mode::change
                                         : Database::Mode::read;
}

fs::path checked(const fs::path& directory, Store::Mode mode) {
    std::error_code error;
    fs::path file = directory / "results.db";
    if (fs::exists(directory, error) && !fs::is_directory(directory, error))
        throw OutputError(fmt::format("error: {} is not a directory", directory.string()));
    if (mode == Store::Mode::create) {
        fs::create_directories(directory, error);
        if (error)
            throw OutputError(
                fmt::format("error: cannot create the directory {}: {}", directory.string(), error.message()));
        // SQLite would report what happens when it tries to read the file instead.
        if (!fs::exists(file, error) && access(directory.c_str(), W_OK) != 0)
            throw OutputError(fmt::format("error: cannot write {}: {}", file.string(), std::strerror(errno)));
    } else if (!fs::exists(file, error) && !error) {
        throw OutputError(fmt::format("error: there is no {}; `syncline batch STUDY --out {}` creates it",
                                      file.string(), directory.string()));
    }
    return file;
}

}  // namespace

std::vector<config::Setting> settings_of(const Store& store, const std::string& text) {
    std::vector<config::Setting> settings;
    try {
        const auto object = nlohmann::ordered_json::parse(text);  // must outlive items()
        for (const auto& [key, value] : object.items()) settings.push_back({key, value.get<std::string>()});
    } catch (const nlohmann::json::exception& error) {
        throw damage(store.file(), fmt::format("a point's settings are not JSON: {}", error.what()));
    }
    return settings;
}

std::string name_of(Status status) {
    return status == Status::pending ? "pending" : status == Status::done ? "done" : "failed";
}

std::string run_id(const config::Resolved& resolved, std::uint64_t seed) {
    Hash hash;
    hash.add(version);
    hash.add(std::to_string(seed));
    for (const config::ResolvedSection& section : resolved.sections) {
        hash.add(section.key);
        hash.add(section.identity);
    }
    hash.add("files");
    for (const std::string& file : resolved.files) hash.add(file);
    return hash.digits();
}

std::string run_id(const config::StudyPoint& point) {
    const std::string id = run_id(point.resolved, point.seed);
    // A point that does not fit may be equal, as far as it was resolved, to one that fits or to another one that does
    // not.
    return point.misfit.empty() ? id : hash_of(id + "misfit" + settings_text(point.settings));
}

bool Store::exists(const fs::path& directory) {
    std::error_code error;
    return fs::exists(directory / "results.db", error);
}

Store::Store(const fs::path& directory, Mode mode)
    : file_(checked(directory, mode)), database_(file_, database_mode(mode)) {
    database_.define("hash", [](const std::vector<Value>& values) -> Value {
        Hash hash;
        for (const Value& value : values) {
            const auto* text = std::get_if<std::string>(&value);
            hash.add(text != nullptr ? *text : "");
        }
        return hash.digits();
    });
    database_.define("is_result", [](const std::vector<Value>& values) -> Value {
        const nlohmann::json object = parsed(values);
        return std::int64_t{object.is_object()};
    });
    database_.define("are_settings", [](const std::vector<Value>& values) -> Value {
        const nlohmann::json object = parsed(values);
        return std::int64_t{object.is_object() && std::all_of(object.begin(), object.end(),
                                                              [](const auto& setting) { return setting.is_string(); })};
    });
    if (mode == Mode::create) make();
    check();
    if (mode != Mode::read) database_.keep_journal();
}

std::string Store::add(const config::StudyPoint& point) {
    std::vector<Value> row{run_id(point), std::string(version), seed_value(point.seed)};
    row.resize(row.size() + section_keys.size());
    bool added = false;
    Statement& text = database_.kept("INSERT OR IGNORE INTO texts VALUES (?, ?)");
    for (const config::ResolvedSection& section : point.resolved.sections) {
        // A trace or jobs replace the training, and have its column; what is beside jobs has those of what they
        // exclude.
        const std::string key = section.key == "trace" || section.key == "jobs" ? "training"
                                : section.key == "queue"                        ? "workload"
                                : section.key == "traffic"                      ? "collective"
                                                                                : section.key;
        const auto place = std::find(section_keys.begin(), section_keys.end(), key);
        if (place == section_keys.end()) throw std::logic_error("a scenario has no section " + section.key);
        const std::string hash = hash_of(section.text);
        text.bind({hash, section.text}).step();
        added = added || database_.changes() > 0;
        row[3 + static_cast<std::size_t>(place - section_keys.begin())] = hash;
    }
    const bool fits = point.misfit.empty();
    row.emplace_back(name_of(fits ? Status::pending : Status::failed));
    row.emplace_back();
    if (!fits) row.back() = point.misfit;
    std::string id = std::get<std::string>(row[0]);
    database_
        .kept(
            "INSERT OR IGNORE INTO runs (run_id, version, seed, collective, platform, training, workload, status, "
            "message, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '')")
        .bind(row)
        .step();
    bool changed = database_.changes() > 0;
    if (!changed) {
        // A run that is still to be simulated finds its files where they are now.
        database_
            .kept(
                "UPDATE runs SET collective = ?2, platform = ?3, training = ?4, workload = ?5 WHERE run_id = ?1 AND "
                "status <> 'done' AND (collective, platform, training, workload) IS NOT (?2, ?3, ?4, ?5)")
            .bind({row[0], row[3], row[4], row[5], row[6]})
            .step();
        changed = database_.changes() > 0;
        loose_texts_ = loose_texts_ || changed || added;
    }
    if (changed) seal(id);
    const std::string settings = settings_text(point.settings);
    database_.kept("INSERT OR REPLACE INTO points VALUES (?1, ?2, ?3, ?4, ?5, hash(?1, ?2 || '', ?3 || '', ?4, ?5))")
        .bind({study_, point.number, point.repeat, settings, id})
        .step();
    seen_.emplace(point.number, point.repeat);
    return id;
}

void Store::skip(const config::StudyPoint& point) {
    database_.kept("DELETE FROM points WHERE study = ? AND number = ? AND repeat = ? AND run_id <> ?")
        .bind({study_, point.number, point.repeat, run_id(point)})
        .step();
    seen_.emplace(point.number, point.repeat);
}

void Store::begin_study(const std::string& study, const std::optional<Shard>& shard) {
    noting_.emplace(database_);
    study_ = study;
    seen_.clear();
    loose_texts_ = false;
    if (!shard) return;
    database_.prepare("DELETE FROM meta WHERE key GLOB 'shard *' AND value = ?").bind({study}).step();
    database_.prepare("INSERT INTO meta VALUES (?, ?)")
        .bind({fmt::format("shard {}/{} of {}", shard->index, shard->count, study), study})
        .step();
}

std::int64_t Store::end_study() {
    std::vector<std::vector<Value>> gone;
    {
        Statement points = database_.prepare("SELECT number, repeat FROM points WHERE study = ?");
        points.bind({study_});
        while (points.step())
            if (seen_.count({points.integer(0), points.integer(1)}) == 0)
                gone.push_back({study_, points.integer(0), points.integer(1)});
    }
    Statement leave = database_.prepare("DELETE FROM points WHERE study = ? AND number = ? AND repeat = ?");
    for (const std::vector<Value>& point : gone) leave.bind(point).step();
    if (loose_texts_) forget_loose_texts();
    count_rows();
    noting_->commit();
    noting_.reset();
    return static_cast<std::int64_t>(gone.size());
}

void Store::forget_loose_texts() {
    database_.run(
        "DELETE FROM texts WHERE hash NOT IN (SELECT collective FROM runs WHERE collective NOT NULL UNION SELECT "
        "platform FROM runs WHERE platform NOT NULL UNION SELECT training FROM runs WHERE training NOT NULL UNION "
        "SELECT workload FROM runs WHERE workload NOT NULL)");
}

std::vector<std::string> Store::to_run(const std::string& study, bool failed) {
    // Points that do not fit have failed without an attempt.
    Statement runs = database_.prepare(
        "SELECT run_id FROM points JOIN runs USING (run_id) WHERE study = ? AND (status = 'pending' OR (? AND status = "
        "'failed' AND run_id IN (SELECT run_id FROM attempts))) GROUP BY run_id ORDER BY min(number), min(repeat)");
    runs.bind({study, static_cast<std::int64_t>(failed)});
    std::vector<std::string> ids;
    while (runs.step()) ids.push_back(runs.text(0));
    return ids;
}

Store::Counts Store::counts(const std::string& study) {
    Statement sums = database_.prepare(
        "SELECT count(*), sum(status = 'pending'), sum(status = 'done'), sum(status = 'failed') FROM points JOIN runs "
        "USING (run_id) WHERE study = ?");
    sums.bind({study}).step();
    return {sums.integer(0), sums.integer(1), sums.integer(2), sums.integer(3)};
}

std::map<std::string, std::vector<Shard>> Store::shards() {
    std::map<std::string, std::vector<Shard>> shards;
    Statement rows =
        database_.prepare("SELECT value, substr(key, 7, instr(key, ' of ') - 7) FROM meta WHERE key GLOB 'shard *'");
    while (rows.step())
        if (const auto shard = parse_shard(rows.text(1))) shards[rows.text(0)].push_back(*shard);
    return shards;
}

PlannedRun Store::planned(const std::string& id) {
    Statement& run = database_.kept("SELECT seed, scenario FROM runs JOIN scenarios USING (run_id) WHERE run_id = ?");
    if (!run.bind({id}).step()) throw damage(file_, fmt::format("run {} is missing", id));
    PlannedRun planned{seed_of(run.text(0)), run.text(1)};
    run.reset();
    return planned;
}

Status Store::status(const std::string& id) {
    Statement& run = database_.kept("SELECT status FROM runs WHERE run_id = ?");
    const Value status = run.bind({id}).step() ? run.value(0) : Value{};
    run.reset();
    for (const Status one : {Status::pending, Status::done, Status::failed})
        if (status == Value(name_of(one))) return one;
    throw damage(file_, fmt::format("run {} is missing", id));
}

void Store::finish(const std::vector<Ending>& endings) {
    Transaction transaction(database_);
    for (const Ending& ending : endings) {
        const bool done = ending.status == Status::done;
        const Value text(ending.text);
        database_.kept("UPDATE runs SET status = ?, message = ?, result = ? WHERE run_id = ? AND status <> 'done'")
            .bind({name_of(ending.status), done ? Value{} : text, done ? text : Value{}, ending.run_id})
            .step();
        if (database_.changes() > 0) seal(ending.run_id);
        database_.kept("INSERT INTO attempts VALUES (?, ?, ?)")
            .bind({ending.run_id, name_of(ending.status), ending.wall_s})
            .step();
    }
    count_attempts(endings.size());
    transaction.commit();
}

}  // namespace syncline::batch
