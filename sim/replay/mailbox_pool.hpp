#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include <simgrid/s4u/Mailbox.hpp>

#include "sim/taskgraph/task_graph.hpp"

/// Lends mailboxes to pairs of processes while a message between them waits for its other side.
///
/// SimGrid never frees a mailbox, so one for each pair that ever meets would need memory quadratic in the number of
/// ranks in an all-to-all. The pool has only as many as messages ever wait at the same time: the side that arrives
/// first takes a free mailbox, and it becomes free again when the other side arrives, because SimGrid matches put and
/// get when the second of them is posted.
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

    /// Returns the mailbox in which the calling actor must post its side of the next message of `pair`, before it does
    /// anything else. The n-th put matches the n-th get.
    simgrid::s4u::Mailbox* next(const Pair& pair, Side side);

private:
    struct Hash {
        std::size_t operator()(const Pair& pair) const;
    };
    /// Messages of a pair whose other side has not arrived yet.
    struct Waiting {
        simgrid::s4u::Mailbox* mailbox = nullptr;
        std::uint32_t messages = 0;
        Side side = Side::put;  ///< side that has arrived
    };

    std::unordered_map<Pair, Waiting, Hash> waiting_;
    std::vector<simgrid::s4u::Mailbox*> free_;
    std::size_t made_ = 0;
};

}  // namespace syncline
