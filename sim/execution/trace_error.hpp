#pragma once

#include <stdexcept>

namespace syncline {

/// A fault of an execution trace: "rank 3 sends 2 messages to rank 1 with tag 0, which receives 1".
struct TraceError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace syncline
