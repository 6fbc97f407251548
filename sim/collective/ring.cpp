#include "sim/collective/ring.hpp"

#include <algorithm>

#include "sim/collective/factories.hpp"

namespace syncline {

Ring ring_of(std::uint32_t rank, std::uint32_t size, std::uint32_t count) {
    return {size, (rank + size - 1) % size, (rank + 1) % size, 0, count};
}

void go_round(Program& program, const Ring& ring, std::uint32_t start, bool reduce) {
    // A Step can wrap around only for blocks of the whole buffer; pieces of a part need a new Step where they wrap.
    const bool wraps = ring.size * ring.count == program.partition.blocks;
    for (std::uint32_t taken = 0; taken + 1 < ring.size;) {
        const std::uint32_t send = (start + ring.size - taken) % ring.size;
        const std::uint32_t receive = (send + ring.size - 1) % ring.size;
        const std::uint32_t rest = ring.size - 1 - taken;
        const std::uint32_t repeat = wraps ? rest : std::min(rest, std::min(send, receive) + 1);
        const auto part = [&](std::uint32_t peer, std::uint32_t number) {
            return Message{peer, ring.first + number * ring.count, ring.count, -static_cast<std::int32_t>(ring.count)};
        };
        program.steps.push_back({{part(ring.right, send)}, {part(ring.left, receive)}, reduce, repeat});
        taken += repeat;
    }
}

Program RingAllreduce::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const {
    Program program{{bytes, ranks}, {}};
    // Block `rank` starts its way here; after the reduce-scatter this rank holds the sum of block rank+1.
    go_round(program, ring_of(rank, ranks), rank, true);
    go_round(program, ring_of(rank, ranks), rank + 1, false);
    return program;
}

std::optional<double> RingAllreduce::cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const {
    const double hops = ranks - 1;
    const auto block = static_cast<double>(Partition{bytes, ranks}.largest());
    return 2 * hops * (message.alpha_s + block * message.beta_s_per_B) + hops * block * message.gamma_s_per_B;
}

Program RingReduceScatter::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const {
    Program program{{bytes, ranks}, {}};
    go_round(program, ring_of(rank, ranks), rank + ranks - 1, true);
    return program;
}

std::optional<double> RingReduceScatter::cost(std::uint32_t ranks, std::uint64_t bytes,
                                              const MessageCost& message) const {
    const double hops = ranks - 1;
    const auto block = static_cast<double>(Partition{bytes, ranks}.largest());
    return hops * (message.alpha_s + block * (message.beta_s_per_B + message.gamma_s_per_B));
}

Program RingAllgather::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const {
    Program program{{bytes, ranks, contributors_}, {}};
    go_round(program, ring_of(rank, ranks), rank, false);
    return program;
}

std::optional<double> RingAllgather::cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const {
    const double hops = ranks - 1;
    const auto block = static_cast<double>(Partition{bytes, ranks, contributors_}.largest());
    return hops * (message.alpha_s + block * message.beta_s_per_B);
}

std::shared_ptr<const CollectiveAlgorithm> algorithms::ring_allreduce(const AlgorithmSpec&, std::uint32_t) {
    return std::make_shared<RingAllreduce>();
}

std::shared_ptr<const CollectiveAlgorithm> algorithms::ring_reduce_scatter(const AlgorithmSpec&, std::uint32_t) {
    return std::make_shared<RingReduceScatter>();
}

std::shared_ptr<const CollectiveAlgorithm> algorithms::ring_allgather(const AlgorithmSpec& spec, std::uint32_t ranks) {
    return std::make_shared<RingAllgather>(contributors(spec, ranks));
}

}  // namespace syncline
