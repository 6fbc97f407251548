#pragma once

#include <optional>
#include <vector>

#include "sim/topology/network.hpp"

namespace syncline {

/// Returns 1 - |λ2| of the mixing matrix W of gossip, to 1e-9: W_ij = 1/(1 + max(d_i, d_j)) between neighbours
/// (Metropolis and Hastings; L. Xiao, S. Boyd, S.-J. Kim, JPDC 67, 2007); the diagonal completes each row to 1. If some
/// link is one-way, 1/(1 + d_i) with the out-degree. 1 for a single host.
///
/// Cayley graphs of `factors` (see cyclic_factors) have λ_c = (1 + Σ_s exp(2πi Σ_j c_j s_j/k_j))/(d + 1), summed over
/// the neighbours s of host 0: L. Babai, "Spectra of Cayley graphs", JCTB 27, 1979. If |λ2| belongs to the least
/// eigenvalue in a graph of more than 512 hosts, its error may be 1e-3. Nothing if there are switches, for other graphs
/// with one-way links and more than 512 hosts or with more than 20,000 hosts, and if no solver converges.
std::optional<double> spectral_gap(const Network& network, const std::vector<std::uint32_t>& factors);

/// Returns the hosts in the order of an approximate eigenvector to λ2 of the same matrix over hosts and switches. Its
/// two halves are a good cut: M. Fiedler 1973, A. Pothen et al., SIAM J. Matrix Anal. Appl. 11, 1990. In the order of
/// their numbers if there are more than 20,000 vertices.
std::vector<std::uint32_t> spectral_order(const Network& network);

}  // namespace syncline
