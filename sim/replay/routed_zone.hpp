#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <simgrid/kernel/routing/NetZoneImpl.hpp>

#include "sim/platform/wiring.hpp"

/// A SimGrid zone whose routes come from a Wiring, one at a time, as messages ask for them.
namespace syncline {

class RoutedZone : public simgrid::kernel::routing::NetZoneImpl {
public:
    RoutedZone(const std::string& name, Wiring& wiring) : NetZoneImpl(name), wiring_(wiring) {}

    using Point = simgrid::kernel::routing::NetPoint;

    /// `point`'s host is at `place` and sends on `channel`; points are numbered from 0 as they are created.
    void put(const Point& point, const Place& place, std::uint32_t channel);
    void set_link(Wiring::Link number, const simgrid::s4u::Link* link);

    void get_local_route(const Point* from, const Point* to, simgrid::kernel::routing::Route* into,
                         double* latency_s) override;

private:
    /// The last route from a point: most points send to the same one repeatedly.
    struct Last {
        unsigned long to = ~0ul;
        std::vector<Wiring::Link> links;
    };
    struct Sender {
        Place place;
        std::uint32_t channel = 0;
    };

    Wiring& wiring_;
    std::vector<Sender> senders_;  // by point
    std::vector<Last> last_;       // by point
    struct Known {
        simgrid::kernel::resource::StandardLinkImpl* link = nullptr;
        double latency_s = 0;
    };
    std::vector<Known> links_;  // by number
};

}  // namespace syncline
