#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <simgrid/kernel/routing/NetZoneImpl.hpp>

#include "sim/platform/wiring.hpp"

/// A zone of SimGrid's whose routes come from a Wiring, one at a time, as messages ask for them.
namespace syncline {

class RoutedZone : public simgrid::kernel::routing::NetZoneImpl {
public:
    RoutedZone(const std::string& name, Wiring& wiring) : NetZoneImpl(name), wiring_(wiring) {}

    /// `point`'s host is at `place`; points are numbered from 0 as they are created.
    void put(const simgrid::kernel::routing::NetPoint& point, const Place& place);
    void set_link(Wiring::Link number, const simgrid::s4u::Link* link);

    void get_local_route(const simgrid::kernel::routing::NetPoint* from, const simgrid::kernel::routing::NetPoint* to,
                         simgrid::kernel::routing::Route* into, double* latency_s) override;

private:
    /// The last route from a point: most send to the same one again and again.
    struct Last {
        unsigned long to = ~0ul;
        std::vector<Wiring::Link> links;
    };

    Wiring& wiring_;
    std::vector<Place> places_;  // by point
    std::vector<Last> last_;     // by point
    struct Known {
        simgrid::kernel::resource::StandardLinkImpl* link = nullptr;
        double latency_s = 0;
    };
    std::vector<Known> links_;  // by their number
};

}  // namespace syncline
