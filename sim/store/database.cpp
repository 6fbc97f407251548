#include "sim/store/database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "sim/base/did_you_mean.hpp"
#include "sim/base/regular_file.hpp"
#include "sim/output/written_files.hpp"

namespace syncline::batch {

namespace {

/// Maximum wait for another program's transaction, which may be adding the points of a large study.
constexpr int patience_ms = 120'000;

Value value_of(sqlite3_value* value) {
    switch (sqlite3_value_type(value)) {
        case SQLITE_INTEGER:
            return static_cast<std::int64_t>(sqlite3_value_int64(value));
        case SQLITE_FLOAT:
            return sqlite3_value_double(value);
        case SQLITE_NULL:
            return {};
        default: {
            const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
            return std::string(text == nullptr ? "" : text, static_cast<std::size_t>(sqlite3_value_bytes(value)));
        }
    }
}

void call(sqlite3_context* context, int count, sqlite3_value** values) {
    std::vector<Value> arguments;
    for (int i = 0; i < count; ++i) arguments.push_back(value_of(values[i]));
    const Value result = (*static_cast<Database::Function*>(sqlite3_user_data(context)))(arguments);
    if (const auto* whole = std::get_if<std::int64_t>(&result))
        sqlite3_result_int64(context, *whole);
    else if (const auto* number = std::get_if<double>(&result))
        sqlite3_result_double(context, *number);
    else if (const auto* text = std::get_if<std::string>(&result))
        sqlite3_result_text64(context, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    else
        sqlite3_result_null(context);
}

/// Maximum length of a value in memory, in bytes.
constexpr int longest = 1'000'000;

/// Maximum length of a pattern of LIKE and GLOB, which are as slow as the product of the lengths of pattern and text.
constexpr int longest_pattern = 1000;

/// The functions that expressions may call. None acts, and none makes a long value from a number or a short text.
const std::vector<std::string> functions{
    "quantity", "root",    "abs",      "acos",     "acosh",  "asin",    "asinh",     "atan",  "atan2",   "atanh",
    "ceil",     "ceiling", "coalesce", "cos",      "cosh",   "degrees", "exp",       "floor", "glob",    "ifnull",
    "iif",      "instr",   "length",   "like",     "likely", "ln",      "log",       "log10", "log2",    "lower",
    "ltrim",    "max",     "min",      "mod",      "nullif", "pi",      "pow",       "power", "radians", "round",
    "rtrim",    "sign",    "sin",      "sinh",     "sqrt",   "substr",  "substring", "tan",   "tanh",    "trim",
    "trunc",    "typeof",  "unicode",  "unlikely", "upper"};

/// The hint for functions of several points, and others that are not allowed.
constexpr const char* about_one_point = "an expression is about one point; for means of several use results --group";

struct Guard {
    const std::string& table;
    bool selects = false;
    std::optional<std::string> refused;  ///< the function that was refused; empty if it was something else
};

/// Allows the one query that the expression is checked in, columns of its table, and the functions.
int authorise(void* data, int action, const char* first, const char* second, const char*, const char*) {
    Guard& guard = *static_cast<Guard*>(data);
    if (action == SQLITE_READ && first == guard.table) return SQLITE_OK;
    if (action == SQLITE_SELECT && !std::exchange(guard.selects, true)) return SQLITE_OK;
    const bool calls = action == SQLITE_FUNCTION;
    if (calls && std::find(functions.begin(), functions.end(), second) != functions.end()) return SQLITE_OK;
    guard.refused = calls ? second : "";
    return SQLITE_DENY;
}

/// Returns the hint for an error of SQLite's parser; it may be empty.
std::string hint_for(std::string_view message) {
    constexpr std::string_view unknown = "no such function: ";
    if (message.starts_with(unknown)) return did_you_mean(message.substr(unknown.size()), functions, about_one_point);
    return message.starts_with("misuse of") ? about_one_point : "";
}

/// Returns the system's error message, else that of SQLite.
std::string reason(sqlite3* handle) {
    int code = sqlite3_system_errno(handle);
    // A commit that fails leaves the error with its file, which is the database or its journal.
    if (code == 0) sqlite3_file_control(handle, "main", SQLITE_FCNTL_LAST_ERRNO, &code);
    sqlite3_file* journal = nullptr;
    if (code == 0) sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &journal);
    if (journal != nullptr && journal->pMethods != nullptr)
        journal->pMethods->xFileControl(journal, SQLITE_FCNTL_LAST_ERRNO, &code);
    return code != 0 ? std::strerror(code) : sqlite3_errmsg(handle);
}

}  // namespace

OutputError damage(const std::filesystem::path& file, const std::string& what) {
    return OutputError(
        fmt::format("error: {0} is damaged: {1}\n  hint: move it away and run its batch again; `sqlite3 {0} "
                    ".recover` shows what can still be read, and results.csv and results.jsonl beside it are from the "
                    "last batch that ended",
                    file.string(), what));
}

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)) {}

Statement::~Statement() {
    sqlite3_finalize(statement_);
}

Statement& Statement::bind(const std::vector<Value>& values) {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const int place = static_cast<int>(i) + 1;
        int code = SQLITE_OK;
        if (const auto* whole = std::get_if<std::int64_t>(&values[i]))
            code = sqlite3_bind_int64(statement_, place, *whole);
        else if (const auto* number = std::get_if<double>(&values[i]))
            code = sqlite3_bind_double(statement_, place, *number);
        else if (const auto* text = std::get_if<std::string>(&values[i]))
            code = sqlite3_bind_text64(statement_, place, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
        if (code != SQLITE_OK) database_.fail(code);
    }
    return *this;
}

bool Statement::step() {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    sqlite3_reset(statement_);
    if (code != SQLITE_DONE) database_.fail(code);
    return false;
}

void Statement::reset() {
    sqlite3_reset(statement_);
}

Value Statement::value(int column) const {
    switch (sqlite3_column_type(statement_, column)) {
        case SQLITE_INTEGER:
            return integer(column);
        case SQLITE_FLOAT:
            return sqlite3_column_double(statement_, column);
        case SQLITE_NULL:
            return {};
        default:
            return text(column);
    }
}

std::string Statement::text(int column) const {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return {text == nullptr ? "" : text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(statement_, column);
}

int Statement::columns() const {
    return sqlite3_column_count(statement_);
}

std::string Statement::name(int column) const {
    return sqlite3_column_name(statement_, column);
}

Database::Database() {
    const int code = sqlite3_open(":memory:", &handle_);
    if (code != SQLITE_OK) fail(code);
    // Otherwise a misspelt name in double quotes would be a text.
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
    sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, longest);
    sqlite3_limit(handle_, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, longest_pattern);
}

Database::Database(const std::filesystem::path& file, Mode mode) : file_(file) {
    std::error_code error;
    if (std::filesystem::exists(file, error) && !is_regular(file))
        throw OutputError(fmt::format("error: {} is not a regular file", file.string()));
    // A reader, too, must roll back what a killed program left unfinished, if permissions allow.
    const int flags = SQLITE_OPEN_READWRITE | (mode == Mode::create ? SQLITE_OPEN_CREATE : 0);
    const int code = sqlite3_open_v2(file.c_str(), &handle_, flags, nullptr);
    try {
        if (code != SQLITE_OK) fail(code);
        sqlite3_extended_result_codes(handle_, 1);
        sqlite3_busy_timeout(handle_, patience_ms);
        if (mode == Mode::read)
            run("PRAGMA query_only = 1");
        else if (sqlite3_db_readonly(handle_, "main") == 1)
            fail(SQLITE_READONLY);
    } catch (...) {
        sqlite3_close(handle_);
        throw;
    }
}

Database::~Database() {
    sqlite3_close_v2(handle_);
}

Statement Database::prepare(std::string_view sql) {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
    if (code != SQLITE_OK) fail(code);
    return Statement(*this, statement);
}

Statement& Database::kept(std::string_view sql) {
    const auto found = kept_.find(sql);
    return found != kept_.end() ? found->second : kept_.emplace(sql, prepare(sql)).first->second;
}

void Database::check(const std::string& expression, const std::string& table) const {
    // At the end of a statement an expression must be whole, and in brackets it must be single: no comment, list or
    // further clause passes both.
    for (const auto& [open, close] : {std::pair{"", ""}, std::pair{"(", ")"}}) {
        const std::string begin = fmt::format("SELECT 1 FROM {} ORDER BY NOT {}", table, open);
        const std::string sql = begin + expression + close;
        Guard guard{table, false, {}};
        sqlite3_stmt* statement = nullptr;
        sqlite3_set_authorizer(handle_, authorise, &guard);
        const int code = sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
        sqlite3_set_authorizer(handle_, nullptr, nullptr);
        const bool bound = sqlite3_bind_parameter_count(statement) > 0;
        sqlite3_finalize(statement);
        if (guard.refused && guard.refused->empty())
            throw SqlError("an expression must not contain a query", "name columns and functions of them");
        if (guard.refused)
            throw SqlError(fmt::format("the function '{}' is not allowed", *guard.refused), about_one_point,
                           *guard.refused);
        if (bound)
            throw SqlError("an expression must not have parameters, such as ? and :name",
                           "write values, and names of columns");
        if (code == SQLITE_ERROR) {
            const std::string message = sqlite3_errmsg(handle_);
            // It was whole without brackets, so the closing one is in a comment.
            if (*open != '\0' && message == "incomplete input")
                throw SqlError("an expression must not end with a comment", "", expression);
            const int at = sqlite3_error_offset(handle_) - static_cast<int>(begin.size());
            const bool inside = at >= 0 && at < static_cast<int>(expression.size());
            throw SqlError(message, hint_for(message), inside ? expression.substr(static_cast<std::size_t>(at)) : "");
        }
        if (code != SQLITE_OK) fail(code);
    }
}

void Database::allow(std::int64_t million_steps) {
    million_steps_ = million_steps;
    const auto exceeded = [](void* left) { return --*static_cast<std::int64_t*>(left) < 0 ? 1 : 0; };
    sqlite3_progress_handler(handle_, 1'000'000, exceeded, &million_steps_);
}

void Database::run(const std::string& sql) {
    const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) fail(code);
}

Value Database::ask(std::string_view sql, const std::vector<Value>& values) {
    Statement statement = prepare(sql);
    if (!statement.bind(values).step()) return {};
    return statement.value(0);
}

std::int64_t Database::changes() const {
    return sqlite3_changes64(handle_);
}

void Database::keep_journal() {
    // This journal mode keeps the database in one file and works on any file system. Truncating the journal instead of
    // deleting it avoids a write to the directory.
    ask("PRAGMA journal_mode = TRUNCATE");
    run("PRAGMA synchronous = FULL");
}

void Database::define(const std::string& name, Function function) {
    functions_.push_back(std::make_unique<Function>(std::move(function)));
    const int code = sqlite3_create_function_v2(handle_, name.c_str(), -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                                functions_.back().get(), call, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) fail(code);
}

void Database::fail(int code) const {
    const auto refuse = [&](const char* doing, const std::string& why, const char* what_now) {
        throw OutputError(fmt::format("error: cannot {} {}: {}{}", doing,
                                      file_.empty() ? "the table in memory" : file_.string(), why, what_now));
    };
    if (code == SQLITE_READONLY_ROLLBACK || code == SQLITE_READONLY_RECOVERY)
        refuse("read", "a killed program left it half written, and it is read-only",
               "; copy its directory to a writable place");
    if (code == SQLITE_READONLY_DBMOVED)
        refuse("write", "it was moved or deleted while the program used it",
               "; bring it back, and run the same command again");
    switch (code & 0xff) {
        case SQLITE_NOMEM:
            throw std::bad_alloc();
        case SQLITE_FULL:
            refuse("write", "the disk is full", "; its previous content is unchanged");
            break;
        case SQLITE_IOERR:
            if (code == SQLITE_IOERR_SHORT_READ) throw damage(file_, "it ends too early");
            refuse("read or write", reason(handle_), "; its previous content is unchanged");
            break;
        case SQLITE_READONLY:
            refuse("write", "it is read-only", "");
            break;
        case SQLITE_PERM:
        case SQLITE_AUTH:
        case SQLITE_CANTOPEN:
            refuse("open", reason(handle_), "");
            break;
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
        case SQLITE_PROTOCOL:
            refuse("use", fmt::format("another program has locked it for {} s", patience_ms / 1000), "");
            break;
        case SQLITE_CORRUPT:
            throw damage(file_, sqlite3_errmsg(handle_));
        case SQLITE_NOTADB:
            throw damage(file_, "it is not an SQLite database");
    }
    if (!file_.empty()) throw damage(file_, sqlite3_errmsg(handle_));
    if (code == SQLITE_INTERRUPT)
        throw SqlError("this takes too long to compute",
                       "write a shorter expression, or one that selects fewer points");
    throw SqlError(sqlite3_errmsg(handle_));
}

bool is_keyword(const std::string& word) {
    return sqlite3_keyword_check(word.data(), static_cast<int>(word.size())) != 0;
}

Transaction::Transaction(Database& database) : database_(database) {
    database_.run("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
    if (!open_) return;
    try {
        database_.run("ROLLBACK");
    } catch (const std::exception&) {
        // The error that ended the transaction has already rolled it back.
    }
}

void Transaction::commit() {
    database_.run("COMMIT");
    open_ = false;
}

}  // namespace syncline::batch
