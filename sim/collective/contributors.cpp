#include <algorithm>
#include <bit>
#include <numeric>

#include "sim/collective/factories.hpp"
#include "sim/collective/ring.hpp"
#include "sim/collective/segments.hpp"

/// Allgather and all-reduce in which the first q of N ranks contribute and the first q' receive, for model-parallel
/// layers that have fewer parts than there are ranks.
///
/// In an allgather S bytes are all contributions together, in an all-reduce one contribution (as large as the sum).
/// Every receiver that has none of the S bytes must receive them all: S·β at least.
///
/// allgather:
/// - `ring` (ring.hpp): N blocks around the ring of all ranks, of which q are filled and N-q empty. (N-1)(α + ⌈S/q⌉·β),
///   (N-1)·S bytes. No rank is left out, so q' makes no difference.
/// - (i) `padded-ring`: every rank sends as much as the largest contributor, so that an allgather of equal counts can
///   be used. The same time, N(N-1)·⌈S/q⌉ bytes.
/// - (ii) `ring-broadcast`: a ring among the contributors, then contributor i passes the result on to the receivers
///   i+q, i+2q, …, so that the largest such group has g = ⌈q'/q⌉ members, including the contributor. (q-1)(α +
///   ⌈S/q⌉·β), and then, by doubling the number of ranks that have it, ⌈lg g⌉(α + S·β); or along a chain in m segments,
///   each passed on while the next one arrives, (g-2 + m)(α + ⌈S/m⌉·β) if g > 1. If α travels, these are the largest
///   of ⌈lg g⌉S·β + (1 + ⌊lg(g - 2^(⌈lg g⌉-1))⌋)α and (⌈lg g⌉-1)(α + S·β), because member p is served in step 1 + ⌊lg
///   p⌋ after as many α as p has bits set; and (g-2 + m)⌈S/m⌉·β + (g-1)α. (q-1)·S bytes, and S for each further
///   receiver.
/// - `spread-doubling`: contributor i concurrently sends their parts to the ranks whose N-th part of the result lies in
///   its contribution, and recursive doubling gathers these. The contributors' links are busy for at most ⌈S/q⌉, so the
///   time is less than (⌈lg N⌉ + 1)α + (1/q + (N-1)/N)·S·β with 2^k ranks, near the minimum; there is no exact form.
///
/// all-reduce:
/// - (iii) `reduce-scatter-allgather`: the buffer in b = min(q, q') blocks; a ring reduce-scatter among the
///   contributors, a ring allgather among the receivers. (q-1)(α + ⌈S/b⌉(β + γ)) + (q'-1)(α + ⌈S/b⌉·β), (q + q' - 2)·S
///   bytes. Ranks that neither contribute nor receive do nothing.
/// - (iv) `ring` (ring.hpp): the naive full all-reduce, in which all ranks take part, ranks without data with zeros,
///   and all receive: 2(N-1)(α + ⌈S/N⌉·β) + (N-1)·⌈S/N⌉·γ, 2(N-1)·S bytes.
///
/// No variant moves more bytes than the padded or the naive one. The forms are exact for any S, except that
/// `ring-broadcast` with g > 1 has none if q or m does not divide S.
///
/// Sources: A. Castelló et al., "Analysis of model parallelism for distributed neural networks", EuroMPI 2019, whose
/// abstract argues for such variants; the variants and their times are derived here from the rings', and from the
/// pipelined chain of J. Pješivac-Grbić et al., "Performance analysis of MPI collective operations", Cluster Computing
/// 10 (2007) 127-143.
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

/// Variant (i).
class PaddedRing : public CollectiveAlgorithm {
public:
    explicit PaddedRing(std::uint32_t contributors) : contributors_(contributors) {}
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const override {
        return RingAllgather(ranks).program(rank, ranks, Partition{bytes, contributors_}.largest() * ranks, 0);
    }

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        return RingAllgather(contributors_).cost(ranks, bytes, message);
    }

    std::string formula(bool) const override { return "(N-1)(α + ⌈S/q⌉β), q contributors"; }

private:
    std::uint32_t contributors_;
};

/// Variant (ii).
class RingBroadcast : public CollectiveAlgorithm {
public:
    /// `segment_bytes` 0: pass the result on by doubling.
    RingBroadcast(std::uint32_t contributors, std::uint32_t receivers, double segment_bytes)
        : contributors_(contributors), receivers_(receivers), segment_bytes_(segment_bytes) {}
    /// Numbers blocks so that the contributors' parts and the segments are whole ranges of them. Throws AlgorithmError
    /// on key "segment" if there are too many.
    Program program(std::uint32_t rank, std::uint32_t, std::uint64_t bytes, std::uint32_t) const override {
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

    std::optional<double> cost(std::uint32_t, std::uint64_t bytes, const MessageCost& message) const override {
        const auto transfer = [&](std::uint64_t size) {
            return message.alpha_s + static_cast<double>(size) * message.beta_s_per_B;
        };
        const double ring = (contributors_ - 1.0) * transfer(Partition{bytes, contributors_}.largest());
        const std::uint32_t group = group_size(0);
        if (group == 1) return ring;
        if (contributors_ > 1 && bytes % contributors_ != 0) return {};
        if (segment_bytes_ == 0) {
            const auto steps = static_cast<double>(std::bit_width(group - 1));
            if (!message.travels) return ring + steps * transfer(bytes);
            const std::uint32_t last = group - std::bit_floor(group - 1);  // members that are served in the last step
            const double last_s = ring + static_cast<double>(std::bit_width(last)) * message.alpha_s +
                                  steps * (transfer(bytes) - message.alpha_s);
            return std::max(last_s, ring + (steps - 1) * transfer(bytes));
        }
        const std::uint32_t segments = segment_count(bytes, segment_bytes_, contributors_);
        if (bytes % segments != 0) return {};
        const double steps = group - 2.0 + segments, hops = message.travels ? group - 1 : steps;
        return ring + hops * message.alpha_s +
               steps * (transfer(Partition{bytes, segments}.largest()) - message.alpha_s);
    }

    std::string formula(bool travels) const override {
        const std::string ring = "(q-1)(α + ⌈S/q⌉β) + ";
        if (segment_bytes_ == 0)
            return ring + (travels ? "⌈lg g⌉Sβ + hα with h ≤ ⌈lg g⌉" : "⌈lg g⌉(α + Sβ)") + ", g = ⌈q'/q⌉";
        return ring + (travels ? "(g-2 + m)⌈S/m⌉β + (g-1)α" : "(g-2 + m)(α + ⌈S/m⌉β)") + ", g = ⌈q'/q⌉";
    }

private:
    /// Counts contributor i and the receivers i+q, i+2q, …
    std::uint32_t group_size(std::uint32_t contributor) const {
        return contributor < receivers_ ? (receivers_ - 1 - contributor) / contributors_ + 1 : 1;
    }

    std::uint32_t contributors_, receivers_;
    double segment_bytes_;
};

/// Variant `spread-doubling`.
class SpreadDoubling : public CollectiveAlgorithm {
public:
    SpreadDoubling(const AlgorithmSpec& spec, std::uint32_t ranks)
        : contributors_(contributors(spec, ranks)), doubling_(algorithms::recursive_doubling_allgather(spec, ranks)) {}

    /// Uses lcm(q, N) blocks, so that a contributor's part and a rank's part are whole numbers of them.
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override {
        const std::uint32_t blocks = std::lcm(contributors_, ranks);
        const std::uint32_t given = blocks / contributors_, kept = blocks / ranks;
        Step spread;
        // Blocks in [first, end) of `here` go from their owner to the rank that gathers them.
        const auto add = [](std::vector<Message>& messages, std::uint32_t peer, std::uint32_t first,
                            std::uint32_t end) {
            if (first < end) messages.push_back({peer, first, end - first});
        };
        if (rank < contributors_) {
            const std::uint32_t first = rank * given, end = first + given;
            for (std::uint32_t to = first / kept; to < ranks && to * kept < end; ++to)
                if (to != rank) add(spread.sends, to, std::max(first, to * kept), std::min(end, (to + 1) * kept));
        }
        const std::uint32_t first = rank * kept, end = first + kept;
        for (std::uint32_t from = first / given; from < contributors_ && from * given < end; ++from)
            if (from != rank)
                add(spread.receives, from, std::max(first, from * given), std::min(end, (from + 1) * given));

        Program program = doubling_->program(rank, ranks, bytes, round);
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

    /// Returns nothing, unless all ranks contribute.
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        if (contributors_ < ranks) return {};
        return doubling_->cost(ranks, bytes, message);
    }

    std::string formula(bool) const override { return "< (⌈lg N⌉ + 1)α + (1/q + (N-1)/N)Sβ"; }

private:
    std::uint32_t contributors_;
    std::shared_ptr<const CollectiveAlgorithm> doubling_;
};

/// Variant (iii).
class ReduceScatterAllgather : public CollectiveAlgorithm {
public:
    ReduceScatterAllgather(std::uint32_t contributors, std::uint32_t receivers)
        : contributors_(contributors), receivers_(receivers) {}
    Program program(std::uint32_t rank, std::uint32_t, std::uint64_t bytes, std::uint32_t) const override {
        Program program{partition(bytes), {}};
        if (rank < contributors_) go_round(program, ring_of(rank, contributors_), rank + contributors_ - 1, true);
        if (rank < receivers_) go_round(program, ring_of(rank, receivers_), rank, false);
        return program;
    }

    std::optional<double> cost(std::uint32_t, std::uint64_t bytes, const MessageCost& message) const override {
        const auto block = static_cast<double>(partition(bytes).largest());
        const double transfer = message.alpha_s + block * message.beta_s_per_B;
        return (contributors_ - 1.0) * (transfer + block * message.gamma_s_per_B) + (receivers_ - 1.0) * transfer;
    }

    std::string formula(bool) const override { return "(q-1)(α + ⌈S/b⌉(β + γ)) + (q'-1)(α + ⌈S/b⌉β), b = min(q, q')"; }

private:
    Partition partition(std::uint64_t bytes) const {
        return {bytes, std::max(contributors_, receivers_), std::min(contributors_, receivers_)};
    }

    std::uint32_t contributors_, receivers_;
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> algorithms::padded_ring(const AlgorithmSpec& spec, std::uint32_t ranks) {
    return std::make_shared<PaddedRing>(contributors(spec, ranks));
}

std::shared_ptr<const CollectiveAlgorithm> algorithms::ring_broadcast(const AlgorithmSpec& spec, std::uint32_t ranks) {
    return std::make_shared<RingBroadcast>(contributors(spec, ranks), receivers(spec, ranks), spec.segment_bytes);
}

std::shared_ptr<const CollectiveAlgorithm> algorithms::spread_doubling(const AlgorithmSpec& spec, std::uint32_t ranks) {
    return std::make_shared<SpreadDoubling>(spec, ranks);
}

std::shared_ptr<const CollectiveAlgorithm> algorithms::reduce_scatter_allgather(const AlgorithmSpec& spec,
                                                                                std::uint32_t ranks) {
    return std::make_shared<ReduceScatterAllgather>(contributors(spec, ranks), receivers(spec, ranks));
}

}  // namespace syncline
