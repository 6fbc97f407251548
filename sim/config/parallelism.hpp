#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/files.hpp"

/// The key `parallelism` of a scenario's training: a word, or a product of ways to split the model between ranks.
///
/// ranks = stages · rows · columns · cells, where a mapping leaves columns out mostly: they are what remains. `grid:
/// auto` leaves rows open, too; each way to factorise is then a choice. Everything that does not fit is rejected at the
/// key that is to blame. Left out: `grid: auto` that tries stages or cells as well.
namespace syncline::config {

/// Whether some layers have several rows, which can share positions out between them.
bool splits_weights(const Parallelism& parallelism);

/// What is said but not settled until the number of columns is known.
struct OpenPlan {
    std::int64_t batch = 0;           ///< samples of all ranks together; 0: not given
    bool grid = false;                ///< of all layers: `grid: auto`
    std::vector<std::size_t> ranges;  ///< of the layers' ranges: those with a `grid: auto` of their own

    bool automatic() const { return grid || !ranges.empty(); }
};

/// Reads the key into `plan.parallelism`. `ranks`: nothing if the number of ranks is not known, or wrong.
void describe_parallelism(Fields& training, std::optional<std::int64_t> ranks, Parallelism& parallelism,
                          OpenPlan& open);

/// What all ranks' batch makes of one replica's, and what in `training` does not go with the parallelism, whatever the
/// model. To be called when all of it is read, and sound.
void settle_parallelism(Fields& training, Plan& plan, const OpenPlan& open);

/// One way to factorise the ranks of a stage.
struct GridChoice {
    std::int64_t rows = 1, columns = 1;
    std::shared_ptr<const Lowered> lowered;
};

struct GridChoices {
    std::vector<GridChoice> fitting;    ///< fewest rows first; none where nothing is left open
    std::vector<std::string> left_out;  ///< "8x1: why", one for each that does not fit
};

/// Rejects what does not fit the model or the cluster, whose nodes are known. With `grid: auto`: only if no choice
/// fits.
GridChoices check_parallelism(Fields& training, Variant& variant, const OpenPlan& open);

}  // namespace syncline::config
