#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sim/collective/factories.hpp"
#include "sim/collective/overlay.hpp"
#include "sim/collective/ring.hpp"

/// Gossip by machine, BlueFog's hierarchical neighbour all-reduce: ranks of a machine average their buffers, one of
/// them averages with the same rank of another machine, and broadcasts the result.
///
/// Ranks form M machines of g. In round t
///  1. the g ranks of each machine carry out a ring all-reduce,
///  2. the first rank of each machine sends the result, S bytes, to the first rank of the machine 2^k further on, k = t
///     mod ⌈lg M⌉, and adds what it receives from the machine as far back,
///  3. it sends the sum down the chain of its machine's ranks, in g blocks that follow each other.
/// Every rank then has the buffers of all ranks of two machines, 2g of N, where a rank of `inner-outer` has those of
/// two ranks; a machine sends S bytes to other machines in both. With one machine only step 1 is left, with one rank
/// per machine only step 2, one-peer exponential gossip: BlueFog refuses both.
///
/// Time on links that are alike, if g divides S: 2(g-1)(α + S/g·β) + (g-1)S/g·γ for step 1, whose ranks end together,
/// α + S·β + S·γ, and 2(g-1)(α + S/g·β) for g blocks over g-1 hops; if α travels, only g-1 of the last α are waited
/// for, and the first ranks of the chain begin what follows before the last ones. There is no closed form for blocks of
/// unequal size, with which the first rank may be early.
///
/// Source: Bluefog-Lib/bluefog, hierarchical_neighbor_allreduce in bluefog/torch/mpi_ops.py, and the steps in
/// NCCLController::NeighborAllreduce (bluefog/common/nccl_controller.cc): "In-place allreduce for all local ranks",
/// "Local_rank = 0 do the neighbor all with other machines local_rank=0", "Broadcast recv data from local rank = 0 to
/// other local ranks". The peers are those of GetExp2DynamicSendRecvMachineRanks (bluefog/common/topology_util.py); B.
/// Ying et al., "BlueFog: make decentralized algorithms practical for optimization and deep learning",
/// arXiv:2111.04287. BlueFog broadcasts what the first rank has received, and every rank averages: also S bytes, after
/// which all spend S·γ, at the same time in total. Left out: several neighbour machines per round, finer chunks of
/// NCCL's broadcast. The averaging weights cost nothing.
namespace syncline {

namespace {

class MachineGossip : public CollectiveAlgorithm {
public:
    /// Throws AlgorithmError on key "overlay" if `ranks` cannot be divided into whole machines.
    MachineGossip(std::uint32_t machine_size, std::uint32_t ranks)
        : size_(std::min(machine_size, ranks)), machines_(ranks / size_) {
        if (ranks % size_ != 0)
            throw AlgorithmError("overlay", fmt::format("{} ranks cannot be divided into machines of {}", ranks, size_),
                                 "gossip by machine needs machines of equal size");
    }

    Program program(std::uint32_t rank, std::uint32_t, std::uint64_t bytes, std::uint32_t round) const override {
        const std::uint32_t place = rank % size_, first = rank - place;
        Program program{{bytes, size_}, {}};
        if (size_ > 1) {
            const Ring ring{size_, first + (place + size_ - 1) % size_, first + (place + 1) % size_, 0, 1};
            go_round(program, ring, place, true);
            go_round(program, ring, place + 1, false);
        }
        if (machines_ == 1) return program;
        if (place == 0) {
            const std::uint32_t distance = std::uint32_t{1} << (round % period());
            const std::uint32_t machine = rank / size_;
            const std::uint32_t to = (machine + distance) % machines_;
            const std::uint32_t from = (machine + machines_ - distance) % machines_;
            program.steps.push_back({{{to * size_, 0, size_}}, {{from * size_, 0, size_}}, true});
        }
        if (size_ > 1) add_chain(program, place, first);
        return program;
    }

    std::uint32_t period() const override {
        return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(std::bit_width(machines_ - 1)));
    }

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        if (ranks == 1) return 0;
        if (!Partition{bytes, size_}.even()) return {};
        const double block_s = static_cast<double>(bytes / size_) * message.beta_s_per_B, hops = size_ - 1;
        double total = *RingAllreduce().cost(size_, bytes, message);
        if (machines_ == 1) return total;
        total += message.alpha_s + static_cast<double>(bytes) * (message.beta_s_per_B + message.gamma_s_per_B);
        return total + 2 * hops * block_s + (message.travels ? hops : 2 * hops) * message.alpha_s;
    }

    std::string formula(bool travels) const override {
        return fmt::format("{}(g-1)α + 4(g-1)S/g·β + (g-1)S/g·γ + α + Sβ + Sγ", travels ? 3 : 4);
    }

private:
    /// Adds the broadcast down the chain: a rank passes a block on while it receives the next.
    void add_chain(Program& program, std::uint32_t place, std::uint32_t first) const {
        const Message down{first + place + 1, 0, 1, 1}, up{first + place - 1, 0, 1, 1};
        const bool last = place + 1 == size_;
        if (place == 0) {
            program.steps.push_back({{down}, {}, false, size_});
        } else if (last) {
            program.steps.push_back({{}, {up}, false, size_});
        } else {
            Message next = up, end = down;
            next.block = 1;
            end.block = size_ - 1;
            end.shift = 0;
            Message start = up;
            start.shift = 0;
            program.steps.push_back({{}, {start}});
            program.steps.push_back({{down}, {next}, false, size_ - 1});
            program.steps.push_back({{end}, {}});
        }
    }

    std::uint32_t size_, machines_;
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> algorithms::machine_gossip(const AlgorithmSpec& spec, std::uint32_t ranks) {
    const std::int64_t size = hierarchy(spec, ranks).front().size;  // 0: the only level has an open size
    return std::make_shared<MachineGossip>(size == 0 ? ranks : static_cast<std::uint32_t>(size), ranks);
}

}  // namespace syncline
