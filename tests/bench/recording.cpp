// recording RANKS ROUNDS: replays a ring all-reduce of 100 MB without and with a record of its messages, in turn, each
// in a separate process. Prints the median wall-clock seconds of both, including the transfer of the record.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "sim/replay/replay.hpp"
#include "tests/bench/ring.hpp"

namespace {

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

}  // namespace

int main(int argc, char* argv[]) {
    using Clock = std::chrono::steady_clock;
    const int ranks = argc == 3 ? std::atoi(argv[1]) : 0, rounds = argc == 3 ? std::atoi(argv[2]) : 0;
    if (ranks < 2 || rounds < 1) {
        std::fprintf(stderr, "usage: recording RANKS ROUNDS\n");
        return 2;
    }
    const Ring ring(ranks);
    std::vector<double> seconds[2];
    for (int round = 0; round < rounds; ++round) {
        for (const bool messages : {false, true}) {
            syncline::ReplayOptions options;
            options.messages = messages;
            const auto start = Clock::now();
            const syncline::Timeline timeline = replay_isolated(ring.cluster, ring.sweep.graph, options);
            seconds[messages].push_back(std::chrono::duration<double>(Clock::now() - start).count());
            if (messages != !timeline.trace.empty()) return 1;
        }
    }
    std::printf("%.6f %.6f\n", median(seconds[0]), median(seconds[1]));
    return 0;
}
