#pragma once

namespace syncline {

/// Fidelity: every message (`message`); what repeats simulated once (`folded`: sim/replay/README.md), also with
/// ranks as alike whose routes differ in latency alone (`averaged`: sim/replay/symmetry.hpp); folded if there are many
/// messages.
enum class Fidelity { message, folded, averaged, automatic };

/// Returns true if what repeats is folded however few messages there are.
inline bool always_folds(Fidelity fidelity) {
    return fidelity == Fidelity::folded || fidelity == Fidelity::averaged;
}

}  // namespace syncline
