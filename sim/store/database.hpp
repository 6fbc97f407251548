#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/output/written_files.hpp"

struct sqlite3;
struct sqlite3_stmt;

/// A wrapper of the parts of SQLite that we need; only database.cpp uses its C interface. Errors of a file are thrown
/// as OutputError, which names it and says what to do; errors in SQL written by users, which runs in memory, as
/// SqlError.
namespace syncline::batch {

/// Returns the error to throw for a file whose content is not what the program has written, with what to do.
OutputError damage(const std::filesystem::path& file, const std::string& what);

/// An error in an expression, in SQLite's words or plainer ones.
class SqlError : public std::runtime_error {
public:
    explicit SqlError(const std::string& message, std::string hint = "", std::string word = "")
        : std::runtime_error(message), hint_(std::move(hint)), word_(std::move(word)) {}
    const std::string& hint() const { return hint_; }  ///< may be empty
    const std::string& word() const { return word_; }  ///< the part of the expression that is wrong, if known

private:
    std::string hint_, word_;
};

/// A value of SQL: nothing, a whole number, a number, or a text.
using Value = std::variant<std::monostate, std::int64_t, double, std::string>;

class Database;

class Statement {
public:
    Statement(Statement&& other) noexcept;
    ~Statement();

    /// Binds parameters from the first on.
    Statement& bind(const std::vector<Value>& values);
    /// Moves to the next row; returns false if there is none. After the last row the statement may be bound again.
    bool step();
    /// Skips the remaining rows.
    void reset();
    Value value(int column) const;
    std::string text(int column) const;
    std::int64_t integer(int column) const;
    int columns() const;
    std::string name(int column) const;

private:
    friend class Database;
    Statement(Database& database, sqlite3_stmt* statement) : database_(database), statement_(statement) {}
    Database& database_;
    sqlite3_stmt* statement_;
};

class Database {
public:
    /// `create` creates an empty file if there is none. `read` changes nothing, except that it rolls back what a killed
    /// program left unfinished, if the file system allows.
    enum class Mode { create, change, read };

    /// Creates a database in memory.
    Database();
    /// Opens a file without changing its content.
    Database(const std::filesystem::path& file, Mode mode);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /// Prepares `sql`, a single statement of ours: see check(). Throws SqlError if it is not valid; in a file, whose
    /// statements are all ours, any such error is damage.
    Statement prepare(std::string_view sql);
    /// Returns a statement that is prepared only once. A caller that does not step to the last row must reset it.
    Statement& kept(std::string_view sql);
    /// Checks an expression from strangers. Throws SqlError unless it is a single one, with all its brackets closed,
    /// that reads only columns of `table`, and calls only functions that do not act. Queries and parameters are
    /// refused. In a database in memory, values of more than 1 MB and patterns of more than 1 kB are errors when the
    /// statement runs.
    void check(const std::string& expression, const std::string& table) const;
    /// Limits the computation from now on, in steps of SQLite's machine rather than seconds, so that the outcome is the
    /// same on every computer. A statement that exceeds it throws SqlError.
    void allow(std::int64_t million_steps);
    /// Runs any number of statements without results.
    void run(const std::string& sql);
    /// Returns the first value of the first row; nothing if there is none.
    Value ask(std::string_view sql, const std::vector<Value>& values = {});
    std::int64_t changes() const;

    /// Sets how the file is written. The setting is permanent, so the file must be known to be a store of ours.
    void keep_journal();

    /// Lets SQL call `function` with any number of arguments. It must be deterministic and must not throw.
    using Function = std::function<Value(const std::vector<Value>&)>;
    void define(const std::string& name, Function function);

private:
    friend class Statement;
    [[noreturn]] void fail(int code) const;
    sqlite3* handle_ = nullptr;
    std::filesystem::path file_;      ///< empty in memory
    std::int64_t million_steps_ = 0;  ///< that allow() has left
    std::vector<std::unique_ptr<Function>> functions_;
    std::map<std::string, Statement, std::less<>> kept_;
};

/// Returns whether `word` is a keyword of SQL.
bool is_keyword(const std::string& word);

/// A transaction: BEGIN IMMEDIATE … COMMIT, or ROLLBACK if commit() is not called.
class Transaction {
public:
    explicit Transaction(Database& database);
    ~Transaction();
    void commit();

private:
    Database& database_;
    bool open_ = true;
};

}  // namespace syncline::batch
