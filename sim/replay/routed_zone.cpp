#include "sim/replay/routed_zone.hpp"

#include <simgrid/kernel/routing/NetPoint.hpp>

#include <algorithm>

namespace syncline {

void RoutedZone::put(const Point& point, const Place& place, std::uint32_t channel) {
    senders_.resize(std::max<std::size_t>(senders_.size(), point.id() + 1));
    last_.resize(senders_.size());
    senders_[point.id()] = {place, channel};
}

void RoutedZone::set_link(Wiring::Link number, const simgrid::s4u::Link* link) {
    links_.resize(std::max<std::size_t>(links_.size(), number + 1));
    links_[number] = {link->get_impl(), link->get_latency()};
}

void RoutedZone::get_local_route(const Point* from, const Point* to, simgrid::kernel::routing::Route* into,
                                 double* latency_s) {
    const Sender& sender = senders_[from->id()];
    Last& last = last_[from->id()];
    if (last.to != to->id()) {
        last.to = to->id();
        last.links.clear();
        wiring_.route(sender.place, senders_[to->id()].place, last.links, sender.channel);
    }
    for (const Wiring::Link link : last.links) {
        into->link_list_.push_back(links_[link].link);
        if (latency_s != nullptr) *latency_s += links_[link].latency_s;
    }
}

}  // namespace syncline
