#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/plan/complaint.hpp"
#include "sim/plan/plan.hpp"

/// Plans as users write them: the batch may be that of all ranks, and the number of rows and columns may be left open.
///
/// ranks = stages · rows · columns · cells, where columns are usually what remains. With `model: auto` rows are open,
/// too, and each factorisation is a choice. With `parallelism: auto` everything is open, and a search fills it in
/// (sim/planning).
namespace syncline {

/// What a plan leaves open, or says twice, until its number of columns is known.
struct OpenPlan {
    struct Grid {
        std::int64_t columns = 0;  ///< as written; 0: as many as remain
        bool automatic = false;    ///< rows are open
    };

    std::int64_t batch = 0;             ///< samples of all ranks together; 0: `Plan::batch_per_rank` is given
    std::int64_t micro_batch_size = 0;  ///< in samples; 0: `Pipeline::micro_batches` is given
    Grid grid;
    std::vector<Grid> ranges;  ///< of Parallelism::ranges
    bool everything = false;   ///< `parallelism: auto`
    /// Keys of `parallelism` that are written beside `auto: true`, as paths: `pipeline.stages`. The search keeps them.
    std::vector<std::string> kept;
    bool recomputation = false;  ///< the search also chooses it: it is not written
    /// Keys that are written, of those whose writing alone breaks a rule: see keys_asked().
    std::vector<std::string> written;

    /// Returns whether something is open.
    bool automatic() const;
    /// Returns the key that leaves it open: the first one of several.
    std::string automatic_key() const;
};

/// Turns the plan as it is written into what is meant, and judges it by itself, on any cluster and for any model: its
/// divisions, and the rules about it alone (rules.hpp).
///
/// Unless the grid is open, the batch of one replica becomes its part of that of all ranks. An exchange that is no
/// all-reduce gets its own algorithm. What the plan has inherited and would be refused becomes the default
/// (inherited.hpp).
///
/// DualPipe on 2p stages becomes dualpipe_v on p with twice as many replicas of half the batch. Ranks r and 2p-1-r of
/// DualPipe have the same two stages, r and 2p-1-r, and do the same at the same time for the microbatches that enter at
/// either end, so each half of the pipeline is a replica by itself (DeepSeek-AI, arXiv 2412.19437, section 3.2.1;
/// deepseek-ai/DualPipe, "cut-in-half"). What it leaves out is the transfer between ranks p-1 and p, which becomes the
/// turn on one rank.
Complaints settle(Plan& plan, const OpenPlan& open);

/// Returns whether some layers have several rows, which can divide positions among them.
bool splits_weights(const Parallelism& parallelism);

/// Returns the plan with this number of rows where it is open.
Plan with_rows(Plan plan, const OpenPlan& open, std::int64_t rows);

/// Gives each replica its part of the batch, if the batch of all ranks is given, and divides it into microbatches, if
/// their size is.
Complaints share_batch(Plan& plan, const OpenPlan& open);

}  // namespace syncline
