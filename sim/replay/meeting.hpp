#pragma once

#include <algorithm>

namespace syncline {

/// The way in which the two sides of a message meet (MessageTerms::eager_bytes in transport.hpp).
struct Meeting {
    bool awaits_receiver = true;  ///< false: the message starts when its sender is ready
    double handshake_s = 0;       ///< latency of the request to the receiver, and of its answer

    /// Returns the time at which the message's bytes start, if its sides are ready at these times.
    double start_s(double sender_s, double receiver_s) const {
        return awaits_receiver ? std::max(sender_s + handshake_s, receiver_s) + handshake_s : sender_s;
    }
};

}  // namespace syncline
