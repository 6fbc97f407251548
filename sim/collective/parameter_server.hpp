#pragma once

#include "sim/collective/direct.hpp"

/// The two halves of a parameter server's round, for one server (member 0) and N workers. Push: every worker sends its
/// gradient, all concurrently over the server's link, N·S·β + α, and the server adds them, N·S·γ. Pull: the server
/// sends the result to all, N·S·β + α. With s servers, each holding a slice, a phase takes α + β·(max(N, s)·⌊S/s⌋ +
/// max(N, S mod s) if that remainder is not 0): the servers' links limit while s ≤ N, α + N·⌈S/s⌉·β; beyond that the
/// workers' own, close to α + S·β. Source of the roles: M. Li et al., "Scaling distributed machine learning with the
/// parameter server", OSDI 2014; the times follow from the links' capacities.
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
