#include "sim/plan/documents.hpp"

#include <algorithm>
#include <cmath>

#include "sim/taskgraph/pace.hpp"

namespace syncline {

namespace {

constexpr double longest = 1e12;  // tokens: heavy tails have no bound

/// Returns a number between 0 and 1, neither of them.
double uniform_of(std::uint64_t bits) {
    return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
}

}  // namespace

std::int64_t DocumentLengths::of(std::uint64_t number) const {
    if (!documents_.listed.empty()) return documents_.listed[number % documents_.listed.size()];
    // Hashed twice, so that no other draws share the counters.
    constexpr std::uint64_t of_documents = 0x646f63756d656e74;
    const std::uint64_t own = random_bits(seed_, of_documents, of_documents);
    const std::uint64_t bits = documents_.lengths == Lengths::equal ? 0 : random_bits(own, number, of_documents);
    const double mean = documents_.mean;
    double length = mean;
    switch (documents_.lengths) {
        case Lengths::equal:
            break;
        case Lengths::uniform:
            length = 2 * mean * uniform_of(bits);
            break;
        case Lengths::exponential:
            length = -mean * std::log(uniform_of(bits));
            break;
        case Lengths::lognormal:
            length = mean * lognormal_factor(documents_.variation, bits);
            break;
        case Lengths::pareto: {
            const double shape = documents_.shape;
            length = mean * (shape - 1) / shape * std::pow(uniform_of(bits), -1 / shape);
            break;
        }
    }
    return static_cast<std::int64_t>(std::clamp(std::round(length), 1.0, longest));
}

}  // namespace syncline
