#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/collective/algorithm.hpp"

/// The data in the messages of a collective: which step sends them, which blocks they carry, and whose data these hold.
///
/// The programs of all members are run without time. A member begins with its own data in every block; what it receives
/// replaces its block or, in a step that reduces, is added to it, so a block holds the data of a set of members. Since
/// no algorithm sends a block that it has not received and does not have, this holds for every operation: in an
/// allgather the block that a member sends is its own or has replaced what was there. Of a pull the server begins with
/// the data of all workers (parameter_server.hpp), and switches, servers and the lower halves of ranks have none
/// (in_network.hpp).
///
/// Lanes of a member that work on the same slice share its blocks; a lane's messages are received in the order in which
/// they are sent. Left out: how often a member's data is in a block; members that contribute zeros (contributors.cpp)
/// count as others.
namespace syncline {

/// Base of algorithms whose messages have sizes, and do not say which blocks of the buffer they carry.
class WithoutBlocks {
protected:
    ~WithoutBlocks() = default;
};

/// A message in the data flow of a collective.
struct FlowMessage {
    std::uint32_t from = 0, lane = 0, to = 0;  ///< members, and the sender's lane
    std::uint32_t step = 0;                    ///< of this lane, repetitions counted
    bool adds = false;                         ///< the receiver adds it to its own
    Blocks blocks = {};                        ///< numbered slice by slice; inside a slice its first follows its last
    std::vector<Blocks> more = {};             ///< further blocks of the message
    std::uint32_t contributions = 0;           ///< number of members whose data is in the blocks; 0: unknown
};

struct DataFlow {
    std::uint32_t steps = 0;   ///< of the longest program, repetitions counted
    std::uint32_t slices = 1;  ///< with as many blocks each
    /// Number of blocks in all slices; 0: unknown, and so are those of messages, and their contributions.
    std::uint32_t blocks = 0;
    std::vector<FlowMessage> messages;  ///< by sender, lane and receiver, then in the order in which they are sent
    /// By member and block: the number of members whose data it has in the end. Empty if that is unknown.
    std::vector<std::vector<std::uint32_t>> ends_with;

    /// Returns the messages that a lane of a member sends to another member, in order.
    std::span<const FlowMessage> sent(std::uint32_t from, std::uint32_t lane, std::uint32_t to) const;
};

/// Returns the data flow of the `round`-th execution by a group of `members`. Contributions are unknown in groups of
/// more than 256 members, and where messages do not name their blocks: schedules from files, and all-reduces by
/// switches of several parts of the buffer. Of more than `most_messages` none is listed.
DataFlow data_flow(const CollectiveAlgorithm& algorithm, std::uint32_t members, std::uint64_t bytes,
                   std::uint32_t round, std::uint64_t most_messages = 1'000'000);

}  // namespace syncline
