#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "sim/base/replay_error.hpp"
#include "sim/serve/simulator_process.hpp"
#include "tests/catch.hpp"

// Work of many threads in a process that has none: answers, errors, time limits, cancelling, ending.

using namespace syncline;
using namespace syncline::serve;

namespace {

using State = Finished::State;
using Clock = std::chrono::steady_clock;

void sleep_s(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

std::string work(const std::string& question) {
    if (question == "sleep") sleep_s(60);
    if (question == "fail") throw ReplayError("no way");
    if (question == "die") std::raise(SIGKILL);
    if (question == "large") return std::string(5'000'000, 'x');
    if (question == "pid") return std::to_string(getpid());
    return "answer to " + question;
}

}  // namespace

TEST_CASE("simulations answer many threads, each with its own answer") {
    SimulatorProcess simulations(work, {.jobs = 2});
    constexpr std::size_t count = 12;
    std::vector<std::string> answers(count);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; ++i)
        threads.emplace_back([&, i] { answers[i] = simulations.run("", std::to_string(i)).text; });
    for (std::thread& thread : threads) thread.join();
    for (std::size_t i = 0; i < count; ++i) CHECK(answers[i] == "answer to " + std::to_string(i));
    CHECK(simulations.run("", "large").text.size() == 5'000'000);
}

TEST_CASE("simulations survive work that fails or dies, in a process of its own") {
    SimulatorProcess simulations(work, {});
    CHECK(simulations.run("", "fail").state == State::failed);
    CHECK(simulations.run("", "fail").text == "no way");
    CHECK(simulations.run("", "die").state == State::failed);
    const Finished first = simulations.run("", "pid"), second = simulations.run("", "pid");
    CHECK(first.state == State::done);
    CHECK(first.text != std::to_string(getpid()));
    CHECK(first.text != second.text);
}

TEST_CASE("simulations end work that takes too long") {
    SimulatorProcess simulations(work, {.timeout_s = 0.2});
    const Clock::time_point start = Clock::now();
    const Finished finished = simulations.run("", "sleep");
    CHECK(finished.state == State::failed);
    CHECK(finished.text == "it took longer than 0.2 s");
    CHECK(std::chrono::duration<double>(Clock::now() - start).count() < 10);
}

TEST_CASE("cancelling ends work that runs and work that waits, and no other") {
    SimulatorProcess simulations(work, {.jobs = 1});
    CHECK_FALSE(simulations.cancel("runs"));
    Finished runs, waits, other;
    std::thread a([&] { runs = simulations.run("runs", "sleep"); });
    sleep_s(0.2);
    std::thread b([&] { waits = simulations.run("waits", "sleep"); });
    std::thread c([&] { other = simulations.run("other", "1"); });
    sleep_s(0.2);
    CHECK(simulations.cancel("waits"));
    b.join();
    CHECK(waits.state == State::cancelled);
    CHECK(simulations.cancel("runs"));
    a.join();
    c.join();
    CHECK(runs.state == State::cancelled);
    CHECK(other.text == "answer to 1");
    CHECK_FALSE(simulations.cancel("runs"));
}

TEST_CASE("simulations refuse work that would wait behind too much") {
    SimulatorProcess simulations(work, {.jobs = 1, .queue = 2});
    std::vector<Finished> finished(3);
    std::vector<std::thread> threads;
    for (Finished& one : finished) {
        threads.emplace_back([&] { one = simulations.run("all", "sleep"); });
        sleep_s(0.2);
    }
    CHECK(simulations.run("", "1").state == State::full);
    CHECK(simulations.cancel("all"));
    for (std::thread& thread : threads) thread.join();
    for (const Finished& one : finished) CHECK(one.state == State::cancelled);
    CHECK(simulations.run("", "1").state == State::done);
}

TEST_CASE("simulations give up work that waits too long for a process") {
    SimulatorProcess simulations(work, {.jobs = 1, .timeout_s = 0.4, .wait_s = 0.2});
    std::vector<Finished> finished(3);
    std::vector<std::thread> threads;
    for (Finished& one : finished) {
        threads.emplace_back([&] { one = simulations.run("", "sleep"); });
        sleep_s(0.05);
    }
    for (std::thread& thread : threads) thread.join();
    // They would begin after 0, 0.4 and 0.8 s.
    CHECK(finished[0].state == State::failed);
    CHECK(finished[2].state == State::full);
    CHECK(simulations.run("", "1").text == "answer to 1");
}

TEST_CASE("simulations that are stopped release all who wait") {
    SimulatorProcess simulations(work, {.jobs = 1});
    std::vector<Finished> finished(3);
    std::vector<std::thread> threads;
    for (Finished& one : finished) threads.emplace_back([&] { one = simulations.run("", "sleep"); });
    sleep_s(0.2);
    simulations.stop();
    for (std::thread& thread : threads) thread.join();
    for (const Finished& one : finished) CHECK(one.state == State::stopped);
    CHECK(simulations.run("", "1").state == State::stopped);
}
