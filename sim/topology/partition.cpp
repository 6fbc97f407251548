#include "sim/topology/partition.hpp"

#include <algorithm>
#include <compare>
#include <map>
#include <numeric>

#include "sim/base/split_mix.hpp"

namespace syncline {

namespace {

/// Returns the representative of a vertex, and shortens the way to it.
std::uint32_t root(std::vector<std::uint32_t>& parents, std::uint32_t vertex) {
    while (parents[vertex] != vertex) vertex = parents[vertex] = parents[parents[vertex]];
    return vertex;
}

class Partitioner {
public:
    Partitioner(const Topology& topology, const CableColours& kinds, const CableEnds& ends)
        : topology_(topology), kinds_(kinds), ends_(ends) {}

    GraphPartition partition(std::uint32_t most) const {
        constexpr std::size_t most_tries = 24;
        const std::size_t kinds = kinds_.kinds.size(), step = 1 + kinds / most_tries;
        GraphPartition last;
        for (std::size_t joined = 0; joined <= kinds; joined += step) {
            const GraphPartition by_cables = joined_by(joined);
            for (const bool hosts : {false, true}) {
                GraphPartition found = twins_joined(by_cables, hosts);
                if (found.blocks < 2) break;
                last = std::move(found);
                if (last.blocks <= most) return last;
            }
        }
        return last.blocks == 0 ? joined_by(0) : grouped(last, most);
    }

private:
    using Labels = std::vector<std::uint32_t>;  ///< a number for each vertex, equal within a block

    /// Numbers blocks in the order of their first vertices; hosts have the lowest numbers.
    GraphPartition numbered(const Labels& labels) const {
        GraphPartition result;
        constexpr std::uint32_t none = ~std::uint32_t{0};
        std::vector<std::uint32_t> number(labels.size(), none);
        for (std::uint32_t vertex = 0; vertex < labels.size(); ++vertex) {
            if (vertex == topology_.hosts) result.with_hosts = result.blocks;
            std::uint32_t& block = number[labels[vertex]];
            if (block == none) block = result.blocks++;
            result.block_of.push_back(block);
        }
        if (labels.size() == topology_.hosts) result.with_hosts = result.blocks;
        return result;
    }

    /// Joins what is connected by cables of the first `kinds` kinds.
    GraphPartition joined_by(std::size_t kinds) const {
        Labels parents(topology_.vertices());
        std::iota(parents.begin(), parents.end(), 0U);
        for (std::uint32_t cable = 0; kinds > 0 && cable < topology_.cables; ++cable) {
            if (kinds_.of_cable[cable] >= kinds) continue;
            const std::uint32_t a = root(parents, ends_[cable].first), b = root(parents, ends_[cable].second);
            parents[std::max(a, b)] = std::min(a, b);
        }
        Labels labels;
        for (std::uint32_t vertex = 0; vertex < parents.size(); ++vertex) labels.push_back(root(parents, vertex));
        GraphPartition result = numbered(labels);
        result.part_of = result.block_of;
        return result;
    }

    /// Joins blocks of equal size that have the same neighbours: blocks of switches, and blocks with `hosts`.
    GraphPartition twins_joined(const GraphPartition& partition, bool hosts) const {
        struct Signature {
            std::uint32_t hosts = 0, switches = 0, inside = 0;
            std::uint64_t out = 0, in = 0;  ///< sums over the neighbours, mixed so that these tell multisets apart
            auto operator<=>(const Signature&) const = default;
        };
        std::vector<Signature> signatures(partition.blocks);
        for (std::uint32_t vertex = 0; vertex < topology_.vertices(); ++vertex) {
            Signature& own = signatures[partition.block_of[vertex]];
            ++(vertex < topology_.hosts ? own.hosts : own.switches);
        }
        const bool directed = topology_.directed();
        for (std::uint32_t cable = 0; cable < topology_.cables; ++cable) {
            const std::uint32_t from = partition.block_of[ends_[cable].first],
                                to = partition.block_of[ends_[cable].second];
            const std::uint64_t kind = kinds_.of_cable[cable] << 32;
            if (from == to) {
                ++signatures[from].inside;
                continue;
            }
            signatures[from].out += split_mix(kind | to);
            (directed ? signatures[to].in : signatures[to].out) += split_mix(kind | from);
        }
        std::map<Signature, std::uint32_t> first;
        Labels labels;
        for (const std::uint32_t block : partition.block_of) {
            const bool kept = block < partition.with_hosts && !hosts;
            labels.push_back(kept ? block : first.try_emplace(signatures[block], block).first->second);
        }
        GraphPartition result = numbered(labels);
        result.part_of = partition.part_of;
        return result;
    }

    /// Joins consecutive blocks, those with hosts and those without separately, into at most `most`.
    GraphPartition grouped(const GraphPartition& partition, std::uint32_t most) const {
        const auto size = [most](std::uint32_t blocks) { return std::max(1U, (blocks + most / 2 - 1) / (most / 2)); };
        const std::uint32_t hosts = partition.with_hosts, of_hosts = size(hosts),
                            of_switches = size(partition.blocks - hosts);
        Labels labels;
        for (const std::uint32_t block : partition.block_of)
            labels.push_back(block < hosts ? block / of_hosts : hosts + (block - hosts) / of_switches);
        GraphPartition result = numbered(labels);
        result.part_of = partition.part_of;
        return result;
    }

    const Topology& topology_;
    const CableColours& kinds_;
    const CableEnds& ends_;
};

}  // namespace

GraphPartition partitioned(const Topology& topology, const CableColours& kinds, const CableEnds& ends,
                           std::uint32_t most) {
    return Partitioner(topology, kinds, ends).partition(most);
}

}  // namespace syncline
