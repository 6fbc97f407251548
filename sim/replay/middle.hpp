#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "sim/replay/wires.hpp"

/// The middle of the routes through a fabric: the links that no route has at an end of its way through the fabric.
///
/// A link in the middle restricts nothing if the links that come before it on the routes have together at most its
/// bandwidth,
///
///     sum of bandwidth(before) <= bandwidth(link),
///
/// because they hold back its messages already; or if the links after it have. Those links are at an end, or restrict
/// nothing for the same reason, on the same side. Since the constraint of such a link always holds, max-min fair shares
/// are the same without it. So it is in fabrics that are not oversubscribed, and in others if few of their ports send
/// through the middle.
namespace syncline {

class Middle {
public:
    explicit Middle(const Wires& wires) : wires_(wires), neighbours_(wires.links()), ends_(wires.links()) {}

    /// Adds a route: numbers of links in their order. Time and memory: O(links of the route).
    void add(const std::vector<std::uint32_t>& route);

    /// Returns true if this is true of all links in the middle.
    bool restricts_nothing();
    /// Returns, by link, true if it is in the middle.
    std::vector<bool> links() const;

private:
    struct Neighbours {
        std::set<std::uint32_t> before, after;
    };
    using Side = std::set<std::uint32_t> Neighbours::*;
    using Known = std::map<std::uint32_t, bool>;

    bool contains(std::uint32_t link) const { return !ends_[link] && !neighbours_[link].before.empty(); }
    bool held_back(std::uint32_t link, Side side, Known& known) const;

    const Wires& wires_;
    std::vector<Neighbours> neighbours_;  // by link
    std::vector<bool> ends_;              // by link
};

}  // namespace syncline
