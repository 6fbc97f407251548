#include <vector>

#include "sim/collective/parameter_server.hpp"
#include "sim/collective/ring.hpp"
#include "tests/catch.hpp"
#include "tests/unit/machine.hpp"

// Checks what every rank must hold in the end.

using namespace syncline;

TEST_CASE("after a ring all-reduce every rank holds every rank's contribution once", "[memory]") {
    const RingAllreduce ring;
    for (std::uint32_t n = 1; n <= 33; ++n) {
        for (const std::uint64_t bytes : {0ull, 1ull, 31ull, 1000ull, 1000003ull}) {
            CAPTURE(n, bytes);
            Machine machine(ring, n, bytes);
            REQUIRE(machine.run());
            for (const Buffer& buffer : machine.buffers) {
                for (const Contributions& block : buffer) CHECK(block == Contributions(n, 1));
            }
            CHECK(machine.messages == std::uint64_t{2} * n * (n - 1));
            CHECK(machine.bytes_sent == std::uint64_t{2} * (n - 1) * bytes);
            std::uint64_t counted = 0;
            for (const Program& program : machine.programs) counted += messages_sent(program);
            CHECK(counted == machine.messages);
        }
    }
}

TEST_CASE(
    "after a push the server holds every worker's contribution once, and after a pull the workers hold the server's",
    "[memory]") {
    for (std::uint32_t members = 2; members <= 20; ++members) {
        CAPTURE(members);
        Machine push(Push{}, members, 1000);
        REQUIRE(push.run());
        CHECK(push.buffers[0][0] == Contributions(members, 1));
        CHECK(push.bytes_sent == 1000u * (members - 1));

        Machine pull(Pull{}, members, 1000);
        pull.buffers[0][0] = Contributions(members, 1);
        REQUIRE(pull.run());
        for (const Buffer& buffer : pull.buffers) CHECK(buffer[0] == Contributions(members, 1));
        CHECK(pull.bytes_sent == 1000u * (members - 1));
    }
}

TEST_CASE("blocks cover the buffer, differ by at most one byte, and do not overflow", "[memory]") {
    for (const std::uint64_t bytes : {0ull, 1ull, 2ull, 1000ull, 1000003ull, 1ull << 40, (1ull << 62) + 12345}) {
        for (const std::uint32_t blocks : {1u, 2u, 3u, 7u, 64u, 1000u, 1048576u}) {
            CAPTURE(bytes, blocks);
            const Partition partition{bytes, blocks};
            CHECK(partition.offset(0) == 0);
            CHECK(partition.offset(blocks) == bytes);
            for (std::uint32_t i = 0; i < blocks; i += 1 + blocks / 97) {
                CHECK(partition.size(i) <= partition.largest());
                CHECK(partition.size(i) + 1 >= partition.largest());
            }
        }
    }
}
