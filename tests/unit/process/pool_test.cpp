#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/base/interrupt.hpp"
#include "sim/batch/batch.hpp"
#include "sim/process/isolated.hpp"
#include "sim/process/pool.hpp"
#include "sim/store/store.hpp"
#include "tests/catch.hpp"
#include "tests/sanitized.hpp"
#include "tests/unit/stores.hpp"

// Concurrent work that returns, throws, dies, hangs, is large or exhausts the memory.

using namespace syncline;
using namespace syncline::batch;
using namespace syncline::test;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Returns all work that has ended, by id, once none is active.
std::map<std::string, Ended> all_of(Pool& pool) {
    std::map<std::string, Ended> all;
    while (!pool.idle())
        for (Ended& ended : pool.ended(10)) all.emplace(ended.id, ended);
    return all;
}

Ended only(const std::function<std::string()>& work, std::optional<double> timeout_s = {}) {
    Pool pool(1, timeout_s);
    pool.start("one", work);
    return all_of(pool).at("one");
}

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

void sleep_s(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

}  // namespace

TEST_CASE("pool: results of any size are returned", "[memory]") {
    const std::size_t size = GENERATE(0u, 1u, 65535u, 65536u, 65537u, 20'000'000u);
    const Ended ended = only([&] { return std::string(size, 'x'); });
    CHECK(ended.done);
    CHECK(ended.text == std::string(size, 'x'));
}

TEST_CASE("pool: each piece of work has its own answer, and at most `jobs` pieces run concurrently", "[memory]") {
    Pool pool(3, {});
    std::map<std::string, Ended> all;
    for (int i = 0; i < 20; ++i) {
        while (pool.full())
            for (Ended& ended : pool.ended(10)) all.emplace(ended.id, ended);
        CHECK(pool.size() < 3);
        pool.start(std::to_string(i), [i] {
            if (i % 3 == 0) throw std::runtime_error("threw " + std::to_string(i));
            return "did " + std::to_string(i);
        });
    }
    all.merge(all_of(pool));
    REQUIRE(all.size() == 20);
    for (int i = 0; i < 20; ++i) {
        const Ended& ended = all.at(std::to_string(i));
        CHECK(ended.done == (i % 3 != 0));
        CHECK(ended.text == (i % 3 == 0 ? "threw " : "did ") + std::to_string(i));
    }
}

TEST_CASE("pool: work runs concurrently") {
    Pool pool(4, {});
    const auto start = Clock::now();
    for (int i = 0; i < 4; ++i) pool.start(std::to_string(i), [] { return sleep_s(0.5), ""; });
    CHECK(all_of(pool).size() == 4);
    CHECK(seconds_since(start) < 1.5);  // instead of two seconds
}

TEST_CASE("pool: it waits as long as it may before it says that nothing has ended", "[memory]") {
    Pool pool(1, {});
    pool.start("one", [] { return sleep_s(60), ""; });  // killed when the pool ends
    const auto start = Clock::now();
    CHECK(pool.ended(0.2).empty());
    CHECK(seconds_since(start) >= 0.2);
}

TEST_CASE("pool: users' errors and our bugs return with their text", "[memory]") {
    const Ended wrong = only([]() -> std::string { throw ConfigError({{{"x.yaml", 3, 1, "a: 1"}, "is wrong", ""}}); });
    CHECK_FALSE(wrong.done);
    CHECK(holds(wrong.text, "x.yaml:3:1: error: is wrong"));
    const Ended bug = only([]() -> std::string { throw std::logic_error("two and two make five"); });
    CHECK_FALSE(bug.done);
    CHECK(bug.text == "a bug in syncline: two and two make five");
    const Ended talkative = only([]() -> std::string {
        std::fprintf(stderr, "process %d\n", getpid());
        throw std::runtime_error("no");
    });
    CHECK(talkative.text == "no");
}

TEST_CASE("pool: work that dies has failed, with its signal and its last words", "[memory]") {
    const Ended killed = only([]() -> std::string { return std::fputs("at ease\n", stderr), raise(SIGKILL), ""; });
    CHECK_FALSE(killed.done);
    CHECK(killed.text == "the simulation was killed by signal 9 (Killed); it may have run out of memory");
    const Ended aborted = only([]() -> std::string {
        std::fputs("no stack at 0x7ffc1a2b\n", stderr);
        std::signal(SIGABRT, SIG_DFL);  // which Catch has taken
        std::abort();
    });
    CHECK(aborted.text ==
          "the simulation was killed by signal 6 (Aborted); it may have run out of memory; its output: no stack at "
          "0x...");
    const Ended silent = only([]() -> std::string { _exit(3); });
    CHECK(silent.text == "a bug in syncline: the simulation ended without an answer");
}

TEST_CASE("pool: workers and their children ignore the signals that end the program", "[memory]") {
    const int signal = GENERATE(SIGINT, SIGTERM);
    const Ended ended = only([&] {
        raise(signal);
        return isolate([&] { return raise(signal), std::string("goes on"); });
    });
    CHECK(ended.done);
    CHECK(ended.text == "goes on");
}

TEST_CASE("pool: of a long last output the last lines are kept", "[memory]") {
    const Ended ended = only([]() -> std::string {
        for (int i = 0; i < 10'000; ++i) std::fprintf(stderr, "line %d\n", i);
        std::signal(SIGABRT, SIG_DFL);  // which Catch has taken
        std::abort();
    });
    CHECK(holds(ended.text, "its output: line 99"));
    CHECK(holds(ended.text, "line 9998\nline 9999"));
    CHECK(ended.text.size() < 600);
}

TEST_CASE("pool: work that hangs is killed at its timeout with its children, and the rest continues") {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    {
        Pool pool(2, 0.4);
        const auto start = Clock::now();
        pool.start("hangs", [&] {
            if (fork() == 0) sleep_s(30);
            sleep_s(30);
            return "";
        });
        pool.start("works", [] { return "done"; });
        const auto all = all_of(pool);
        CHECK(all.at("works").done);
        CHECK_FALSE(all.at("hangs").done);
        CHECK(all.at("hangs").text == "took longer than --timeout 0.4 s");
        CHECK(all.at("hangs").wall_s >= 0.4);
        CHECK(seconds_since(start) < 5);
    }
    // No process is left that could write into the pipe.
    close(ends[1]);
    char byte;
    CHECK(read(ends[0], &byte, 1) == 0);
    close(ends[0]);
}

TEST_CASE("pool: work that exhausts the memory reports it") {
#if !defined(SYNCLINE_SANITIZED)
    const Ended ended = only([] {
        const rlimit limit{2'000'000'000, 2'000'000'000};
        setrlimit(RLIMIT_AS, &limit);
        std::vector<std::string> all;
        while (true) all.emplace_back(100'000'000, 'x');
        return std::string();
    });
    CHECK_FALSE(ended.done);
    CHECK(holds(ended.text, "the simulation needs more memory than is available"));
#endif
}

TEST_CASE("pool: if no process can be started, the reason is reported and no descriptor stays open", "[memory]") {
    const auto open_files = [] {
        std::size_t count = 0;
        for (int file = 0; file < 256; ++file) count += fcntl(file, F_GETFD) >= 0;
        return count;
    };
    const Isolated::Role role = GENERATE(Isolated::Role::part, Isolated::Role::worker);
    const std::size_t before = open_files();
    rlimit limit{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    const auto highest = dup(0);
    close(highest);
    // There is room for no descriptor, or for some of those needed.
    for (int room = 0; room < 3; ++room) {
        const rlimit few{static_cast<rlim_t>(highest + room), limit.rlim_max};
        if (role == Isolated::Role::part && room == 2) break;
        setrlimit(RLIMIT_NOFILE, &few);
        std::string why;
        try {
            Isolated([] { return ""; }, role).outcome();
        } catch (const std::exception& error) {
            why = error.what();
        }
        setrlimit(RLIMIT_NOFILE, &limit);
        CHECK(why == "cannot start a process: Too many open files");
        CHECK(open_files() == before);
    }
}

TEST_CASE("pool: the destructor kills active work", "[memory]") {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    {
        Pool pool(3, {});
        for (int i = 0; i < 3; ++i) pool.start(std::to_string(i), [] { return sleep_s(30), ""; });
    }
    close(ends[1]);
    char byte;
    CHECK(read(ends[0], &byte, 1) == 0);
    close(ends[0]);
}

TEST_CASE("batch: finished runs are kept, even if the next run cannot start", "[memory]") {
    const Scratch scratch;
    Store store(scratch.path, Store::Mode::create);
    note(store, 1);
    const std::string id = store.to_run("s", false).front();
    CHECK_THROWS_AS(run_batch(store, {id, "no such run"}, {}, {}), std::logic_error);
    CHECK(store.status(id) == Status::failed);  // it is not a complete scenario
}

TEST_CASE("interrupts: while they are held a signal is recorded and wakes the waiter, however early it comes",
          "[memory]") {
    catch_interrupts();
    {
        const HeldInterrupts held;
        Pool pool(1, {});
        CHECK_FALSE(held.interrupted());
        pool.start("long", [] { return sleep_s(30), ""; });
        raise(GENERATE(SIGINT, SIGTERM));
        CHECK(held.interrupted());
        const auto start = Clock::now();
        CHECK(pool.ended(30, held.descriptor()).empty());
        CHECK(seconds_since(start) < 5);
    }
    release_interrupts();
}

TEST_CASE("interrupts: the second signal ends the program, and so does the first after the hold", "[memory]") {
    const bool still_held = GENERATE(true, false);
    const pid_t child = fork();
    if (child == 0) {
        catch_interrupts();
        {
            const HeldInterrupts held;
            if (still_held) raise(SIGINT);
            if (still_held) raise(SIGINT);
        }
        raise(SIGINT);
        _exit(1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 130);
}
