#include "sim/collective/contributors.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "sim/collective/recursive_doubling.hpp"
#include "sim/collective/ring.hpp"
#include "sim/collective/segments.hpp"

namespace syncline {

namespace {

/// Adds the steps of member `place` in a chain of `size` ranks, `stride` apart: each segment of `count` blocks arrives
/// from the previous member and is sent to the next while the following segment arrives.
void pass_along(Program& program, std::uint32_t rank, std::uint32_t stride, std::uint32_t place, std::uint32_t size,
                std::uint32_t segments, std::uint32_t count) {
    const auto whole = [&](std::uint32_t peer, std::uint32_t block) {
        return Message{peer, block, count, static_cast<std::int32_t>(count)};
    };
    if (place == 0) {
        program.steps.push_back({{whole(rank + stride, 0)}, {}, false, segments});
    } else if (place + 1 == size) {
        program.steps.push_back({{}, {whole(rank - stride, 0)}, false, segments});
    } else {
        program.steps.push_back({{}, {whole(rank - stride, 0)}});
        if (segments > 1)
            program.steps.push_back({{whole(rank + stride, 0)}, {whole(rank - stride, count)}, false, segments - 1});
        program.steps.push_back({{whole(rank + stride, (segments - 1) * count)}, {}});
    }
}

/// Adds the steps of member `place` in a group of `size` ranks, `stride` apart: every member with the buffer sends it
/// to one without.
void spread(Program& program, std::uint32_t rank, std::uint32_t stride, std::uint32_t place, std::uint32_t size) {
    const auto send_or_receive = [&](std::uint32_t peer) { return Message{peer, 0, program.partition.blocks}; };
    if (place > 0) program.steps.push_back({{}, {send_or_receive(rank - std::bit_floor(place) * stride)}});
    for (std::uint32_t have = place == 0 ? 1 : 2 * std::bit_floor(place); place + have < size; have *= 2)
        program.steps.push_back({{send_or_receive(rank + have * stride)}, {}});
}

}  // namespace

Program PaddedRing::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const {
    return RingAllgather(ranks).program(rank, ranks, Partition{bytes, contributors_}.largest() * ranks, 0);
}

std::optional<double> PaddedRing::cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const {
    return RingAllgather(contributors_).cost(ranks, bytes, message);
}

std::uint32_t RingBroadcast::group_size(std::uint32_t contributor) const {
    return contributor < receivers_ ? (receivers_ - 1 - contributor) / contributors_ + 1 : 1;
}

Program RingBroadcast::program(std::uint32_t rank, std::uint32_t, std::uint64_t bytes, std::uint32_t) const {
    const std::uint32_t segments = segment_count(bytes, segment_bytes_, contributors_);
    Program program{{bytes, contributors_ * segments}, {}};
    if (rank < contributors_) go_round(program, ring_of(rank, contributors_, segments), rank, false);
    const std::uint32_t group = group_size(rank % contributors_), place = rank / contributors_;
    if (group == 1 || place >= group) return program;
    if (segment_bytes_ == 0)
        spread(program, rank, contributors_, place, group);
    else
        pass_along(program, rank, contributors_, place, group, segments, contributors_);
    return program;
}

std::optional<double> RingBroadcast::cost(std::uint32_t, std::uint64_t bytes, const MessageCost& message) const {
    const auto transfer = [&](std::uint64_t size) {
        return message.alpha_s + static_cast<double>(size) * message.beta_s_per_B;
    };
    const double ring = (contributors_ - 1.0) * transfer(Partition{bytes, contributors_}.largest());
    const std::uint32_t group = group_size(0);
    if (group == 1) return ring;
    if (contributors_ > 1 && bytes % contributors_ != 0) return {};
    if (segment_bytes_ == 0) return ring + std::bit_width(group - 1) * transfer(bytes);
    const std::uint32_t segments = segment_count(bytes, segment_bytes_, contributors_);
    if (bytes % segments != 0) return {};
    return ring + (group - 2.0 + segments) * transfer(Partition{bytes, segments}.largest());
}

std::string RingBroadcast::formula() const {
    const std::string ring = "(q-1)(α + ⌈S/q⌉β) + ";
    return ring + (segment_bytes_ == 0 ? "⌈lg(q'/q)⌉(α + Sβ)" : "(⌈q'/q⌉-2 + m)(α + ⌈S/m⌉β)");
}

Program SpreadDoubling::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes,
                                std::uint32_t round) const {
    const std::uint32_t blocks = std::lcm(contributors_, ranks);
    const std::uint32_t given = blocks / contributors_, kept = blocks / ranks;
    Step spread;
    // Blocks in [first, end) of `here` go from their owner to the rank that gathers them.
    const auto add = [](std::vector<Message>& messages, std::uint32_t peer, std::uint32_t first, std::uint32_t end) {
        if (first < end) messages.push_back({peer, first, end - first});
    };
    if (rank < contributors_) {
        const std::uint32_t first = rank * given, end = first + given;
        for (std::uint32_t to = first / kept; to < ranks && to * kept < end; ++to)
            if (to != rank) add(spread.sends, to, std::max(first, to * kept), std::min(end, (to + 1) * kept));
    }
    const std::uint32_t first = rank * kept, end = first + kept;
    for (std::uint32_t from = first / given; from < contributors_ && from * given < end; ++from)
        if (from != rank) add(spread.receives, from, std::max(first, from * given), std::min(end, (from + 1) * given));

    Program program = RecursiveDoublingAllgather().program(rank, ranks, bytes, round);
    program.partition = {bytes, blocks};
    const auto scale = [&](Message& message) {
        message.block *= kept;
        message.count *= kept;
        message.shift *= static_cast<std::int32_t>(kept);
        for (Blocks& more : message.more) more = {more.block * kept, more.count * kept};
    };
    for (Step& step : program.steps) {
        for (Message& message : step.sends) scale(message);
        for (Message& message : step.receives) scale(message);
    }
    if (contributors_ < ranks) program.steps.insert(program.steps.begin(), std::move(spread));
    return program;
}

std::optional<double> SpreadDoubling::cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const {
    if (contributors_ < ranks) return {};
    return RecursiveDoublingAllgather().cost(ranks, bytes, message);
}

Partition ReduceScatterAllgather::partition(std::uint64_t bytes) const {
    return {bytes, std::max(contributors_, receivers_), std::min(contributors_, receivers_)};
}

Program ReduceScatterAllgather::program(std::uint32_t rank, std::uint32_t, std::uint64_t bytes, std::uint32_t) const {
    Program program{partition(bytes), {}};
    if (rank < contributors_) go_round(program, ring_of(rank, contributors_), rank + contributors_ - 1, true);
    if (rank < receivers_) go_round(program, ring_of(rank, receivers_), rank, false);
    return program;
}

std::optional<double> ReduceScatterAllgather::cost(std::uint32_t, std::uint64_t bytes,
                                                   const MessageCost& message) const {
    const auto block = static_cast<double>(partition(bytes).largest());
    const double transfer = message.alpha_s + block * message.beta_s_per_B;
    return (contributors_ - 1.0) * (transfer + block * message.gamma_s_per_B) + (receivers_ - 1.0) * transfer;
}

}  // namespace syncline
