#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include <simgrid/s4u/Mailbox.hpp>

#include "sim/taskgraph/task_graph.hpp"

/// Mailboxes lent to pairs of processes for as long as a message between them waits for its other side.
///
/// SimGrid never frees a mailbox, so one for each pair that ever meets would take memory with the square of the ranks
/// in an all-to-all. Here there are only as many as messages ever wait at once: the side that comes first takes a free
/// mailbox, and with the other side it is free again, as SimGrid matches put and get when the second of them is posted.
namespace syncline {

class MailboxPool {
public:
    /// One direction between two processes, of one channel.
    struct Pair {
        std::uint32_t channel = 0;
        ProcessId from = 0, to = 0;
        bool operator==(const Pair&) const = default;
    };
    enum class Side { put, get };

    /// Where the calling actor posts its side of the next message of `pair`, before it does anything else. The n-th
    /// that is put is the n-th that is got.
    simgrid::s4u::Mailbox* next(const Pair& pair, Side side);

private:
    struct Hash {
        std::size_t operator()(const Pair& pair) const;
    };
    /// Messages of a pair whose other side has not come yet.
    struct Waiting {
        simgrid::s4u::Mailbox* mailbox = nullptr;
        std::uint32_t messages = 0;
        Side side = Side::put;  ///< that has come
    };

    std::unordered_map<Pair, Waiting, Hash> waiting_;
    std::vector<simgrid::s4u::Mailbox*> free_;
    std::size_t made_ = 0;
};

}  // namespace syncline
