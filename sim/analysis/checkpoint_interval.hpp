#pragma once

#include <cstdint>

/// Optimum interval between checkpoints, and the expected time of a run with failures, as closed forms.
///
/// A run of useful time Ts writes a checkpoint after each interval t of useful work, which blocks for d. Failures are a
/// Poisson process with mean time M between two of them, also during checkpoints and restarts. A failure costs the work
/// since the last checkpoint, and the restart R.
///
/// - Young (J. Young, "A first order approximation to the optimum checkpoint interval", CACM 17(9), 1974):
///   t = √(2dM), for d ≪ M.
/// - Daly (J. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", FGCS 22, 2006,
///   equation 37): t = √(2dM) · (1 + √(d/2M)/3 + (d/2M)/9) - d for d < 2M, else t = M.
/// - Daly's expected time (the same, equation 20): T = M · e^(R/M) · (e^((t+d)/M) - 1) · Ts/t. R only scales it, so
/// that
///   the optimum does not depend on R.
/// - With a checkpoint that is complete only w after it was taken, while the training continues, and starts after the
///   one before is complete, the same argument gives T = M · e^(R/M) · e^((t+d+w)/M) · (1 - e^(-c/M)) · Ts/t with
///   c = max(t, w) + d. A failure after X keeps the checkpoints j = 1, 2, … for which X ≥ t + d + w + (j-1)c; their
///   expected number is the sum of the probabilities of that, and a failure comes every M · e^(R/M), with the time of
///   restarts. With w = 0 it is Daly's.
/// - Where a failure breaks a node for a time B, S nodes stand by, and the run waits if more than S are broken, parts
///   fail only while it does not wait. The number of broken nodes is that of customers in M/G/N/N with N = S + 1 (A. K.
///   Erlang, 1917; the distribution of B does not matter, B. A. Sevast'yanov, 1957), which all are in service for
///   Erlang's share of the time, E = (a^N/N!) / Σ a^n/n! with a = B/M. A long run takes T / (1 - E); without spares
///   T · (1 + B/M), since each failure adds B.
///
/// All times are in seconds, and M is above zero; it may be infinite.
namespace syncline {

double young_interval_s(double checkpoint_s, double mtbf_s);
double daly_interval_s(double checkpoint_s, double mtbf_s);

struct Interrupted {
    double useful_s = 0;      ///< Ts
    double interval_s = 0;    ///< t, above zero
    double checkpoint_s = 0;  ///< d
    double background_s = 0;  ///< w
    double restart_s = 0;     ///< R
    double mtbf_s = 0;        ///< M
};

/// Returns E, above, with a = `load`.
double erlang_loss(std::int64_t spares, double load);

/// Returns T; infinite if it is too large for a number. Ts/t need not be whole.
double expected_elapsed_s(const Interrupted& run);

}  // namespace syncline
