// The yardstick for the replayer's speed: a ring all-reduce written directly against SimGrid, with one actor per rank
// and nothing of Syncline. N hosts are on one switch (a star of full-duplex links); in each of 2(N-1) steps each rank
// sends a block to its right neighbour and receives one from its left. There is no reduction time and no recording.
//
// Tried on SimGrid 3.32 and rejected: receiving with get_async and wait_all, or permanent receivers, gains nothing.
// Detached puts halve the speed once ranks run apart, because waiting messages pile up in the mailboxes.
// network/optim:Full is no faster here, and forty times slower (256 ranks) if the links' latencies differ. Lazy is
// wrong if a host sends several messages concurrently, which a ring never does.

#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

namespace {

constexpr double bandwidth_Bps = 25e9 / 8;
constexpr double latency_s = 1e-6;

// Clocks of the process: the sum of user and system time is exact, but the kernel samples its division.
double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double peak_memory_MB() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

// Block i of the buffer is [bytes*i/N, bytes*(i+1)/N), so sizes differ by at most one byte.
std::uint64_t block_bytes(std::uint64_t bytes, std::uint64_t ranks, std::uint64_t block) {
    return bytes * (block + 1) / ranks - bytes * block / ranks;
}

void run_rank(std::uint64_t rank, std::uint64_t bytes, const std::vector<sg4::Mailbox*>& mailboxes) {
    static char token;  // SimGrid moves a pointer per message; nothing reads its target.
    const std::uint64_t ranks = mailboxes.size();
    sg4::Mailbox* const own = mailboxes[rank];
    sg4::Mailbox* const right = mailboxes[(rank + 1) % ranks];
    std::uint64_t block = rank;
    for (std::uint64_t step = 0; step < 2 * (ranks - 1); ++step) {
        const sg4::CommPtr sending = right->put_async(&token, block_bytes(bytes, ranks, block));
        own->get<char>();
        sending->wait();
        block = (block + ranks - 1) % ranks;
    }
}

}  // namespace

int main(int argc, char* argv[]) {
    // These precede the caller's own arguments, so that a --cfg=... among them overrides these.
    std::vector<std::string> settings{
        argv[0], "--log=xbt_cfg.thresh:warning", "--cfg=network/model:CM02", "--cfg=network/crosstraffic:0",
        "--cfg=network/TCP-gamma:0", "--cfg=network/optim:Lazy", "--cfg=contexts/stack-size:64",
        // One byte takes a third of a nanosecond: the default of 1e-9 s would merge such events.
        "--cfg=surf/precision:1e-12"};
    std::vector<char*> arguments;
    for (std::string& setting : settings) arguments.push_back(setting.data());
    arguments.insert(arguments.end(), argv + 1, argv + argc);
    int count = static_cast<int>(arguments.size());
    sg4::Engine engine(&count, arguments.data());
    if (count != 3) {
        std::fprintf(stderr, "usage: bare_ring RANKS BYTES [--cfg=KEY:VALUE]...\n");
        return 2;
    }
    const std::uint64_t ranks = std::strtoull(arguments[1], nullptr, 10);
    const std::uint64_t bytes = std::strtoull(arguments[2], nullptr, 10);

    sg4::NetZone* const star = sg4::create_star_zone("star");
    std::vector<sg4::Host*> hosts;
    std::vector<sg4::Mailbox*> mailboxes;
    for (std::uint64_t rank = 0; rank < ranks; ++rank) {
        const std::string name = std::to_string(rank);
        sg4::Host* const host = star->create_host(name, 1e9);
        sg4::Link* const link = star->create_split_duplex_link("link " + name, bandwidth_Bps);
        link->set_latency(latency_s);
        link->seal();
        star->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {{link, sg4::LinkInRoute::Direction::UP}},
                        true);
        hosts.push_back(host);
        mailboxes.push_back(sg4::Mailbox::by_name(name));
    }
    star->seal();
    for (std::uint64_t rank = 0; rank < ranks; ++rank) {
        sg4::Actor::create("rank", hosts[rank], [=, &mailboxes] { run_rank(rank, bytes, mailboxes); });
    }

    const auto wall_start = std::chrono::steady_clock::now();
    const double cpu_start = cpu_seconds();
    engine.run();
    const double cpu_s = cpu_seconds() - cpu_start;
    const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_start).count();

    const std::uint64_t messages = 2 * ranks * (ranks - 1);
    std::printf(
        "{\"ranks\": %llu, \"messages\": %llu, \"wall_s\": %.4f, \"cpu_s\": %.4f, \"messages_per_wall_s\": %.0f, "
        "\"messages_per_cpu_s\": %.0f, \"peak_memory_MB\": %.1f, \"completion_time_s\": %.12g}\n",
        static_cast<unsigned long long>(ranks), static_cast<unsigned long long>(messages), wall_s, cpu_s,
        static_cast<double>(messages) / wall_s, static_cast<double>(messages) / cpu_s, peak_memory_MB(),
        sg4::Engine::get_clock());
    return 0;
}
