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

struct sqlite3;
struct sqlite3_stmt;

/// SQLite, as far as we need it. Only this folder's database.cpp knows its C interface.
///
/// What the file system refuses (full disk, no permission, damage) is thrown as OutputError that names the file and
/// says what to do; an SQL text that a person wrote wrongly as SqlError.
namespace syncline::batch {

/// What is wrong with an expression, in SQLite's words or plainer ones.
class SqlError : public std::runtime_error {
public:
    explicit SqlError(const std::string& message, std::string hint = "", std::string word = "")
        : std::runtime_error(message), hint_(std::move(hint)), word_(std::move(word)) {}
    const std::string& hint() const { return hint_; }  ///< may be empty
    const std::string& word() const { return word_; }  ///< the part of the expression that is wrong, if known

private:
    std::string hint_, word_;
};

/// Nothing, a whole number, a number, or a text.
using Value = std::variant<std::monostate, std::int64_t, double, std::string>;

class Database;

class Statement {
public:
    Statement(Statement&& other) noexcept;
    ~Statement();

    /// Binds parameters from the first on.
    Statement& bind(const std::vector<Value>& values);
    /// The next row; false if there is none. After the last one the statement may be bound again.
    bool step();
    /// Leaves the rows that are left.
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
    /// `create` makes an empty file if there is none. `read` changes nothing, but for what a killed program left half
    /// done, which is undone where the file system allows.
    enum class Mode { create, change, read };

    /// In memory.
    Database();
    /// Changes nothing of a file that is there.
    Database(const std::filesystem::path& file, Mode mode);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /// `sql` is one statement. Throws SqlError if it is none.
    Statement prepare(std::string_view sql);
    /// The same, prepared once for all times; whoever does not step to the last row resets it.
    Statement& kept(std::string_view sql);
    /// Any number of statements without results.
    void run(const std::string& sql);
    /// The first value of the first row; nothing if there is none.
    Value ask(std::string_view sql, const std::vector<Value>& values = {});
    std::int64_t changes() const;

    /// Settles how the file is written: for good, so only once it is known to be one of ours.
    void keep_journal();

    /// Lets SQL call `function`, of any number of arguments; it returns the same for the same and throws nothing.
    using Function = std::function<Value(const std::vector<Value>&)>;
    void define(const std::string& name, Function function);

private:
    friend class Statement;
    [[noreturn]] void fail(int code) const;
    sqlite3* handle_ = nullptr;
    std::string shown_;
    std::vector<std::unique_ptr<Function>> functions_;
    std::map<std::string, Statement, std::less<>> kept_;
};

/// Whether `word` has a meaning of its own in SQL.
bool is_keyword(const std::string& word);

/// BEGIN IMMEDIATE … COMMIT, or ROLLBACK if it ends otherwise.
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
