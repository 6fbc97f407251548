#include "sim/simgrid/routed_zone.hpp"

#include <simgrid/kernel/routing/NetPoint.hpp>

#include <algorithm>

namespace syncline {

void RoutedZone::put(const Point& point, ProcessId process, std::uint32_t channel) {
    senders_.resize(std::max<std::size_t>(senders_.size(), point.id() + 1));
    last_.resize(senders_.size());
    senders_[point.id()] = {process, channel};
}

void RoutedZone::set_link(std::uint32_t number, const simgrid::s4u::Link* link) {
    links_.resize(std::max<std::size_t>(links_.size(), number + 1));
    links_[number] = {link->get_impl(), link->get_latency()};
}

void RoutedZone::get_local_route(const Point* from, const Point* to, simgrid::kernel::routing::Route* into,
                                 double* latency_s) {
    const Sender& sender = senders_[from->id()];
    Last& last = last_[from->id()];
    if (last.to != to->id()) {
        last.to = to->id();
        last.links = wires_.route_numbers(sender.process, senders_[to->id()].process, sender.channel, {});
    }
    for (const std::uint32_t link : last.links) {
        into->link_list_.push_back(links_[link].link);
        if (latency_s != nullptr) *latency_s += links_[link].latency_s;
    }
}

}  // namespace syncline
