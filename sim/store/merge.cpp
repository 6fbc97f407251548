#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "sim/base/interrupt.hpp"
#include "sim/output/files.hpp"
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

/// Copies the rows of a table that do not exist yet.
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
    Statement mine = database_.prepare("SELECT status, message, result FROM runs WHERE run_id = ?");
    Statement replace = database_.prepare("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    constexpr int status = 7, message = 8, result = 9;
    // The better run stays; of two failures the first by message, so that the order of stores does not matter.
    const auto rank = [](const std::string& word) { return word == "done" ? 2 : word == "failed" ? 1 : 0; };
    while (theirs.step()) {
        const std::string id = theirs.text(0);
        bool better = true;
        if (mine.bind({id}).step()) {
            const int had = rank(mine.text(0)), has = rank(theirs.text(status));
            if (had == 2 && has == 2 && mine.text(2) != theirs.text(result))
                throw OutputError(fmt::format(
                    "error: {} and another store have different results of run {}; nothing has been changed",
                    other.file_.string(), id));
            better = has > had || (had == 1 && has == 1 && theirs.text(message) < mine.text(1));
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
    copy(other.database_, database_, "attempts", "?, ?, ?");
    transaction.commit();
}

void merge_stores(const std::vector<fs::path>& from, const fs::path& to) {
    if (Store::exists(to)) refuse(to / "results.db", EEXIST);
    for (const fs::path& one : from) Store(directory_of(one), Store::Mode::read);
    if (!merge_unless_interrupted(from, to))
        std::raise(SIGINT);  // no files are left behind, so it may end the program now
}

}  // namespace syncline::batch
