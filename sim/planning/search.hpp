#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/lowering/device_memory.hpp"
#include "sim/lowering/open_plan.hpp"
#include "sim/output/reasons.hpp"
#include "sim/planning/candidates.hpp"
#include "sim/platform/cluster.hpp"

/// Search of the plan with the shortest iteration: `parallelism: auto`.
///
/// The choices of axes.hpp are considered: every one, unless they are too many for Search::effort (candidates.hpp).
/// Those that are not feasible, or that do not fit into the devices' memory, are skipped and counted. The others are
/// ordered by their estimated times (forecast.hpp), and the best of them are simulated, folded where possible and for
/// two iterations unless there is noise, in rounds of Search::round. A plan is left out if its lower bound is not below
/// the best simulated time, or if its estimate would have to be wrong by a margin more than the worst one so far: if (1
/// - margin)·r·estimate is not below the best, where r is the smallest ratio of a simulated to an estimated time. The
/// margin is Search::spreads times the spread of these ratios after the first round, within limits.
/// Before they are simulated, the plans with virtual stages among those estimated best get a better division of the
/// layers, if one is found (divisions.hpp).
///
/// The shortest simulated iteration wins, and of several the one estimated shorter, then the one considered earlier.
/// The result does not depend on the number of processes.
///
/// Estimates of a simulation do not know what folds. They count as the largest share of their messages that a
/// simulation so far had to simulate.
///
/// A plan is passed over if its simulation is too large: if it and the plan's own run, with its fidelity and number of
/// iterations, together are estimated (analysis/estimate.hpp) to take longer than what is left of Search::budget_s, or
/// if one of them needs more memory than there is. Its estimate does not win against a simulated plan. If all are
/// passed over, the shortest estimate of a plan whose own run fits into memory wins.
///
/// If the bounds alone leave no plan, and every choice was considered, the answer is proven. Otherwise a plan whose
/// estimate is much too long may be better.
namespace syncline::planning {

/// What a simulation of a search gives: the iteration, and how many messages it had to simulate.
struct Simulated {
    double iteration_s = 0, messages = 0;
};

struct Search {
    std::size_t jobs = 1;        ///< number of parallel simulations
    std::size_t simulated = 24;  ///< maximum number of simulated plans; 0: the estimates decide
    double budget_s = 180;       ///< maximum time of all simulations together on one core, as it is estimated
    bool runs = true;            ///< the plan that wins is run afterwards, with its own fidelity, which has a time, too
    double memory_bytes = std::numeric_limits<double>::infinity();  ///< of the machine
    std::uint64_t effort = Effort::usual;  ///< see Effort::most; each remedy is sought with a quarter
    std::vector<Choice> first = {};        ///< see Effort::first
    /// Simulations by FoundPlan::words(), which are not made again; new ones are added.
    std::map<std::string, Simulated>* known = nullptr;
    /// Called with the step, and the number of plans so far and in the end, at the most; also while simulations run. If
    /// it throws, they are ended.
    enum class Step { considering, simulating, seeking_remedies };
    std::function<void(Step step, std::uint64_t done, std::uint64_t total)> watch = {};

    static constexpr std::size_t round = 4;
    // Chosen: see tests/replay/plan_search_test.cpp.
    static constexpr double least_margin = 0.02, most_margin = 0.1, spreads = 2;
    // Chosen: a division gains up to 5 %, and takes some hundredths of a second.
    static constexpr double may_gain = 0.06;
    static constexpr std::size_t most_divided = 16;
    static constexpr std::size_t most_passed_over = 200;  // chosen: counting the work of one takes milliseconds
};

/// A plan that fits.
struct FoundPlan {
    Choice choice;
    std::string text;           ///< as value of `parallelism`: see text_of()
    std::string recomputation;  ///< if it is another one than the base's: see recomputation_of()
    double estimated_s = 0, least_s = 0;
    std::optional<double> simulated_s;
    Memory memory;
    double simulated_messages = 0;
    std::string passed_over = {};           ///< why its simulation is too large; empty: it is not, or was not asked for
    std::vector<std::int64_t> layers = {};  ///< of each virtual stage; empty: the default division
    double undivided_s = 0;                 ///< the estimate with the default division, if there are `layers`

    std::string words() const;  ///< see words_of() of axes.hpp
};

struct Found {
    Considered considered;
    Reasons skipped;
    std::vector<FoundPlan> plans;  ///< all that fit: the simulated ones by their times, then the others by estimates
    std::size_t simulated = 0;
    std::size_t passed_over = 0;            ///< plans whose simulations are too large ...
    std::optional<FoundPlan> shorter = {};  ///< ... and the best of them, if it is estimated shorter than the winner
    bool proven = false;
    /// If nothing fits: the plan that comes closest, and what would help. One sentence each, without a full stop.
    std::vector<std::string> remedies;
};

/// Returns the plan of a choice, for this batch of all ranks together.
Plan settled_plan(const Plan& base, std::int64_t batch, const Choice& choice);

/// Returns the plan that was found.
Plan settled_plan(const Plan& base, std::int64_t batch, const FoundPlan& found);

/// Searches the plans of the batch of `open` that differ from `base` in their parallelism and, if it is open, their
/// recomputation. Throws ReplayError if a simulation fails.
Found search(const Cluster& cluster, const Model& model, const Plan& base, const OpenPlan& open, const Search& how);

}  // namespace syncline::planning
