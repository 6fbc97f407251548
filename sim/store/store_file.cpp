#include <fmt/format.h>

#include <string>
#include <vector>

#include "sim/base/version.hpp"
#include "sim/output/written_files.hpp"
#include "sim/store/store.hpp"

/// The store as a file: its schema, and the check that it is an undamaged store of ours.
namespace syncline::batch {

namespace {

constexpr std::int64_t application_id = 0x53796e63;  // "Sync"
constexpr std::int64_t format = 2;

constexpr const char* schema = R"(
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE texts(hash TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE runs(run_id TEXT PRIMARY KEY, version TEXT NOT NULL, seed NOT NULL, platform TEXT, workload TEXT,
                  training TEXT, collective TEXT, status TEXT NOT NULL, message TEXT, result TEXT,
                  checksum TEXT NOT NULL);
CREATE TABLE points(study TEXT NOT NULL, number INTEGER NOT NULL, repeat INTEGER NOT NULL, settings TEXT NOT NULL,
                    run_id TEXT NOT NULL, checksum TEXT NOT NULL, PRIMARY KEY (study, number, repeat));
CREATE TABLE attempts(run_id TEXT NOT NULL, status TEXT NOT NULL, wall_s REAL NOT NULL);
CREATE INDEX attempts_of ON attempts(run_id);
CREATE VIEW scenarios(run_id, scenario) AS
    SELECT run_id, coalesce(c.text, '') || coalesce(p.text, '') || coalesce(t.text, '') || coalesce(w.text, '')
    FROM runs LEFT JOIN texts c ON c.hash = collective LEFT JOIN texts p ON p.hash = platform
              LEFT JOIN texts t ON t.hash = training LEFT JOIN texts w ON w.hash = workload;
)";

const std::string run_checksum =
    "hash(run_id, version, seed || '', platform, workload, training, collective, status, message, result)";

/// Returns the condition that one of the columns is of another type. SQLite stores any value in any column.
std::string other_than(const std::string& type, const std::vector<std::string>& columns) {
    return fmt::format("typeof({}) <> '{}'", fmt::join(columns, fmt::format(") <> '{}' OR typeof(", type)), type);
}

/// The sections that a run refers to.
constexpr const char* references =
    "(SELECT run_id, collective AS hash FROM runs UNION ALL SELECT run_id, platform FROM runs UNION ALL SELECT run_id, "
    "training FROM runs UNION ALL SELECT run_id, workload FROM runs)";

/// Tables in the order in which their rows are counted: the counts are rows of the last one.
constexpr const char* tables[] = {"attempts", "points", "runs", "texts", "meta"};

std::string count_key(const std::string& table) {
    return "rows of " + table;
}

/// Queries that find rows that have been changed, and name them. Whoever forges a row can compute its checksum, too;
/// so the types that readers expect are tested as well.
const std::string unsound[] = {
    "SELECT 'run ' || coalesce(run_id, 'without a name') FROM runs WHERE " +
        other_than("text", {"run_id", "version", "status", "checksum"}) +
        " OR length(run_id) <> 32 OR run_id GLOB '*[^0-9a-f]*' OR status NOT IN ('pending', 'done', 'failed') OR "
        "typeof(message) NOT IN ('text', 'null') OR typeof(result) NOT IN ('text', 'null') OR "
        "seed < 0 OR seed || '' GLOB '*[^0-9]*'",
    "SELECT 'point ' || number || ' of ' || quote(study) FROM points WHERE " +
        other_than("text", {"study", "settings", "run_id", "checksum"}) + " OR " +
        other_than("integer", {"number", "repeat"}),
    "SELECT 'run ' || run_id FROM runs WHERE NOT is_result(coalesce(result, '{}')) OR checksum <> " + run_checksum,
    "SELECT 'point ' || number || ' of ' || quote(study) FROM points "
    "WHERE NOT are_settings(settings) OR checksum <> hash(study, number || '', repeat || '', settings, run_id)",
    "SELECT 'text ' || hash FROM texts WHERE hash <> hash(text)",
};

/// Queries that find rows which refer to missing ones, and say so.
const std::string dangling[] = {
    "SELECT 'the run of point ' || number || ' of ' || quote(study) FROM points WHERE run_id NOT IN (SELECT run_id "
    "FROM runs)",
    std::string("SELECT 'a part of the scenario of run ' || run_id FROM ") + references +
        " WHERE hash NOT NULL AND hash NOT IN (SELECT hash FROM texts)",
    "SELECT 'the run of an attempt, ' || run_id || ',' FROM attempts WHERE run_id NOT IN (SELECT run_id FROM runs)",
};

/// Returns the schema as SQLite stores it. A damaged schema may still be valid SQL.
std::string schema_of(Database& database) {
    const Value text =
        database.ask("SELECT group_concat(sql, char(10)) FROM (SELECT sql FROM sqlite_schema ORDER BY name)");
    const auto* known = std::get_if<std::string>(&text);
    return known != nullptr ? *known : "";
}

}  // namespace

void Store::make() {
    Transaction transaction(database_);
    const bool empty = database_.ask("SELECT count(*) FROM sqlite_schema") == Value(std::int64_t{0}) &&
                       database_.ask("PRAGMA application_id") == Value(std::int64_t{0});
    if (!empty) return;
    database_.run(schema);
    database_.run(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", application_id, format));
    database_.prepare("INSERT INTO meta VALUES ('version', ?)").bind({std::string(version)}).step();
    for (const char* table : tables)
        database_.prepare("INSERT INTO meta VALUES (?, 0)").bind({count_key(table)}).step();
    count_rows();
    transaction.commit();
}

void Store::check() {
    const std::string name = file_.string();
    const Value application = database_.ask("PRAGMA application_id");
    if (application == Value(std::int64_t{0}) &&
        database_.ask("SELECT count(*) FROM sqlite_schema") == Value(std::int64_t{0}))
        throw OutputError(fmt::format("error: {} is empty; `syncline batch STUDY --out {}` fills it", name,
                                      file_.parent_path().string()));
    if (application != Value(application_id))
        throw OutputError(
            fmt::format("error: {} is another program's database, not Syncline's; use another directory", name));
    const std::int64_t its_format = std::get<std::int64_t>(database_.ask("PRAGMA user_version"));
    if (its_format != format)
        throw OutputError(
            fmt::format("error: {} has store format {}, but syncline {} reads format {}; use another directory, or the "
                        "version that wrote it",
                        name, its_format, version, format));
    Database expected;
    expected.run(schema);
    if (schema_of(database_) != schema_of(expected)) throw damage(file_, "its tables have been changed");
    const Value its_version = database_.ask("SELECT value FROM meta WHERE key = 'version'");
    if (its_version.index() == 0) throw damage(file_, "its version is missing");
    if (its_version != Value(std::string(version))) {
        const auto* text = std::get_if<std::string>(&its_version);
        throw OutputError(
            fmt::format("error: {} was written by syncline {}, but this is {}, whose results may differ; use another "
                        "directory, or that version",
                        name, text != nullptr ? *text : "of unknown version", version));
    }
    const Value found = database_.ask("PRAGMA integrity_check(1)");
    if (found != Value(std::string("ok"))) {
        const std::string text = std::get<std::string>(found);
        throw damage(file_, text.substr(text.rfind('\n') + 1));  // the line before it names the database
    }
    for (const std::string& sql : unsound) {
        const Value row = database_.ask(sql);
        if (const auto* text = std::get_if<std::string>(&row)) throw damage(file_, *text + " has been changed");
    }
    for (const std::string& sql : dangling) {
        const Value row = database_.ask(sql);
        if (const auto* text = std::get_if<std::string>(&row)) throw damage(file_, *text + " is missing");
    }
    require_all_rows();
}

void Store::count_rows() {
    for (const char* table : tables)
        database_.prepare(fmt::format("UPDATE meta SET value = (SELECT count(*) FROM {}) WHERE key = ?", table))
            .bind({count_key(table)})
            .step();
}

void Store::count_attempts(std::size_t more) {
    database_.kept("UPDATE meta SET value = value + ? WHERE key = ?")
        .bind({static_cast<std::int64_t>(more), count_key("attempts")})
        .step();
}

void Store::require_all_rows() {
    for (const char* table : tables) {
        // A single query: another program may be adding rows.
        Statement both = database_.prepare(fmt::format(
            "SELECT (SELECT CAST(value AS INTEGER) FROM meta WHERE key = ?), (SELECT count(*) FROM {})", table));
        both.bind({count_key(table)}).step();
        if (both.value(0).index() == 0)
            throw damage(file_, fmt::format("the number of rows of '{}' is missing", table));
        if (both.integer(0) != both.integer(1))
            throw damage(file_, fmt::format("the table '{}' has {} rows, but {} were written", table, both.integer(1),
                                            both.integer(0)));
    }
}

void Store::seal(const std::string& run_id) {
    static const std::string sql = "UPDATE runs SET checksum = " + run_checksum + " WHERE run_id = ?";
    database_.kept(sql).bind({run_id}).step();
}

}  // namespace syncline::batch
