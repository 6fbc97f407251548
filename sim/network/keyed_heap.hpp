#pragma once

#include <cstdint>

/// Heaps of numbered things by a key, in which a thing can be moved or removed: with four children per node (A.
/// LaMarca, R. Ladner, "The influence of caches on the performance of heaps", JEA 1, 1996). `position(number)` is a
/// reference to where the thing's place in the heap is kept. Changes take O(log n).
namespace syncline::heap {

struct Entry {
    double key = 0;
    std::uint32_t number = 0;
};

template <class Heap, class Position>
void place(Heap& heap, std::uint32_t at, const Entry& entry, const Position& position) {
    heap[at] = entry;
    position(entry.number) = at;
}

template <class Heap, class Position>
void rise(Heap& heap, std::uint32_t at, const Position& position) {
    const Entry entry = heap[at];
    while (at > 0) {
        const std::uint32_t parent = (at - 1) / 4;
        if (heap[parent].key <= entry.key) break;
        place(heap, at, heap[parent], position);
        at = parent;
    }
    place(heap, at, entry, position);
}

template <class Heap, class Position>
void sink(Heap& heap, std::uint32_t at, const Position& position) {
    const Entry entry = heap[at];
    const auto size = static_cast<std::uint32_t>(heap.size());
    for (;;) {
        const std::uint32_t first = 4 * at + 1;
        if (first >= size) break;
        const std::uint32_t end = first + 4 < size ? first + 4 : size;
        std::uint32_t least = first;
        for (std::uint32_t child = first + 1; child < end; ++child)
            if (heap[child].key < heap[least].key) least = child;
        if (heap[least].key >= entry.key) break;
        place(heap, at, heap[least], position);
        at = least;
    }
    place(heap, at, entry, position);
}

template <class Heap, class Position>
void push(Heap& heap, const Entry& entry, const Position& position) {
    heap.push_back(entry);
    rise(heap, static_cast<std::uint32_t>(heap.size() - 1), position);
}

template <class Heap, class Position>
void change(Heap& heap, std::uint32_t at, double key, const Position& position) {
    const double before = heap[at].key;
    heap[at].key = key;
    key < before ? rise(heap, at, position) : sink(heap, at, position);
}

template <class Heap, class Position>
void remove(Heap& heap, std::uint32_t at, const Position& position) {
    const Entry last = heap.back();
    heap.pop_back();
    if (at == heap.size()) return;
    const double before = heap[at].key;
    heap[at] = last;
    last.key < before ? rise(heap, at, position) : sink(heap, at, position);
}

}  // namespace syncline::heap
