#include "sim/collective/segmented_ring.hpp"

#include "sim/collective/ring.hpp"
#include "sim/collective/segments.hpp"

namespace syncline {

namespace {

std::uint32_t phases(std::uint32_t ranks, std::uint64_t bytes, double segment_bytes) {
    return segment_count(Partition{bytes, ranks}.largest(), segment_bytes, ranks);
}

}  // namespace

Program SegmentedRing::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const {
    const std::uint32_t count = phases(ranks, bytes, segment_bytes_);
    Program program{{bytes, ranks * count}, {}};
    if (ranks == 1) return program;
    const Ring ring = ring_of(rank, ranks, count);
    const auto add = [&](std::uint32_t taken, std::uint32_t phase, std::uint32_t repeat, std::int32_t shift) {
        const std::uint32_t send = (rank + ranks - taken) % ranks, receive = (send + ranks - 1) % ranks;
        program.steps.push_back({{{ring.right, send * count + phase, 1, shift}},
                                 {{ring.left, receive * count + phase, 1, shift}},
                                 true,
                                 repeat});
    };
    // Loops over the shorter dimension are unrolled, to keep the program short.
    if (count < ranks) {
        for (std::uint32_t phase = 0; phase < count; ++phase)
            add(0, phase, ranks - 1, -static_cast<std::int32_t>(count));
    } else {
        for (std::uint32_t taken = 0; taken + 1 < ranks; ++taken) add(taken, 0, count, 1);
        program.steps.front().body = ranks - 1;
    }
    go_round(program, ring, rank + 1, false);
    return program;
}

std::optional<double> SegmentedRing::cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const {
    const std::uint32_t count = phases(ranks, bytes, segment_bytes_);
    if (count > 1 && bytes % (std::uint64_t{ranks} * count) != 0) return {};
    const auto block = static_cast<double>(Partition{bytes, ranks}.largest());
    const auto segment = static_cast<double>(Partition{bytes, ranks * count}.largest());
    const double phase = message.alpha_s + segment * (message.beta_s_per_B + message.gamma_s_per_B);
    return (ranks - 1.0) * (count * phase + message.alpha_s + block * message.beta_s_per_B);
}

}  // namespace syncline
