#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/base/xml_reader.hpp"

/// The size of a platform in SimGrid's format, before SimGrid builds it: a few words can describe any number of hosts,
/// links, or pairs of hosts in a table of routes.
namespace syncline {

inline constexpr std::size_t most_simgrid_hosts = 100'000, most_simgrid_links = 500'000;
/// All pairs of so many hosts may exchange messages in a reasonable time, whatever the routing.
inline constexpr std::size_t most_paired_hosts = 256;

class SimGridSize {
public:
    /// Add an element. Throw XmlError once the platform is too large.
    void open(const XmlTag& tag);
    void close(std::string_view name);

private:
    /// Members of a zone are its hosts, routers and zones.
    struct Zone {
        std::string id, routing;
        XmlLocation place;
        double members = 0, routes = 0;
    };

    void add_cluster(const XmlTag& tag);
    void add(XmlLocation place, double hosts, double links);
    void require_memory(XmlLocation place) const;
    void require_time() const;

    std::vector<Zone> zones_;  ///< open
    double hosts_ = 0, links_ = 0, routes_ = 0;
    /// Over all zones with this routing: squares and cubes of the members; members and directions of routes.
    double full_ = 0, floyd_ = 0, dijkstra_ = 0;
    XmlLocation dijkstra_place_;
};

}  // namespace syncline
