#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <simgrid/kernel/routing/NetZoneImpl.hpp>

#include "sim/platform/wiring.hpp"

/// A SimGrid zone whose routes come from a Wiring, one at a time, as messages ask for them.
///
/// If routes adapt, SimGrid must ask only for the route of a message that starts: it does so once for each message with
/// the network model CM02 without cross traffic. A point is then one process and channel, and messages between two
/// points start in the order in which they are announced.
namespace syncline {

class RoutedZone : public simgrid::kernel::routing::NetZoneImpl {
public:
    RoutedZone(const std::string& name, Wiring& wiring, bool adapts)
        : NetZoneImpl(name), wiring_(wiring), adapts_(adapts) {}

    using Point = simgrid::kernel::routing::NetPoint;

    /// `point`'s host is at `place` and sends on `channel`; points are numbered from 0 as they are created.
    void put(const Point& point, const Place& place, std::uint32_t channel);
    void set_link(Wiring::Link number, const simgrid::s4u::Link* link);

    /// If routes adapt: returns the number of the next message between two points.
    std::uint64_t announce(const Point& from, const Point& to);
    /// Records that this message's bytes are delivered and returns its path.
    std::vector<Wiring::Link> take(const Point& from, const Point& to, std::uint64_t number);

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
    /// Paths of the messages from one point to another that have started; empty for delivered messages.
    struct Connection {
        std::uint64_t announced = 0;
        std::uint64_t first = 0;  ///< number of the first message in `ways`
        std::deque<std::vector<Wiring::Link>> ways;
    };
    using Ends = std::pair<unsigned long, unsigned long>;

    Wiring& wiring_;
    const bool adapts_;
    std::vector<Sender> senders_;  // by point
    std::vector<Last> last_;       // by point
    std::map<Ends, Connection> connections_;
    std::vector<std::uint32_t> in_flight_;  // number of messages by link
    struct Known {
        simgrid::kernel::resource::StandardLinkImpl* link = nullptr;
        double latency_s = 0;
    };
    std::vector<Known> links_;  // by number
};

}  // namespace syncline
