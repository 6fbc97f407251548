#pragma once

#include <stdexcept>

namespace syncline {

/// A simulation that could not be completed.
class ReplayError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace syncline
