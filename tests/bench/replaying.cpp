// replaying RANKS: replays a ring all-reduce of 100 MB without recording. It is built a second time with a replay that
// cannot record at all.

#include <cstdio>
#include <cstdlib>

#include "sim/replay/replay.hpp"
#include "tests/bench/ring.hpp"

int main(int argc, char* argv[]) {
    const int ranks = argc == 2 ? std::atoi(argv[1]) : 0;
    if (ranks < 2) {
        std::fprintf(stderr, "usage: replaying RANKS\n");
        return 2;
    }
    const Ring ring(ranks);
    return replay(ring.cluster, ring.sweep.graph, {}).trace.empty() ? 0 : 1;
}
