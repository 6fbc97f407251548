#pragma once

#include "sim/collective/direct.hpp"

/// The two halves of a parameter server's round, for one server and N workers. Member 0 is the server.
///
/// Push: every worker sends its whole gradient to the server, all concurrently; they share the server's link, N·S·β +
/// α. The server adds each to its sum: N·S·γ. Pull: the server sends the result to every worker, again N·S·β + α. With
/// s servers, each holding a slice, a phase takes α + β·(max(N, s)·⌊S/s⌋ + max(N, S mod s) if that remainder is not 0):
/// the servers' links are the bottleneck while s ≤ N, and the phase takes α + N·⌈S/s⌉·β; beyond that the workers' own
/// links are, and it takes close to α + S·β. Source: M. Li et al., "Scaling distributed machine learning with the
/// parameter server", OSDI 2014, for the roles; the times follow from the links' capacities.
namespace syncline {

class Push : public DirectRooted {
public:
    Push() : DirectRooted(Operation::reduce) {}
    std::string formula(bool) const override { return "α + N·S·β + N·S·γ"; }
};

class Pull : public DirectRooted {
public:
    Pull() : DirectRooted(Operation::broadcast) {}
    std::string formula(bool) const override { return "α + N·S·β"; }
};

/// Returns the cost for one buffer sliced over `servers` servers on nodes of their own: "push", including the servers'
/// reductions, "pull", or "allreduce", one after the other. A single worker exchanges nothing.
double parameter_server_cost(const std::string& operation, std::uint32_t workers, std::uint32_t servers,
                             std::uint64_t bytes, const MessageCost& message);

}  // namespace syncline
