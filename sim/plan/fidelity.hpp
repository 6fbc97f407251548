#pragma once

namespace syncline {

/// Fidelity of a simulation. `message`: every message is simulated. `folded`: repeated steps are simulated once and
/// extrapolated (sim/replay/folding.hpp). `averaged`: also, ranks count as alike whose routes differ in latency alone;
/// their messages have the mean latency (sim/replay/symmetry.hpp). `automatic`: folded if there are many messages.
enum class Fidelity { message, folded, averaged, automatic };

/// Returns true if what repeats is folded however few messages there are.
inline bool always_folds(Fidelity fidelity) {
    return fidelity == Fidelity::folded || fidelity == Fidelity::averaged;
}

}  // namespace syncline
