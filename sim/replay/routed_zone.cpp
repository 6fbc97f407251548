#include "sim/replay/routed_zone.hpp"

#include <simgrid/kernel/routing/NetPoint.hpp>

#include <algorithm>

namespace syncline {

void RoutedZone::put(const simgrid::kernel::routing::NetPoint& point, const Place& place) {
    places_.resize(std::max<std::size_t>(places_.size(), point.id() + 1));
    last_.resize(places_.size());
    places_[point.id()] = place;
}

void RoutedZone::set_link(Wiring::Link number, const simgrid::s4u::Link* link) {
    links_.resize(std::max<std::size_t>(links_.size(), number + 1));
    links_[number] = {link->get_impl(), link->get_latency()};
}

void RoutedZone::get_local_route(const simgrid::kernel::routing::NetPoint* from,
                                 const simgrid::kernel::routing::NetPoint* to, simgrid::kernel::routing::Route* into,
                                 double* latency_s) {
    Last& last = last_[from->id()];
    if (last.to != to->id()) {
        last.to = to->id();
        last.links.clear();
        wiring_.route(places_[from->id()], places_[to->id()], last.links);
    }
    for (const Wiring::Link link : last.links) {
        into->link_list_.push_back(links_[link].link);
        if (latency_s != nullptr) *latency_s += links_[link].latency_s;
    }
}

}  // namespace syncline
