#include "sim/lowering/document_packing.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
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

/// A sequence that has room.
struct Bin {
    double work;  ///< Σ n²
    std::size_t number;
    std::int64_t room;
    bool operator<(const Bin& other) const { return std::tie(work, number) < std::tie(other.work, other.number); }
};

/// Finds the bin with the least work that has room, in logarithmic time: a tree over all amounts of room, in classes of
/// `width_` of them where they are many, knows the least bin of each range.
class OpenBins {
public:
    OpenBins(std::size_t bins, std::int64_t positions)
        : width_(positions / most_classes + 1), classes_(class_of(positions) + 1), least_(2 * classes_, none) {
        std::set<Bin>& empty = by_room_[positions];
        for (std::size_t number = 0; number < bins; ++number) empty.insert(empty.end(), {0, number, positions});
        renew(positions);
    }

    void put(const Bin& bin) {
        by_room_[bin.room].insert(bin);
        renew(bin.room);
    }

    /// Takes out the least bin with so much room; if there is none, the least one of those with most room.
    Bin take(std::int64_t room) {
        const std::size_t own = class_of(room);
        Bin found = least_from(room, own);
        std::size_t from = classes_ + own + 1;
        for (std::size_t to = 2 * classes_; from < to; from /= 2, to /= 2) {
            if (from % 2 == 1) found = std::min(found, least_[from++]);
            if (to % 2 == 1) found = std::min(found, least_[--to]);
        }
        if (found.room == 0) found = *by_room_.rbegin()->second.begin();
        const auto same = by_room_.find(found.room);
        same->second.erase(found);
        if (same->second.empty()) by_room_.erase(same);
        renew(found.room);
        return found;
    }

private:
    static constexpr Bin none{std::numeric_limits<double>::infinity(), 0, 0};
    static constexpr std::int64_t most_classes = 1 << 16;

    std::size_t class_of(std::int64_t room) const { return static_cast<std::size_t>(room / width_); }

    /// Returns the least bin of a class with at least so much room.
    Bin least_from(std::int64_t room, std::size_t number) const {
        Bin least = none;
        for (auto at = by_room_.lower_bound(room); at != by_room_.end() && class_of(at->first) == number; ++at)
            least = std::min(least, *at->second.begin());
        return least;
    }

    /// Brings the tree up to date with the bins that have so much room.
    void renew(std::int64_t room) {
        const std::size_t number = class_of(room);
        std::size_t at = classes_ + number;
        least_[at] = least_from(static_cast<std::int64_t>(number) * width_, number);
        while ((at /= 2) > 0) least_[at] = std::min(least_[2 * at], least_[2 * at + 1]);
    }

    std::int64_t width_;
    std::size_t classes_;
    std::vector<Bin> least_;  ///< node i is above nodes 2i and 2i + 1; the leaves are the last half, by class
    std::map<std::int64_t, std::set<Bin>> by_room_;  ///< only amounts that some bin has
};

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
    std::vector<PackedSequence> all(static_cast<std::size_t>(sequences));
    OpenBins open(all.size(), positions_);
    for (std::int64_t left : documents) {
        while (left > 0) {
            Bin filled = open.take(left);
            const std::int64_t part = std::min(left, filled.room);
            all[filled.number].push_back(part);
            left -= part;
            filled.room -= part;
            filled.work += static_cast<double>(part) * static_cast<double>(part);
            if (filled.room > 0) open.put(filled);
        }
    }
    return all;
}

}  // namespace syncline
