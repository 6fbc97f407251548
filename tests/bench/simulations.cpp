// simulations STUDY: simulates the exchange of every point of a study, one after the other, and prints the mean seconds
// of simulate_collective(): the part of a batch's time that is simulation. This excludes reading the study, and
// includes the separate process of each simulation, which a simulation without a batch has, too.

#include <chrono>
#include <cstdio>

#include "sim/analysis/exchange_experiment.hpp"
#include "sim/config/scenario.hpp"
#include "sim/replay/native.hpp"
#include "sim/study/study.hpp"

int main(int argc, char* argv[]) {
    using Clock = std::chrono::steady_clock;
    if (argc != 2) {
        std::fprintf(stderr, "usage: simulations STUDY\n");
        return 2;
    }
    const syncline::config::Study study(argv[1], {}, syncline::inspect);
    double all_s = 0;
    int points = 0;
    study.each([](const auto&) { return true; },
               [&](const auto&, const syncline::config::Variant* variant) {
                   const auto start = Clock::now();
                   syncline::simulate_collective(variant->cluster, *variant->collective);
                   all_s += std::chrono::duration<double>(Clock::now() - start).count();
                   ++points;
               });
    std::printf("%.6f\n", all_s / points);
    return 0;
}
