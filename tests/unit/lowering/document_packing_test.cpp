#include "sim/lowering/document_packing.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

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
    // Three documents of 5 tokens for two sequences of 8, of which the rest of a fourth fills the last place: the third
    // is cut, and 3 of its tokens are in each.
    const Documents cut = of_file({5, 5, 5, 1}, Packing::balanced);
    CHECK(Packer(cut, 1, 8).next(2, 1) == std::vector<PackedSequence>{{5, 3}, {5, 2, 1}});
}

TEST_CASE("documents: balanced sequences are given to the replicas with the least work", "[documents]") {
    // One document per sequence: 8 with the lightest, 7 and 6 together would be 85 against 64 + 25.
    const Documents documents = of_file({8, 8, 4, 4, 4, 4}, Packing::balanced);
    const std::vector<PackedSequence> all = Packer(documents, 1, 8).next(4, 2);
    CHECK(all == std::vector<PackedSequence>{{8}, {4, 4}, {8}, {4, 4}});
}

TEST_CASE("documents: packings keep all tokens, and balance lowers the largest work", "[documents]") {
    Documents documents;
    documents.mean = 700;
    documents.variation = 2;
    constexpr std::int64_t positions = 4096;
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
        double largest[2] = {0, 0};
        for (const Packing packing : {Packing::in_order, Packing::balanced}) {
            documents.packing = packing;
            for (const PackedSequence& sequence : Packer(documents, seed, positions).next(64, 8)) {
                CHECK(tokens(sequence) == positions);
                CHECK(std::ranges::all_of(sequence, [](std::int64_t document) { return document > 0; }));
                double& most = largest[packing == Packing::balanced];
                most = std::max(most, work(sequence));
            }
        }
        CHECK(largest[1] <= largest[0]);
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
