#include "sim/collective/factories.hpp"
#include "sim/collective/ring.hpp"
#include "sim/collective/segments.hpp"

/// Segmented ring all-reduce: the ring's reduce-scatter in phases, each with one segment of every block, then the
/// allgather of whole blocks.
///
/// Each of the N blocks is cut into m segments, as few as keep each within the given size; a phase is a ring
/// reduce-scatter of N-1 steps. (m + 1)·N(N-1) messages, 2(N-1)·S bytes. With s = ⌈S/(N·m)⌉ and c = ⌈S/N⌉ the time is
/// (N-1)(m(α + s·β + s·γ) + α + c·β): segments save memory, and time only if α is small compared with the overlapped
/// part. There is no closed form if m > 1 and N·m does not divide S, because not every segment is a longest one then.
/// Source: Open MPI, coll_base_allreduce.c, ompi_coll_base_allreduce_intra_ring_segmented, which has the same (m +
/// 1)(N-1) steps.
///
/// Left out: in Open MPI a rank receives the next segment while it adds the last one, which hides γ if it is less than
/// β. Open MPI also rounds m, so that segments may be half as long again, and buffers of less than a segment per rank
/// use the plain ring, which is m = 1 here.
namespace syncline {

namespace {

std::uint32_t phases(std::uint32_t ranks, std::uint64_t bytes, double segment_bytes) {
    return segment_count(Partition{bytes, ranks}.largest(), segment_bytes, ranks);
}

class SegmentedRing : public CollectiveAlgorithm {
public:
    /// `segment_bytes` 0: one segment, the plain ring.
    explicit SegmentedRing(double segment_bytes) : segment_bytes_(segment_bytes) {}
    /// Throws AlgorithmError on key "segment" if there are too many segments.
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const override {
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

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        const std::uint32_t count = phases(ranks, bytes, segment_bytes_);
        if (count > 1 && bytes % (std::uint64_t{ranks} * count) != 0) return {};
        const auto block = static_cast<double>(Partition{bytes, ranks}.largest());
        const auto segment = static_cast<double>(Partition{bytes, ranks * count}.largest());
        const double phase = message.alpha_s + segment * (message.beta_s_per_B + message.gamma_s_per_B);
        return (ranks - 1.0) * (count * phase + message.alpha_s + block * message.beta_s_per_B);
    }

    std::string formula(bool) const override { return "(N-1)(m(α + ⌈S/Nm⌉β + ⌈S/Nm⌉γ) + α + ⌈S/N⌉β)"; }

private:
    double segment_bytes_;
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> algorithms::segmented_ring(const AlgorithmSpec& spec, std::uint32_t) {
    return std::make_shared<SegmentedRing>(spec.segment_bytes);
}

}  // namespace syncline
