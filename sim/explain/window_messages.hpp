#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sim/collective/data_flow.hpp"
#include "sim/explain/explanation.hpp"

/// The messages of a recorded window, each with its exchange and its part in the exchange's data flow
/// (sim/collective/data_flow.hpp). The n-th message that a lane of a task sends to another task is the n-th one that
/// its program sends there.
namespace syncline {

/// An exchange with messages in the window. Microbatches and iterations that execute it again share the entry.
struct WindowExchange {
    std::string what;  ///< name of its tasks
    Phase phase = {};  ///< of its tasks
    std::uint64_t bytes = 0;
    const CollectiveAlgorithm* algorithm = nullptr;
    std::vector<ProcessId> members;
    std::uint32_t steps = 0, blocks = 0, slices = 1;  ///< see DataFlow; 0: unknown
    /// The member that a block belongs to, by block; empty: those of order.
    std::vector<std::uint32_t> owners;
};

struct WindowMessage {
    static constexpr std::int64_t unknown = -1;

    const MessageRecord* record = nullptr;
    ProcessId from = 0, to = 0;
    std::uint32_t exchange = 0;  ///< in WindowMessages::exchanges
    std::uint32_t micro_batch = 0;
    std::int64_t step = unknown;                     ///< of the sender's lane, repetitions counted
    std::int64_t block = unknown, blocks = unknown;  ///< first of consecutive blocks, and their number
    std::vector<Blocks> more = {};                   ///< further blocks
    std::int64_t contributions = unknown;            ///< number of members whose data is in the blocks
    bool adds = false;                               ///< the receiver adds it to its own
};

/// Which messages stay if there are too many.
struct MessageLimits {
    std::size_t most = std::numeric_limits<std::size_t>::max();
    /// If there are more, first those are left out that start later than this after the window's start, ...
    double first_s = std::numeric_limits<double>::infinity();
    // ... then those of the processes with the highest numbers.
};

struct WindowMessages {
    std::vector<WindowExchange> exchanges;
    std::vector<WindowMessage> messages;  ///< in order of their start
    std::size_t left_out = 0;             ///< number of messages that do not stay
    bool shortened = false;               ///< those that start later than MessageLimits::first_s do not
    bool thinned = false;                 ///< some of those that start in time do not: of processes beyond `last`
    ProcessId last = 0;                   ///< the last process that has all messages, sent and received, of these
    bool cut = false;                     ///< even those of `last` are too many, and the first ones stay
};

/// Returns the messages that are in flight in the window. Steps, blocks and contributions of transfers between stages,
/// of halos, and of messages between two ranks in an execution trace are unknown: there is nothing to divide or to add.
/// `view` must outlive the result.
WindowMessages messages_in_window(const TimelineView& view, const MessageLimits& limits = {});

}  // namespace syncline
