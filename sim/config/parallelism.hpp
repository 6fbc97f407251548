#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/files.hpp"

/// Reads the key `parallelism` of a scenario's training: a word, or a product of ways to divide the model among ranks.
///
/// ranks = stages · rows · columns · cells, where a mapping usually omits columns: they are what remains. `grid: auto`
/// leaves rows open as well; each factorisation is then a choice. Everything that does not fit is rejected at the key
/// at fault. Left out: a `grid: auto` that also tries stages or cells.
namespace syncline::config {

/// Returns whether some layers have several rows, which can divide positions among them.
bool splits_weights(const Parallelism& parallelism);

/// Settings that stay open until the number of columns is known.
struct OpenPlan {
    std::int64_t batch = 0;           ///< samples of all ranks together; 0: not given
    bool grid = false;                ///< `grid: auto` for all layers
    std::vector<std::size_t> ranges;  ///< ranges of layers with their own `grid: auto`

    bool automatic() const { return grid || !ranges.empty(); }
};

/// Reads the key into `plan.parallelism`. `ranks` is empty if the number of ranks is unknown or wrong.
void describe_parallelism(Fields& training, std::optional<std::int64_t> ranks, Parallelism& parallelism,
                          OpenPlan& open);

/// Derives one replica's batch from that of all ranks, and rejects what in `training` does not work with the
/// parallelism, whatever the model. Must be called after all of `training` is read without errors.
void settle_parallelism(Fields& training, Plan& plan, const OpenPlan& open);

/// One way to factorise the ranks of a stage.
struct GridChoice {
    std::int64_t rows = 1, columns = 1;
    std::shared_ptr<const Lowered> lowered;
};

struct GridChoices {
    std::vector<GridChoice> fitting;    ///< fewest rows first; none if nothing is left open
    std::vector<std::string> left_out;  ///< "8x1: why", one for each that does not fit
};

/// Rejects what does not fit the model or the cluster, whose nodes are known. With `grid: auto`, rejects only if no
/// choice fits.
GridChoices check_parallelism(Fields& training, Variant& variant, const OpenPlan& open);

}  // namespace syncline::config
