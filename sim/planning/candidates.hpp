#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "sim/lowering/device_memory.hpp"
#include "sim/lowering/lowered.hpp"
#include "sim/lowering/open_plan.hpp"
#include "sim/output/reasons.hpp"
#include "sim/planning/axes.hpp"

/// The plans that a search looks at: all, or with a bounded effort some.
///
/// Lowering a plan takes a time that grows with its ranks and layers. If the choices are more than the effort allows,
/// every way to split the model is looked at first, with the rest of the choice that planners would try first, for at
/// most three quarters of the effort. A third of what is left goes to choices that are drawn, each value of an axis as
/// often as its neighbours, and the rest to the neighbours of the best so far: those that differ from it in the value
/// of one axis. The draws are the same in every run, and the effort is counted, not timed, so that the result depends
/// on the input alone.
///
/// Choices that split the model alike compute alike, but for recomputation (first_of_state()). If computation alone
/// takes Judged::hopeless times the shortest estimate so far in the first one of them that fits without recomputation,
/// the others are not lowered.
namespace syncline::planning {

/// A choice that can be carried out, except perhaps for lack of memory.
struct Candidate {
    const Choice& choice;
    const Lowered& lowered;
    Memory memory;
};

/// Is given what a search has looked at so far, and how much it will be in the end, at the most.
using Looking = std::function<void(std::uint64_t done, std::uint64_t total)>;

struct Effort {
    static constexpr std::uint64_t usual = 6'000'000;  ///< chosen: ten to thirty seconds of one core
    static constexpr std::uint64_t fewest = 200;       ///< plans that are looked at in any case
    static constexpr std::uint64_t most_counted = 200'000;

    static constexpr std::uint64_t each = 300;  ///< what does not grow with them, in ranks, as measured

    std::uint64_t most = usual;  ///< ranks, layers and `each` of all plans that are looked at, together
    Looking watch = {};
    /// Looked at in any case, also if they are no choices of the axes: the first value of recomputation that fits.
    std::vector<Choice> first = {};

    /// Returns the number of plans of so many ranks and layers that may be looked at.
    std::uint64_t plans(const Model& model, std::int64_t ranks) const;
};

struct Considered {
    std::int64_t choices = 0;  ///< that were looked at
    std::int64_t of = 0;       ///< all that there are, counted up to Effort::most_counted
    /// Least lower bound of those that were left out for it; infinite if none was.
    double least_left_s = std::numeric_limits<double>::infinity();
    bool all() const { return choices == of; }
};

/// The value to minimise, and a lower bound of the time of every choice that splits the model alike; 0: none is known.
struct Judged {
    static constexpr double hopeless = 1.3;  ///< chosen: estimates are wrong by less
    double value = 0, least_s = 0;
};

/// Returns the space of the choices. It keeps a reference to the model.
Space space_of(const Cluster& cluster, const Model& model, const Plan& base, const OpenPlan& open);

/// Returns whether the choices differ in their recomputation alone.
bool same_split(const Choice& a, const Choice& b);

/// Judges a candidate.
using Judge = std::function<Judged(const Candidate&)>;

/// Calls `fits` for each choice that is feasible and fits into memory, and `too_large` for those that only lack memory.
/// Adds the reasons of the others to `skipped`. A choice that fits is not tried with more recomputation, which only
/// adds computation; one that is not feasible is not with more, either. With a bounded effort the best are those that
/// fit with the least of what `fits` returns, then those with the least of what `too_large` returns. `open` says what
/// the user has written (OpenPlan::written).
Considered each_candidate(const Cluster& cluster, const Model& model, const Plan& base, const OpenPlan& open,
                          const Effort& effort, const Judge& fits, const Judge& too_large, Reasons& skipped);

/// Returns whether the user has written all keys that a search chooses.
bool nothing_open(const OpenPlan& open);

}  // namespace syncline::planning
