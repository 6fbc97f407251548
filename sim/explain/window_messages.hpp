#pragma once

#include <cstdint>
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

struct WindowMessages {
    std::vector<WindowExchange> exchanges;
    std::vector<WindowMessage> messages;  ///< in order of their start
};

/// Returns the messages that are in flight in the window. Steps, blocks and contributions of transfers between stages,
/// and of halos, are unknown: there is nothing to divide or to add. `view` must outlive the result.
WindowMessages messages_in_window(const TimelineView& view);

}  // namespace syncline
