#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>

#include "sim/base/interrupt.hpp"
#include "sim/output/written_files.hpp"
#include "sim/store/store.hpp"

/// Merging of several stores. The result does not depend on their order.
namespace syncline::batch {

namespace {

namespace fs = std::filesystem;

std::vector<Value> row_of(const Statement& statement) {
    std::vector<Value> row;
    for (int i = 0; i < statement.columns(); ++i) row.push_back(statement.value(i));
    return row;
}

/// Copies the rows of a table that do not exist yet: in `meta` not the numbers of rows, which have their keys here.
void copy(Database& from, Database& to, const std::string& table, const std::string& values) {
    Statement rows = from.prepare("SELECT * FROM " + table);
    Statement insert = to.prepare(fmt::format("INSERT OR IGNORE INTO {} VALUES ({})", table, values));
    while (rows.step()) insert.bind(row_of(rows)).step();
}

/// A directory that is removed at the end in any case.
struct Scratch {
    fs::path path;
    ~Scratch() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
};

fs::path directory_of(const fs::path& given) {
    return fs::is_regular_file(given) && given.filename() == "results.db" ? given.parent_path() : given;
}

[[noreturn]] void refuse(const fs::path& file, int error) {
    if (error == EEXIST)
        throw OutputError(fmt::format(
            "error: {} already exists; merge into another directory, which may then replace it", file.string()));
    throw OutputError(fmt::format("error: cannot write {}: {}", file.string(), std::strerror(error)));
}

/// Gives a file its final name, unless a file of that name exists by now.
void settle(const fs::path& from, const fs::path& to) {
    int failed = renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE);
    // Some file systems do not support this flag. They support links, which replace nothing either.
    if (failed != 0 && (errno == EINVAL || errno == ENOSYS)) failed = link(from.c_str(), to.c_str());
    if (failed != 0) refuse(to, errno);
    const int directory = open(to.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    failed = directory < 0 ? -1 : fsync(directory);
    const int error = errno;
    if (directory >= 0) close(directory);
    if (failed != 0) refuse(to, error);
}

using Shards = std::map<std::string, std::vector<Shard>>;

/// Returns sentences about the shards that no store has. A study that was run with several numbers of shards is whole
/// if all shards of one number are there; otherwise those of the number with the fewest missing ones are named.
std::vector<std::string> missing_in(const Shards& shards) {
    std::vector<std::string> missing;
    for (const auto& [study, known] : shards) {
        std::map<std::int64_t, std::set<std::int64_t>> by_count;
        for (const Shard& shard : known) by_count[shard.count].insert(shard.index);
        const auto lacks = [](const auto& one) { return one.first - std::ssize(one.second); };
        const auto& [count, there] = *std::min_element(
            by_count.begin(), by_count.end(), [&](const auto& a, const auto& b) { return lacks(a) < lacks(b); });
        constexpr std::size_t few = 10;
        std::vector<std::string> named;
        for (std::int64_t i = 1; i <= count && named.size() < few; ++i)
            if (!there.contains(i)) named.push_back(std::to_string(i));
        const auto more = count - std::ssize(there) - std::ssize(named);
        if (more > 0) named.push_back(fmt::format("{} more", more));
        if (!named.empty())
            missing.push_back(fmt::format("the study '{}' lacks shard{} {} of {}", study, named.size() == 1 ? "" : "s",
                                          fmt::join(named, ", "), count));
    }
    return missing;
}

/// Merges the stores. Returns false if it was interrupted; then nothing is left behind.
bool merge_unless_interrupted(const std::vector<fs::path>& from, const fs::path& to) {
    const HeldInterrupts held;
    const Scratch scratch{to / fmt::format(".merge-{}", getpid())};
    {
        Store merged(scratch.path, Store::Mode::create);
        for (const fs::path& one : from) {
            Store store(directory_of(one), Store::Mode::read);
            merged.take(store);
            if (held.interrupted()) return false;
        }
    }
    settle(scratch.path / "results.db", to / "results.db");
    return true;
}

}  // namespace

void Store::take_runs(Store& other) {
    Statement theirs = other.database_.prepare("SELECT * FROM runs");
    Statement mine = database_.prepare("SELECT * FROM runs WHERE run_id = ?");
    Statement replace = database_.prepare("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    constexpr int status = 7, result = 9;
    // The better run stays; of two equally good ones, whose files may have other names or whose failures other words,
    // the smaller row, so that the order of stores does not matter.
    const auto rank = [](const std::string& word) { return word == "done" ? 2 : word == "failed" ? 1 : 0; };
    while (theirs.step()) {
        const std::string id = theirs.text(0);
        bool better = true;
        if (mine.bind({id}).step()) {
            const int had = rank(mine.text(status)), has = rank(theirs.text(status));
            if (had == 2 && has == 2 && mine.text(result) != theirs.text(result))
                throw OutputError(fmt::format(
                    "error: {} and another store have different results of run {}; nothing has been changed",
                    other.file_.string(), id));
            better = has > had || (has == had && row_of(theirs) < row_of(mine));
        }
        if (better) replace.bind(row_of(theirs)).step();
    }
}

void Store::take_points(Store& other) {
    Statement theirs = other.database_.prepare("SELECT * FROM points");
    Statement mine = database_.prepare("SELECT checksum FROM points WHERE study = ? AND number = ? AND repeat = ?");
    Statement insert = database_.prepare("INSERT OR IGNORE INTO points VALUES (?, ?, ?, ?, ?, ?)");
    while (theirs.step()) {
        const std::vector<Value> row = row_of(theirs);
        if (mine.bind({row[0], row[1], row[2]}).step() && mine.value(0) != row[5])
            throw OutputError(
                fmt::format("error: point {} of study {} differs in {}: the stores hold different forms of the study; "
                            "nothing has been changed",
                            theirs.text(1), theirs.text(0), other.file_.string()));
        insert.bind(row).step();
    }
}

void Store::take(Store& other) {
    Transaction transaction(database_);
    copy(other.database_, database_, "texts", "?, ?");
    take_runs(other);
    take_points(other);
    forget_loose_texts();
    copy(other.database_, database_, "attempts", "?, ?, ?");
    copy(other.database_, database_, "meta", "?, ?");
    count_rows();
    transaction.commit();
}

std::vector<std::string> merge_stores(const std::vector<fs::path>& from, const fs::path& to, bool partial) {
    if (Store::exists(to)) refuse(to / "results.db", EEXIST);
    Shards shards;
    for (const fs::path& one : from)
        for (const auto& [study, known] : Store(directory_of(one), Store::Mode::read).shards())
            shards[study].insert(shards[study].end(), known.begin(), known.end());
    std::vector<std::string> missing = missing_in(shards);
    if (!missing.empty() && !partial) return missing;
    if (!merge_unless_interrupted(from, to))
        std::raise(SIGINT);  // no files are left behind, so it may end the program now
    return missing;
}

}  // namespace syncline::batch
