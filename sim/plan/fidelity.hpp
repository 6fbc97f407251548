#pragma once

namespace syncline {

/// Fidelity: every message (`message`); repeated steps simulated once (`folded`: sim/replay/folding.hpp), also with
/// ranks as alike whose routes differ in latency alone (`averaged`: sim/replay/symmetry.hpp); folded if there are many
/// messages.
enum class Fidelity { message, folded, averaged, automatic };

/// Returns true if what repeats is folded however few messages there are.
inline bool always_folds(Fidelity fidelity) {
    return fidelity == Fidelity::folded || fidelity == Fidelity::averaged;
}

}  // namespace syncline
