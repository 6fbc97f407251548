#pragma once

#include <cstdint>
#include <optional>

/// Checkpoints of a training, and restarts from them: what a run with failures needs beside their rates. Times are in
/// seconds. See sim/analysis/goodput.hpp for what happens.
namespace syncline {

/// What a training does while nodes lack, because more are broken than spares stand by. `none`: it waits for a repair.
/// `same_batch`: it continues with fewer replicas, which share the batch of all; `smaller_batch`: each replica keeps
/// its own, so that an iteration has fewer samples. See sim/analysis/fewer_replicas.hpp.
enum class Elastic { none, same_batch, smaller_batch };

/// Nodes that failures break.
struct Repairs {
    double time_s = 0;        ///< from a failure until the node is back; 0: another one replaces it at once
    std::int64_t spares = 0;  ///< number of nodes that stand by
    Elastic elastic = Elastic::none;
};

struct Checkpointing {
    bool given = false;                ///< the scenario has the key
    double interval_s = 0;             ///< useful time between checkpoints; 0: the optimum (checkpoint_interval.hpp)
    bool overlapped = false;           ///< the training continues while a snapshot is written
    std::optional<double> bytes;       ///< of all ranks together; nothing: one copy of weights and optimizer state
    std::optional<double> write_s;     ///< nothing: bytes / bandwidth of the platform's storage
    std::optional<double> snapshot_s;  ///< of an overlapped one; nothing: the copy of a rank's state to its host
    /// From a failure until the training continues. Default: 10 min, within the 5 to 20 min of Meta's RSC-1 (A. Kokolis
    /// et al., "Revisiting reliability in large-scale machine learning research clusters", HPCA 2025, arXiv
    /// 2410.21680).
    double restart_s = 600;
    Repairs repairs = {};
};

}  // namespace syncline
