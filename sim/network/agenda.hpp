#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/network/keyed_heap.hpp"

/// The times at which numbered things will happen: a priority queue in which a time can be changed or withdrawn. What
/// happens at the same time is a list, or a few, since in simulations of equal ranks most does: adding to a list that
/// is remembered and taking from one are O(1), a further list O(log lists). Things of one time come in any order, the
/// same in every run.
namespace syncline {

class Agenda {
    auto position() {
        return [this](std::uint32_t instant) -> std::uint32_t& { return instants_[instant].position; };
    }

public:
    Agenda() { known_.fill(none); }

    /// Returns the earliest time; infinity if nothing is scheduled.
    double next_s() const { return heap_.empty() ? std::numeric_limits<double>::infinity() : heap_.front().key; }

    /// Schedules `number`, or moves it to another time.
    void set(std::uint32_t number, double time_s) {
        if (number >= items_.size()) items_.resize(std::size_t{number} + 1);
        const std::uint32_t before = items_[number].instant;
        if (before != none) {
            if (instants_[before].time_s == time_s) return;
            unlink(number);
        }
        std::uint32_t& known = known_[hash(time_s)];
        if (known != none && instants_[known].time_s == time_s) {
            if (before != none && instants_[before].first == none) remove(before);
        } else if (before != none && instants_[before].first == none) {
            instants_[known = before].time_s = time_s;
            heap::change(heap_, instants_[before].position, time_s, position());
        } else {
            known = add(time_s);
        }
        link(number, known);
    }

    /// Withdraws `number`, if it is scheduled.
    void cancel(std::uint32_t number) {
        if (number >= items_.size() || items_[number].instant == none) return;
        const std::uint32_t instant = items_[number].instant;
        unlink(number);
        if (instants_[instant].first == none) remove(instant);
    }

    /// Removes the first number with the earliest time and returns it; there must be one.
    std::uint32_t pop() {
        const std::uint32_t number = instants_[heap_.front().number].first;
        cancel(number);
        return number;
    }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    struct Item {
        std::uint32_t instant = none, before = none, next = none;
    };

    struct Instant {
        double time_s = 0;  ///< not a number if it is not in use
        std::uint32_t first = none, last = none;
        std::uint32_t position = 0;  ///< in heap_
    };

    static std::size_t hash(double time_s) { return std::bit_cast<std::uint64_t>(time_s) * 0x9E3779B97F4A7C15U >> 56U; }

    std::uint32_t add(double time_s) {
        if (free_.empty()) {
            free_.push_back(static_cast<std::uint32_t>(instants_.size()));
            instants_.emplace_back();
        }
        const std::uint32_t instant = free_.back();
        free_.pop_back();
        instants_[instant].time_s = time_s;
        heap::push(heap_, {time_s, instant}, position());
        return instant;
    }

    void remove(std::uint32_t instant) {
        heap::remove(heap_, instants_[instant].position, position());
        instants_[instant].time_s = std::numeric_limits<double>::quiet_NaN();
        free_.push_back(instant);
    }

    void link(std::uint32_t number, std::uint32_t instant) {
        Instant& list = instants_[instant];
        items_[number] = {instant, list.last, none};
        (list.last == none ? list.first : items_[list.last].next) = number;
        list.last = number;
    }

    void unlink(std::uint32_t number) {
        const Item item = items_[number];
        Instant& list = instants_[item.instant];
        (item.before == none ? list.first : items_[item.before].next) = item.next;
        (item.next == none ? list.last : items_[item.next].before) = item.before;
        items_[number].instant = none;
    }

    std::vector<heap::Entry> heap_;  // of instants
    std::vector<Instant> instants_;
    std::vector<std::uint32_t> free_;
    std::vector<Item> items_;                 // by number
    std::array<std::uint32_t, 256> known_{};  // instants by a hash of their times
};

}  // namespace syncline
