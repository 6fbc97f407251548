#include "sim/store/store.hpp"

#include <filesystem>
#include <fstream>

#include "sim/output/written_files.hpp"
#include "sim/query/derived.hpp"
#include "tests/catch.hpp"
#include "tests/unit/stores.hpp"

using namespace syncline;
using namespace syncline::batch;
using namespace syncline::test;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string bytes_of(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// Returns every row that is compared between stores.
std::vector<std::string> rows_of(const fs::path& directory) {
    Store store(directory, Store::Mode::read);
    std::vector<std::string> rows;
    for (const char* sql : {"SELECT * FROM runs ORDER BY run_id", "SELECT * FROM texts ORDER BY hash",
                            "SELECT * FROM points ORDER BY study, number, repeat"}) {
        Statement statement = store.database().prepare(sql);
        while (statement.step()) {
            rows.emplace_back();
            for (int i = 0; i < statement.columns(); ++i) rows.back() += statement.text(i) + "|";
        }
    }
    return rows;
}

}  // namespace

TEST_CASE("a run's name depends on everything that its result depends on, and on nothing else", "[memory]") {
    const config::Resolved one = point(1).resolved;
    const std::string id = run_id(one, 1);
    CHECK(id.size() == 32);
    CHECK(run_id(one, 1) == id);
    CHECK(run_id(one, 2) != id);
    config::Resolved other = one;
    other.files = {"graph"};
    CHECK(run_id(other, 1) != id);
    other.files = {"gra", "ph"};
    CHECK(run_id(other, 1) != run_id({one.sections, {"graph"}}, 1));
    other = one;
    other.sections[0].identity += "# x\n";
    CHECK(run_id(other, 1) != id);
}

TEST_CASE("a store keeps points, pending runs, and how runs ended", "[memory]") {
    const Scratch scratch;
    Store store(scratch.path, Store::Mode::create);
    note(store, 3);
    CHECK(store.counts("s").pending == 3);
    const auto ids = store.to_run("s", false);
    REQUIRE(ids.size() == 3);
    const PlannedRun planned = store.planned(ids[1]);
    CHECK(planned.scenario == point(2).resolved.sections[0].text + point(2).resolved.sections[1].text);
    store.finish({{ids[0], Status::done, R"({"a":1})", 0.5}, {ids[1], Status::failed, "too slow", 0.1}});
    CHECK(store.status(ids[0]) == Status::done);
    CHECK(store.to_run("s", false) == std::vector{ids[2]});
    CHECK(store.to_run("s", true) == std::vector{ids[1], ids[2]});
    // A finished run stays finished.
    store.finish({{ids[0], Status::failed, "no", 0.5}});
    CHECK(store.status(ids[0]) == Status::done);
    CHECK(store.database().ask("SELECT count(*) FROM attempts") == Value(std::int64_t{3}));
}

TEST_CASE("points that do not fit have failed and are never run", "[memory]") {
    const Scratch scratch;
    Store store(scratch.path, Store::Mode::create);
    config::StudyPoint misfit = point(1);
    misfit.misfit = "no room";
    store.begin_study("s");
    store.add(misfit);
    store.add(point(2));
    store.end_study();
    CHECK(store.counts("s").failed == 1);
    CHECK(store.to_run("s", true).size() == 1);
}

TEST_CASE("points that do not fit are named by their content, not by the error's wording", "[memory]") {
    config::StudyPoint misfit = point(1);
    misfit.misfit = "study.yaml:1:1: no room";
    const std::string id = run_id(misfit);
    CHECK(id != run_id(point(1)));
    misfit.misfit = "../study.yaml:1:1: no room";
    CHECK(run_id(misfit) == id);
    misfit.settings.front().value += "0";  // the resolved text is the same, as far as it exists
    CHECK(run_id(misfit) != id);
}

TEST_CASE("points of an earlier form of a study leave the list, and their results stay", "[memory]") {
    const Scratch scratch;
    Store store(scratch.path, Store::Mode::create);
    note(store, 4);
    finish_all(store);
    store.begin_study("s");
    store.add(point(1));
    store.skip(point(2));
    CHECK(store.end_study() == 2);
    CHECK(store.counts("s").points == 2);
    CHECK(store.database().ask("SELECT count(*) FROM runs") == Value(std::int64_t{4}));
}

TEST_CASE("runs that are not done take the names of files from where the study was read last", "[memory]") {
    const Scratch scratch;
    Store store(scratch.path, Store::Mode::create);
    const auto read_from = [&](const std::string& directory) {
        store.begin_study("s");
        for (int i = 1; i <= 3; ++i) {
            config::StudyPoint one = point(i);
            one.resolved.sections[0].text = "platform: {simgrid_xml: " + directory + "p.xml}\n";
            one.resolved.sections[0].identity = "platform: {simgrid_xml: }\n";
            store.add(one);
        }
        store.end_study();
    };
    const auto names = [&](const std::string& id, const std::string& file) {
        return store.planned(id).scenario.find("simgrid_xml: " + file + "}") != std::string::npos;
    };
    read_from("in/");
    const auto ids = store.to_run("s", false);
    REQUIRE(ids.size() == 3);
    store.finish({{ids[0], Status::done, "{}", 0.1}, {ids[1], Status::failed, "late", 0.1}});
    read_from("");
    CHECK(names(ids[0], "in/p.xml"));  // the row says what was simulated
    CHECK(names(ids[1], "p.xml"));
    CHECK(names(ids[2], "p.xml"));
    store.finish({{ids[1], Status::done, "{}", 0.1}, {ids[2], Status::done, "{}", 0.1}});
    read_from("elsewhere/");
    CHECK(store.database().ask("SELECT count(*) FROM texts WHERE text LIKE '%p.xml%'") == Value(std::int64_t{2}));
    CHECK(Store(scratch.path, Store::Mode::read).counts("s").done == 3);
}

TEST_CASE("an unfinished transaction leaves nothing", "[memory]") {
    const Scratch scratch;
    {
        Store store(scratch.path, Store::Mode::create);
        store.begin_study("s");
        store.add(point(1));
    }
    Store store(scratch.path, Store::Mode::change);
    CHECK(store.counts("s").points == 0);
    CHECK(store.database().ask("SELECT count(*) FROM runs") == Value(std::int64_t{0}));
}

TEST_CASE("stores are equal, row for row, in any order and with any sharing of work") {
    const Scratch whole, first, second, merged;
    constexpr int points = 9;
    {
        Store all(whole.path, Store::Mode::create);
        note(all, points);
        finish_all(all);
        for (int shard : {0, 1}) {
            Store part(shard == 0 ? first.path : second.path, Store::Mode::create);
            part.begin_study("s");
            for (int i = points; i >= 1; --i) {
                if (i % 2 == shard)
                    part.add(point(i));
                else
                    part.skip(point(i));
            }
            part.end_study();
            finish_all(part);
        }
    }
    merge_stores({second.path, first.path / "results.db"}, merged.path, false);
    CHECK(rows_of(merged.path) == rows_of(whole.path));
    CHECK_THROWS_WITH(merge_stores({first.path}, merged.path, false), ContainsSubstring("already exists"));
}

TEST_CASE("stores whose files have other names merge to the same rows in any order") {
    const Scratch one, other, merged, reversed;
    for (const auto& [path, directory] : {std::pair{one.path, "in/"}, std::pair{other.path, ""}}) {
        Store store(path, Store::Mode::create);
        store.begin_study("s");
        for (int i = 1; i <= 3; ++i) {
            config::StudyPoint named = point(i);
            named.resolved.sections[0].text = std::string("platform: {simgrid_xml: ") + directory + "p.xml}\n";
            named.resolved.sections[0].identity = "platform: {simgrid_xml: }\n";
            store.add(named);
        }
        store.end_study();
        const auto ids = store.to_run("s", false);
        store.finish({{ids[0], Status::done, "{}", 0.1}, {ids[1], Status::failed, "late", 0.1}});
    }
    merge_stores({one.path, other.path}, merged.path, false);
    merge_stores({other.path, one.path}, reversed.path, false);
    CHECK(rows_of(merged.path) == rows_of(reversed.path));
}

TEST_CASE("different results of one run are not merged, and nothing is left behind", "[memory]") {
    const Scratch one, other, merged;
    for (const auto& [path, result] : {std::pair{one.path, "{\"a\":1}"}, std::pair{other.path, "{\"a\":2}"}}) {
        Store store(path, Store::Mode::create);
        note(store, 1);
        store.finish({{store.to_run("s", false)[0], Status::done, result, 0.1}});
    }
    CHECK_THROWS_WITH(merge_stores({one.path, other.path}, merged.path, false), ContainsSubstring("differ"));
    CHECK(fs::is_empty(merged.path));
}

TEST_CASE("a result replaces a failure when stores are merged") {
    const Scratch one, other, merged;
    std::string id;
    for (const auto& [path, status] : {std::pair{one.path, Status::done}, std::pair{other.path, Status::failed}}) {
        Store store(path, Store::Mode::create);
        note(store, 1);
        id = store.to_run("s", false)[0];
        store.finish({{id, status, "{}", 0.1}});
    }
    merge_stores({one.path, other.path}, merged.path, false);
    CHECK(Store(merged.path, Store::Mode::read).status(id) == Status::done);
}

TEST_CASE("a flipped byte anywhere, or a missing end, is detected and nothing is changed") {
    const Scratch scratch;
    {
        Store store(scratch.path, Store::Mode::create);
        note(store, 20);
        finish_all(store);
    }
    const fs::path file = scratch.path / "results.db";
    const std::string good = bytes_of(file);
    std::size_t seen = 0, harmless = 0;
    const std::vector<std::string> rows = rows_of(scratch.path);
    for (std::size_t at = 0; at < good.size(); at += 211) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ 0x15);
        write_bytes(file, bad);
        try {
            // Changes of free space, which nobody reads, must make no difference.
            if (rows_of(scratch.path) == rows)
                ++harmless;
            else
                FAIL_CHECK("byte " << at << " changes rows unseen");
        } catch (const OutputError&) {
            ++seen;
        }
        CHECK(bytes_of(file) == bad);
    }
    CHECK(seen > 20);
    CHECK(harmless > 0);
    write_bytes(file, good.substr(0, good.size() / 2));
    CHECK_THROWS_AS(Store(scratch.path, Store::Mode::change), OutputError);
    CHECK(bytes_of(file).size() == good.size() / 2);
}

TEST_CASE("forged rows, whose checksums are right, are damage and no bug") {
    const auto seal_run =
        "checksum = hash(run_id, version, seed || '', platform, workload, training, collective, status, message, "
        "result)";
    const auto seal_point = "checksum = hash(study, number || '', repeat || '', settings, run_id)";
    const std::pair<const char*, const char*> forged[] = {
        {"runs", "result = '{'"},
        {"runs", "result = '[1]'"},
        {"runs", "result = '5'"},
        {"runs", "result = '{\"a\":1e999}'"},
        {"runs", "result = '{\"a\":1,\"A\":2}'"},
        {"runs", "result = '{\"a\":\"' || hex(zeroblob(1000000)) || '\"}'"},
        {"runs", "result = CAST(x'7b2261223a22ff227d' AS TEXT)"},
        {"runs", "result = replace(hex(zeroblob(100000)), '00', '{\"a\":')"},
        {"runs", "result = x'00'"},
        {"runs", "message = x'00'"},
        {"runs", "message = hex(zeroblob(1000000))"},
        {"runs", "status = 'perhaps'"},
        {"runs", "status = 1"},
        {"runs", "seed = 'x'"},
        {"runs", "seed = -1"},
        {"runs", "seed = 1.5"},
        {"runs", "run_id = 'z' || substr(run_id, 2)"},
        {"runs", "run_id = NULL"},
        {"points", "settings = '{'"},
        {"points", "settings = '5'"},
        {"points", "settings = '{\"a\":1}'"},
        {"points", "settings = '{\"a\":\"1\",\"A\":\"1\"}'"},
        {"points", "settings = x'00'"},
        {"points", "number = 'one'"},
        {"points", "repeat = 1.5"},
        {"points", "study = x'00'"},
        {"points", "run_id = 'x'"},
    };
    for (const auto& [table, change] : forged) {
        CAPTURE(table, change);
        const Scratch scratch;
        {
            Store store(scratch.path, Store::Mode::create);
            note(store, 2);
            finish_all(store);
            const std::string of_run = std::string(" WHERE run_id = (SELECT min(run_id) FROM runs)");
            store.database().run(fmt::format("UPDATE {} SET {}{}", table, change, of_run));
            for (const auto& [sealed, seal] : {std::pair{"runs", seal_run}, std::pair{"points", seal_point}})
                store.database().run(fmt::format("UPDATE {} SET {}", sealed, seal));
        }
        const auto read = [&] {
            Store store(scratch.path, Store::Mode::change);
            write_derived(store);
        };
        CHECK_THROWS_WITH(read(), ContainsSubstring("is damaged") && ContainsSubstring("hint: move it away"));
    }
}

TEST_CASE("other files and stores of other versions are refused and left unchanged", "[memory]") {
    const Scratch scratch;
    fs::create_directories(scratch.path);
    const fs::path file = scratch.path / "results.db";
    const auto refused = [&](const std::string& why) {
        const std::string before = bytes_of(file);
        for (const Store::Mode mode : {Store::Mode::create, Store::Mode::change, Store::Mode::read})
            CHECK_THROWS_WITH(Store(scratch.path, mode), ContainsSubstring(why) && ContainsSubstring("results.db"));
        CHECK(bytes_of(file) == before);
    };
    write_bytes(file, std::string(5000, 'x'));
    refused("is not an SQLite database");
    fs::remove(file);
    Database(file, Database::Mode::create).run("CREATE TABLE other(x)");
    refused("another program's database");
    Database(file, Database::Mode::change).ask("PRAGMA journal_mode = WAL");
    refused("another program's database");
    fs::remove(file);
    Store(scratch.path, Store::Mode::create);
    Database(file, Database::Mode::change).run("UPDATE meta SET value = '0.0.9'");
    refused("was written by syncline 0.0.9");
    Database(file, Database::Mode::change).run("PRAGMA user_version = 99");
    refused("format 99");
    write_bytes(file, "");
    CHECK_THROWS_WITH(Store(scratch.path, Store::Mode::read), ContainsSubstring("is empty"));
    Store(scratch.path, Store::Mode::create);
}

TEST_CASE("a directory that is a file, or has no store, is an error", "[memory]") {
    const Scratch scratch;
    CHECK_THROWS_WITH(Store(scratch.path, Store::Mode::read), ContainsSubstring("syncline batch"));
    write_bytes(scratch.path / "file", "x");
    CHECK_THROWS_WITH(Store(scratch.path / "file", Store::Mode::create), ContainsSubstring("not a directory"));
    fs::create_directories(scratch.path / "results.db");
    CHECK_THROWS_AS(Store(scratch.path, Store::Mode::create), OutputError);
}

TEST_CASE("a full disk is an error, and earlier results stay", "[memory]") {
    const Scratch scratch;
    Store store(scratch.path, Store::Mode::create);
    note(store, 2);
    const auto ids = store.to_run("s", false);
    store.finish({{ids[0], Status::done, "{\"a\":1}", 0.1}});
    store.database().ask("PRAGMA max_page_count = 1");  // SQLite enlarges the limit to the present size
    CHECK_THROWS_WITH(store.finish({{ids[1], Status::done, std::string(100'000, ' ') + "{}", 0.1}}),
                      ContainsSubstring("the disk is full") && ContainsSubstring("results.db"));
    CHECK(store.status(ids[0]) == Status::done);
    CHECK(store.status(ids[1]) == Status::pending);
}

TEST_CASE("a reader undoes what a killed program left half written", "[memory]") {
    const Scratch scratch, copy;
    std::vector<std::string> rows;
    {
        Store store(scratch.path, Store::Mode::create);
        note(store, 50);
        rows = rows_of(scratch.path);
        // With a small cache, pages are written to the file before the commit: files copied then are what a kill
        // leaves.
        store.database().run("PRAGMA cache_size = 2");
        Transaction transaction(store.database());
        store.database().run("UPDATE runs SET message = hex(zeroblob(3000))");
        for (const char* name : {"results.db", "results.db-journal"})
            write_bytes(copy.path / name, bytes_of(scratch.path / name));
    }
    REQUIRE(fs::file_size(copy.path / "results.db-journal") > 0);
    CHECK(rows_of(copy.path) == rows);
}

TEST_CASE("derived files hold every point once", "[memory]") {
    const Scratch scratch;
    Store store(scratch.path, Store::Mode::create);
    note(store, 3);
    store.finish({{store.to_run("s", false)[0], Status::done, R"({"time_s":0.25,"name":"a,\"b\"","list":[1,2]})", 1}});
    write_derived(store);
    const std::string csv = bytes_of(scratch.path / "results.csv");
    CHECK_THAT(csv, ContainsSubstring("study,point,repeat,seed,run_id,status,message,ranks,time_s,name\n"));
    CHECK_THAT(csv, ContainsSubstring(",done,,1,0.25,\"a,\"\"b\"\"\"\n"));
    const auto lines = point_lines(store);
    REQUIRE(lines.size() == 3);
    CHECK_THAT(lines[0].json,
               ContainsSubstring("\"list\":[1,2]") && ContainsSubstring("\"settings\":{\"training.ranks\":\"1\"}"));
    CHECK_THAT(lines[2].json, ContainsSubstring("\"result\":null"));
}

TEST_CASE("a computation ends after the steps that it is allowed, on every computer", "[memory]") {
    const std::string endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c";
    Database memory;
    memory.allow(3);
    CHECK_THROWS_WITH(memory.ask(endless), ContainsSubstring("takes too long"));
    CHECK_THROWS_AS(memory.ask(endless), SqlError);
    memory.allow(3);
    CHECK(memory.ask("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 10000) SELECT max(x) "
                     "FROM c") == Value(std::int64_t{10'000}));
}
