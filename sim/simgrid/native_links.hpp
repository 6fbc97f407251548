#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Link.hpp>

#include "sim/replay/engine.hpp"

/// The links of a platform in SimGrid's own format.
namespace syncline {

class SimGridLinks : public NativeLinks {
public:
    /// Loads the platform. Throws ReplayError if that fails, or if one of its hosts is missing.
    explicit SimGridLinks(const NativePlatform& platform);

    std::vector<Link> links() const override;
    std::vector<std::uint32_t> route(std::uint32_t from, std::uint32_t to) const override;
    /// Links of type WIFI keep theirs: routes between nodes do not use them.
    void drop_latencies() override;
    simgrid::s4u::Host* host(std::uint32_t node) const { return hosts_.at(node); }

private:
    std::vector<simgrid::s4u::Host*> hosts_;  // those that are nodes, in order
    std::vector<simgrid::s4u::Link*> links_;
    std::unordered_map<const simgrid::s4u::Link*, std::uint32_t> number_;
};

/// See SimGridEngine::inspect().
SimGridEngine::Hosts inspect_platform(const NativePlatform& platform);

}  // namespace syncline
