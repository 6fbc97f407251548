#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

/// The times at which numbered things will happen: a priority queue in which a time can be changed or withdrawn. A heap
/// with four children per node (A. LaMarca, R. Ladner, "The influence of caches on the performance of heaps", JEA 1,
/// 1996). set(), cancel() and pop() take O(log n).
namespace syncline {

class Agenda {
public:
    /// Returns the earliest time; infinity if nothing is scheduled.
    double next_s() const { return heap_.empty() ? std::numeric_limits<double>::infinity() : heap_.front().time_s; }

    /// Schedules `number`, or moves it to another time.
    void set(std::uint32_t number, double time_s) {
        if (number >= position_.size()) position_.resize(std::size_t{number} + 1, nowhere);
        const std::uint32_t at = position_[number];
        if (at == nowhere) {
            heap_.push_back({time_s, number});
            rise(static_cast<std::uint32_t>(heap_.size() - 1));
            return;
        }
        const double before_s = heap_[at].time_s;
        heap_[at].time_s = time_s;
        time_s < before_s ? rise(at) : sink(at);
    }

    /// Withdraws `number`, if it is scheduled.
    void cancel(std::uint32_t number) {
        if (number < position_.size() && position_[number] != nowhere) remove(position_[number]);
    }

    /// Removes the number with the earliest time and returns it; there must be one.
    std::uint32_t pop() {
        const std::uint32_t number = heap_.front().number;
        remove(0);
        return number;
    }

private:
    static constexpr std::uint32_t nowhere = ~std::uint32_t{0};

    struct Entry {
        double time_s;
        std::uint32_t number;
    };

    void place(std::uint32_t at, const Entry& entry) {
        heap_[at] = entry;
        position_[entry.number] = at;
    }

    void remove(std::uint32_t at) {
        position_[heap_[at].number] = nowhere;
        const Entry last = heap_.back();
        heap_.pop_back();
        if (at == heap_.size()) return;
        const double before_s = heap_[at].time_s;
        heap_[at] = last;
        last.time_s < before_s ? rise(at) : sink(at);
    }

    void rise(std::uint32_t at) {
        const Entry entry = heap_[at];
        while (at > 0) {
            const std::uint32_t parent = (at - 1) / 4;
            if (heap_[parent].time_s <= entry.time_s) break;
            place(at, heap_[parent]);
            at = parent;
        }
        place(at, entry);
    }

    void sink(std::uint32_t at) {
        const Entry entry = heap_[at];
        const auto size = static_cast<std::uint32_t>(heap_.size());
        for (;;) {
            const std::uint32_t first = 4 * at + 1;
            if (first >= size) break;
            const std::uint32_t end = first + 4 < size ? first + 4 : size;
            std::uint32_t earliest = first;
            for (std::uint32_t child = first + 1; child < end; ++child)
                if (heap_[child].time_s < heap_[earliest].time_s) earliest = child;
            if (heap_[earliest].time_s >= entry.time_s) break;
            place(at, heap_[earliest]);
            at = earliest;
        }
        place(at, entry);
    }

    std::vector<Entry> heap_;
    std::vector<std::uint32_t> position_;  // by number
};

}  // namespace syncline
