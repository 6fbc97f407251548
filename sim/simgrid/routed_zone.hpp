#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <simgrid/kernel/routing/NetZoneImpl.hpp>

#include "sim/replay/wires.hpp"

/// A SimGrid zone whose routes come from our Wires, one at a time, as messages ask for them.
namespace syncline {

class RoutedZone : public simgrid::kernel::routing::NetZoneImpl {
public:
    RoutedZone(const std::string& name, const Wires& wires) : NetZoneImpl(name), wires_(wires) {}

    using Point = simgrid::kernel::routing::NetPoint;

    /// `point`'s host is at the place of `process` and sends on `channel`; points are numbered from 0 as they are
    /// created.
    void put(const Point& point, ProcessId process, std::uint32_t channel);
    void set_link(std::uint32_t number, const simgrid::s4u::Link* link);

    void get_local_route(const Point* from, const Point* to, simgrid::kernel::routing::Route* into,
                         double* latency_s) override;

private:
    /// The last route from a point: most points send to the same one repeatedly.
    struct Last {
        unsigned long to = ~0ul;
        std::vector<std::uint32_t> links;
    };
    struct Sender {
        ProcessId process = 0;
        std::uint32_t channel = 0;
    };

    const Wires& wires_;
    std::vector<Sender> senders_;  // by point
    std::vector<Last> last_;       // by point
    struct Known {
        simgrid::kernel::resource::StandardLinkImpl* link = nullptr;
        double latency_s = 0;
    };
    std::vector<Known> links_;  // by number
};

}  // namespace syncline
