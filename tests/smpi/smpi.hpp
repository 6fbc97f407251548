#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Collectives as SimGrid's MPI library runs them: an independent implementation of the algorithms.
///
/// SMPI (A. Degomme et al., "Simulating MPI applications: the SMPI approach", IEEE TPDS 28(8), 2017) carries the
/// algorithms of MPICH, Open MPI and MVAPICH. `smpirun` runs tests/smpi/collective.c on a star. All that SMPI models in
/// addition to the links is turned off: factors on bandwidth and latency, overheads of calls, sends that do not wait
/// for their receiver, computation, TCP's window. Only the envelope cannot be turned off.
namespace syncline::test {

/// Constants of every link of the star, up and down.
struct SmpiStar {
    double bandwidth_Bps = 0;
    double latency_s = 0;
};

/// Bytes that SMPI adds to every message: tag, sender, communicator (Request::start in SimGrid's
/// src/smpi/mpi/smpi_request.cpp).
inline constexpr double envelope_bytes = 16;

/// Returns the seconds until the last of `ranks` ends, by size. `algorithms` are SMPI's, such as "allreduce:lr",
/// separated by blanks; `operation` is one of ours. The test fails if smpirun does.
std::vector<double> smpi_seconds(const SmpiStar& star, std::uint32_t ranks, const std::string& operation,
                                 const std::string& algorithms, const std::vector<std::uint64_t>& sizes);

/// Returns the seconds that SMPI's replay of time-independent traces takes, one text for each rank, to the microsecond.
/// Hosts compute 1 GFLOP/s.
double smpi_replay_seconds(const SmpiStar& star, const std::vector<std::string>& actions,
                           const std::string& algorithms);

}  // namespace syncline::test
