#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/config/scenario.hpp"
#include "sim/document/document.hpp"

/// Knobs of a scenario that has none of its own: the keys that matter most in it, with values around those that it has.
namespace syncline::serve {

struct UsualKnob {
    std::string key;
    std::vector<std::string> values;
    std::string present = {};  ///< the present value where the key itself is not written and has no default
};

/// At most so many of them.
inline constexpr std::size_t most_usual_knobs = 8;

/// Returns the knobs that fit `variant`, the most important first: ranks; size, of an exchange; bandwidth of the
/// fabric; parallelism and batch; servers; latency, algorithm, sharding, overlap, schedule, buckets, topology,
/// sequences. `document` is what the variant says (Variant::resolved). Sizes that must divide each other do; what else
/// a plan may need, as memory, is left to the error of a run.
std::vector<UsualKnob> usual_knobs(const config::Variant& variant, const config::Node& document);

/// Returns the value of the key with this path in the document; null if it is not written.
const config::Node* written_at(const config::Node& document, const std::string& path);

}  // namespace syncline::serve
