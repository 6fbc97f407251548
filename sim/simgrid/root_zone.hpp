#pragma once

#include <simgrid/version.h>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/NetZone.hpp>

#include <string>

/// Zones at the top of the platform. Since version 4 SimGrid has a root of its own, below which they are; before, the
/// first zone becomes the root.
namespace syncline {

/// Puts a zone of ours at the top.
inline void put_on_top([[maybe_unused]] simgrid::kernel::routing::NetZoneImpl& zone) {
#if SIMGRID_VERSION_MAJOR >= 4
    zone.set_parent(simgrid::s4u::Engine::get_instance()->get_netzone_root()->get_impl());
#endif
}

/// Returns a new zone of SimGrid at the top.
inline simgrid::s4u::NetZone* full_zone_on_top(const std::string& name) {
#if SIMGRID_VERSION_MAJOR >= 4
    return simgrid::s4u::Engine::get_instance()->get_netzone_root()->add_netzone_full(name);
#else
    return simgrid::s4u::create_full_zone(name);
#endif
}

}  // namespace syncline
