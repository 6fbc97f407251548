#include "sim/lowering/document_packing.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

namespace syncline {

namespace {

/// Returns Σ n².
double work_of(const PackedSequence& sequence) {
    double work = 0;
    for (const std::int64_t document : sequence) work += static_cast<double>(document) * static_cast<double>(document);
    return work;
}

/// Gives the sequences to replicas, and returns them replica by replica.
std::vector<PackedSequence> dealt(std::vector<PackedSequence> all, std::size_t replicas) {
    std::ranges::stable_sort(all, std::greater(), work_of);
    struct Share {
        double work;
        std::size_t number;
        bool operator<(const Share& other) const { return std::tie(work, number) < std::tie(other.work, other.number); }
    };
    std::set<Share> open;
    for (std::size_t replica = 0; replica < replicas; ++replica) open.insert({0, replica});
    std::vector<std::vector<PackedSequence>> shares(replicas);
    for (PackedSequence& sequence : all) {
        Share least = *open.begin();
        open.erase(open.begin());
        least.work += work_of(sequence);
        std::vector<PackedSequence>& share = shares[least.number];
        share.push_back(std::move(sequence));
        if (share.size() < all.size() / replicas) open.insert(least);
    }
    std::vector<PackedSequence> result;
    for (std::vector<PackedSequence>& share : shares) std::ranges::move(share, std::back_inserter(result));
    return result;
}

}  // namespace

Packer::Packer(const Documents& documents, std::uint64_t seed, std::int64_t positions)
    : lengths_(documents, seed), packing_(documents.packing), positions_(positions) {}

std::int64_t Packer::take(std::int64_t most) {
    if (rest_ == 0) rest_ = lengths_.of(number_++);
    const std::int64_t part = std::min(rest_, most);
    rest_ -= part;
    return part;
}

std::vector<PackedSequence> Packer::next(std::int64_t sequences, std::int64_t replicas) {
    if (packing_ == Packing::balanced) return dealt(balanced(sequences), static_cast<std::size_t>(replicas));
    std::vector<PackedSequence> all(static_cast<std::size_t>(sequences));
    for (PackedSequence& sequence : all) {
        for (std::int64_t room = positions_; room > 0; room -= sequence.back()) {
            sequence.push_back(take(room));
            if (packing_ == Packing::padded) break;
        }
    }
    return all;
}

std::vector<PackedSequence> Packer::balanced(std::int64_t sequences) {
    std::vector<std::int64_t> documents;
    for (std::int64_t left = sequences * positions_; left > 0; left -= documents.back())
        documents.push_back(take(std::min(left, positions_)));
    std::ranges::sort(documents, std::greater());
    struct Bin {
        double work;  ///< Σ n²
        std::int64_t room;
        std::size_t number;
        bool operator<(const Bin& other) const { return std::tie(work, number) < std::tie(other.work, other.number); }
    };
    std::set<Bin> open;
    std::vector<PackedSequence> all(static_cast<std::size_t>(sequences));
    for (std::size_t number = 0; number < all.size(); ++number) open.insert({0, positions_, number});
    for (std::int64_t left : documents) {
        while (left > 0) {
            auto bin = std::ranges::find_if(open, [left](const Bin& one) { return one.room >= left; });
            if (bin == open.end()) bin = std::ranges::max_element(open, {}, &Bin::room);
            Bin filled = *bin;
            open.erase(bin);
            const std::int64_t part = std::min(left, filled.room);
            all[filled.number].push_back(part);
            left -= part;
            filled.room -= part;
            filled.work += static_cast<double>(part) * static_cast<double>(part);
            if (filled.room > 0) open.insert(filled);
        }
    }
    return all;
}

}  // namespace syncline
