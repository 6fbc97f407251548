#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/training/complaint.hpp"
#include "sim/training/lowered.hpp"
#include "sim/training/plan.hpp"

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
    std::vector<std::string> written;
    bool recomputation = false;  ///< the search also chooses it: it is not written

    /// Returns whether something is open.
    bool automatic() const;
    /// Returns the key that leaves it open: the first one of several.
    std::string automatic_key() const;
};

/// Derives the batch of one replica from that of all ranks, unless the grid is open, and judges the plan by itself, on
/// any cluster and for any model. What it has inherited and would be refused becomes the default (inherited.hpp).
Complaints settle(Plan& plan, const OpenPlan& open);

/// Returns the plan with this number of rows where it is open.
Plan with_rows(Plan plan, const OpenPlan& open, std::int64_t rows);

/// Gives each replica its part of the batch, if the batch of all ranks is given, and divides it into micro-batches, if
/// their size is.
Complaints share_batch(Plan& plan, const OpenPlan& open);

/// One way to factorise the ranks of a stage.
struct GridChoice {
    std::int64_t rows = 1, columns = 1;
    std::shared_ptr<const Lowered> lowered;
};

struct GridChoices {
    std::vector<GridChoice> fitting;    ///< fewest rows first; none if nothing is left open
    std::vector<std::string> left_out;  ///< "8x1: why", one for each that does not fit
};

}  // namespace syncline
