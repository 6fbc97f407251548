#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Collectives as SimGrid's MPI library runs them: an implementation of the algorithms that is not ours.
///
/// SMPI (A. Degomme et al., "Simulating MPI applications: the SMPI approach", IEEE TPDS 28(8), 2017) carries the
/// algorithms of MPICH, Open MPI and MVAPICH. `smpirun` runs tests/smpi/collective.c on a star. All that SMPI models
/// beside the links is turned off: factors on bandwidth and latency, overheads of calls, sends that do not wait for
/// their receiver, computation, TCP's window. What remains and cannot be turned off is the envelope.
namespace syncline::test {

/// Every link of the star, up and down, has these.
struct SmpiStar {
    double bandwidth_Bps = 0;
    double latency_s = 0;
};

/// SMPI sends so many bytes with every message: tag, sender, communicator (Request::start in SimGrid's
/// src/smpi/mpi/smpi_request.cpp).
inline constexpr double envelope_bytes = 16;

/// Seconds until the last of `ranks` is done, by size. `algorithms` are SMPI's, as "allreduce:lr", with blanks
/// between them; `operation` is one of ours. The test fails if smpirun does.
std::vector<double> smpi_seconds(const SmpiStar& star, std::uint32_t ranks, const std::string& operation,
                                 const std::string& algorithms, const std::vector<std::uint64_t>& sizes);

}  // namespace syncline::test
