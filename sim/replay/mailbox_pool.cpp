#include "sim/replay/mailbox_pool.hpp"

#include <fmt/format.h>

namespace syncline {

std::size_t MailboxPool::Hash::operator()(const Pair& pair) const {
    std::uint64_t mixed = (std::uint64_t{pair.from} << 32 | pair.to) + pair.channel * 0x9e3779b97f4a7c15ULL;
    mixed = (mixed ^ (mixed >> 32)) * 0xd6e8feb86659fd93ULL;
    return mixed ^ (mixed >> 32);
}

simgrid::s4u::Mailbox* MailboxPool::next(const Pair& pair, Side side) {
    // Must precede the look-ups: other actors may run while SimGrid creates a mailbox.
    if (free_.empty()) free_.push_back(simgrid::s4u::Mailbox::by_name(fmt::format("pool:{}", made_++)));
    const auto [found, first] = waiting_.try_emplace(pair);
    Waiting& waiting = found->second;
    if (first) {
        waiting = {free_.back(), 0, side};
        free_.pop_back();
    }
    simgrid::s4u::Mailbox* const mailbox = waiting.mailbox;
    if (waiting.side == side) {
        ++waiting.messages;
    } else if (--waiting.messages == 0) {
        free_.push_back(mailbox);
        waiting_.erase(found);
    }
    return mailbox;
}

}  // namespace syncline
