#pragma once

#include <sqlite3.h>
#include <unistd.h>

#include <cctype>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

/// Batches of small exchanges, and what they leave: their stores, as SQLite reads them, and processes.
namespace syncline::test {

/// An exchange of 16 ranks on the small platform, which tests vary.
inline constexpr std::string_view small_exchange = R"(platform: platform.yaml
collective: {operation: allreduce, algorithm: ring, ranks: 16, bytes: 1 MB}
)";

/// A study of that exchange at `points` sizes, in its directory.
struct StudyBench : TempDir {
    explicit StudyBench(int points, const std::string& more = "") {
        write("platform.yaml", tiny_platform);
        write("exchange.yaml", small_exchange);
        write("study.yaml", study(points, more));
    }

    static std::string study(int points, const std::string& more = "") {
        std::ostringstream text;
        text << "base: exchange.yaml\naxes:\n  collective.bytes: [";
        for (int i = 1; i <= points; ++i) text << (i > 1 ? ", " : "") << i << " kB";
        text << "]\n" << more;
        return text.str();
    }

    Invocation batch(std::vector<std::string> options = {}) const {
        options.insert(options.begin(), {"batch", "study.yaml", "--out", "out"});
        return {.arguments = std::move(options), .directory = path()};
    }
};

using Line = std::vector<std::string>;

/// All rows of a query on DIR/results.db, NULL as "NULL".
inline std::vector<Line> query(const fs::path& directory, const std::string& sql) {
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open_v2((directory / "results.db").c_str(), &database, SQLITE_OPEN_READWRITE, nullptr) ==
            SQLITE_OK);
    sqlite3_busy_timeout(database, 10'000);
    sqlite3_stmt* statement = nullptr;
    CAPTURE(sql, sqlite3_errmsg(database));
    REQUIRE(sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK);
    std::vector<Line> rows;
    int code = SQLITE_ROW;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        Line row;
        for (int i = 0; i < sqlite3_column_count(statement); ++i) {
            const void* text = sqlite3_column_text(statement, i);
            row.emplace_back(text == nullptr ? "NULL" : static_cast<const char*>(text));
        }
        rows.push_back(std::move(row));
    }
    CHECK(code == SQLITE_DONE);
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return rows;
}

inline std::string value(const fs::path& directory, const std::string& sql) {
    const std::vector<Line> rows = query(directory, sql);
    REQUIRE(rows.size() == 1);
    return rows.front().front();
}

/// Returns the columns that do not depend on how the batch ran: all but the attempts.
inline std::map<std::string, std::vector<Line>> content(const fs::path& directory) {
    return {{"runs", query(directory, "SELECT * FROM runs ORDER BY run_id")},
            {"texts", query(directory, "SELECT * FROM texts ORDER BY hash")},
            {"points", query(directory, "SELECT * FROM points ORDER BY study, number, repeat")}};
}

/// Returns whether any process still works in `directory` after two seconds.
inline bool someone_is_in(const fs::path& directory) {
    const auto is_there = [&] {
        for (const auto& entry : fs::directory_iterator("/proc")) {
            std::error_code gone;
            if (fs::read_symlink(entry.path() / "cwd", gone) == fs::canonical(directory)) return true;
        }
        return false;
    };
    for (int i = 0; i < 100; ++i) {
        if (!is_there()) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
}

/// Runs a batch with `--out out`, calls `disturb` with its store when more than ten runs are done, and returns its
/// outcome.
inline Outcome disturbed(const Invocation& invocation, const std::function<void(const fs::path&)>& disturb) {
    auto batch = std::async(std::launch::async, [&] { return run_program(invocation); });
    const fs::path out = invocation.directory / "out";
    const auto far_enough = [&] {
        return fs::exists(out / "results.db") &&
               !query(out, "SELECT name FROM sqlite_master WHERE name = 'runs'").empty() &&
               std::stoi(value(out, "SELECT count(*) FROM runs WHERE status = 'done'")) > 10;
    };
    while (!far_enough() && batch.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
    }
    disturb(out / "results.db");
    return batch.get();
}

inline bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace syncline::test
