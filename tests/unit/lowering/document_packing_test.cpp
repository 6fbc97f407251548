#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "sim/lowering/document_packing.hpp"
#include "tests/catch.hpp"

using namespace syncline;

namespace {

std::int64_t tokens(const PackedSequence& sequence) {
    return std::accumulate(sequence.begin(), sequence.end(), std::int64_t{0});
}

double work(const PackedSequence& sequence) {
    double sum = 0;
    for (const std::int64_t document : sequence) sum += static_cast<double>(document) * static_cast<double>(document);
    return sum;
}

Documents of_file(std::vector<std::int64_t> lengths, Packing packing) {
    Documents documents;
    documents.listed = std::move(lengths);
    documents.packing = packing;
    return documents;
}

/// Packs documents, the longest first, each into the sequence with the least work of all that have room, one by one.
std::vector<PackedSequence> packed_one_by_one(const std::vector<std::int64_t>& documents, std::size_t sequences,
                                              std::int64_t positions) {
    std::vector<PackedSequence> all(sequences);
    for (std::int64_t left : documents) {
        while (left > 0) {
            PackedSequence* best = nullptr;
            std::int64_t best_part = 0;
            for (PackedSequence& one : all) {
                const std::int64_t part = std::min(left, positions - tokens(one));
                const bool more = part == left ? best_part < left : part > best_part;
                if (part == 0 || (!more && (part < best_part || work(one) >= work(*best)))) continue;
                best = &one;
                best_part = part;
            }
            best->push_back(best_part);
            left -= best_part;
        }
    }
    return all;
}

}  // namespace

TEST_CASE("documents: in order, they are cut where a sequence ends, and go on in the next iteration", "[documents]") {
    const Documents documents = of_file({5, 9, 2}, Packing::in_order);
    Packer packer(documents, 1, 8);
    const std::vector<PackedSequence> first = packer.next(1, 1), second = packer.next(2, 1);
    CHECK(first == std::vector<PackedSequence>{{5, 3}});
    CHECK(second == std::vector<PackedSequence>{{6, 2}, {5, 3}});
}

TEST_CASE("documents: padded, each has a sequence, and one that is too long several", "[documents]") {
    const Documents documents = of_file({5, 9, 2}, Packing::padded);
    CHECK(Packer(documents, 1, 8).next(4, 1) == std::vector<PackedSequence>{{5}, {8}, {1}, {2}});
}

TEST_CASE("documents: balanced, the longest go first to the sequences with the least work", "[documents]") {
    // 6 and 5 begin the two sequences; 3 goes to the 5, and fills it; 2 goes to the 6.
    const Documents documents = of_file({2, 3, 6, 5}, Packing::balanced);
    CHECK(Packer(documents, 1, 8).next(2, 1) == std::vector<PackedSequence>{{6, 2}, {5, 3}});
    // The third document of 5 tokens has room nowhere.
    const Documents cut = of_file({5, 5, 5, 1}, Packing::balanced);
    CHECK(Packer(cut, 1, 8).next(2, 1) == std::vector<PackedSequence>{{5, 3}, {5, 2, 1}});
}

TEST_CASE("documents: balanced, each goes where a search of all sequences finds least work", "[documents]") {
    Documents documents;
    documents.packing = Packing::balanced;
    documents.lengths = Lengths::exponential;
    constexpr std::int64_t positions = 60, sequences = 12;
    for (const double mean : {2.0, 10.0, 40.0}) {
        documents.mean = mean;
        for (std::uint64_t seed = 1; seed <= 50; ++seed) {
            std::vector<std::int64_t> lengths;
            const DocumentLengths drawn(documents, seed);
            std::int64_t left = sequences * positions, rest = 0;
            for (std::uint64_t number = 0; left > 0; left -= lengths.back()) {
                if (rest == 0) rest = drawn.of(number++);
                lengths.push_back(std::min({rest, left, positions}));
                rest -= lengths.back();
            }
            std::ranges::sort(lengths, std::greater());
            std::vector<PackedSequence> expected = packed_one_by_one(lengths, sequences, positions);
            // One replica gets all, most work first.
            std::ranges::stable_sort(expected, std::greater(), work);
            CHECK(Packer(documents, seed, positions).next(sequences, 1) == expected);
        }
    }
}

TEST_CASE("documents: balanced sequences are given to the replicas with the least work", "[documents]") {
    // Two sequences have a work of 64, and two of 32: each replica gets one of both.
    const Documents documents = of_file({8, 8, 4, 4, 4, 4}, Packing::balanced);
    const std::vector<PackedSequence> all = Packer(documents, 1, 8).next(4, 2);
    CHECK(all == std::vector<PackedSequence>{{8}, {4, 4}, {8}, {4, 4}});
}

TEST_CASE("documents: packings keep all tokens, and balance makes replicas more equal", "[documents]") {
    Documents documents;
    documents.mean = 700;
    documents.variation = 2;
    constexpr std::int64_t positions = 4096;
    constexpr std::size_t replicas = 8, each = 8;
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
        double imbalance[2] = {0, 0};
        for (const Packing packing : {Packing::in_order, Packing::balanced}) {
            documents.packing = packing;
            const auto all = Packer(documents, seed, positions).next(replicas * each, replicas);
            double sum = 0, most = 0;
            for (std::size_t replica = 0; replica < replicas; ++replica) {
                double of_replica = 0;
                for (std::size_t number = 0; number < each; ++number) {
                    CHECK(tokens(all[replica * each + number]) == positions);
                    of_replica += work(all[replica * each + number]);
                }
                sum += of_replica;
                most = std::max(most, of_replica);
            }
            imbalance[packing == Packing::balanced] = most * replicas / sum;
        }
        CHECK(imbalance[1] < imbalance[0]);
    }
}

TEST_CASE("documents: lengths follow from the seed and the number", "[documents]") {
    for (const Lengths lengths : {Lengths::uniform, Lengths::exponential, Lengths::lognormal, Lengths::pareto}) {
        Documents documents;
        documents.lengths = lengths;
        documents.mean = 1e6;
        const DocumentLengths one(documents, 1), again(documents, 1), other(documents, 2);
        int equal = 0;
        for (std::uint64_t number = 0; number < 100; ++number) {
            CHECK(one.of(number) == again.of(number));
            if (one.of(number) == other.of(number)) ++equal;
        }
        CHECK(equal < 5);
    }
}
