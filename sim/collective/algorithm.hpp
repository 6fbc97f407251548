#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/collective/program.hpp"

/// A way of carrying out a collective operation: each member's program, and beside it the closed form of its time.
namespace syncline {

/// Hockney's model of a message, α + β·bytes, and γ for each byte that is reduced.
struct MessageCost {
    double alpha_s = 0;
    double beta_s_per_B = 0;
    double gamma_s_per_B = 0;
};

class CollectiveAlgorithm {
public:
    CollectiveAlgorithm() = default;
    CollectiveAlgorithm(const CollectiveAlgorithm&) = delete;
    CollectiveAlgorithm& operator=(const CollectiveAlgorithm&) = delete;
    virtual ~CollectiveAlgorithm() = default;

    /// What member `rank` of a group of `ranks` does with a buffer of `bytes`. One rank alone does nothing.
    virtual Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes) const = 0;

    /// Seconds until the last member is done, where every member has a full-duplex link of its own to a switch that
    /// never blocks, and all start at once.
    virtual double cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const = 0;

    /// The cost in the literature's notation, for people.
    virtual std::string formula() const = 0;
};

/// The all-reduce algorithms by name; the names are what a plan's `algorithm` takes.
std::vector<std::string> algorithm_names();

/// Throws std::logic_error if there is none of that name.
const CollectiveAlgorithm& allreduce_algorithm(const std::string& name);

}  // namespace syncline
