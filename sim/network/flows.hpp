#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/network/agenda.hpp"

/// Flows of bytes over links that they share max-min fairly: no rate can grow without reducing that of a flow which is
/// no faster. A flow's rate is that of its bottleneck, the link on its route where it gets the least, or its own bound.
/// Source: D. Bertsekas, R. Gallager, "Data Networks", 1992, section 6.5.2 (progressive filling).
///
/// Rates change only when a flow starts or ends, and only where that can be felt. The solver fills the links of new
/// flows and of those whose bottleneck another flow has left or joined. A flow on these links that could now be faster,
/// or whose link is now the bottleneck of slower ones, is added and the filling repeated, until every flow has its
/// bottleneck. A flow alone on its links gets the narrowest one's bandwidth. All starts and ends of an instant are
/// solved together.
///
/// Flows with the same route and bound are one bundle, one variable of the solver, weighted by their number. A bundle
/// counts the bytes that each of its flows has received since it was last empty; a flow ends when this count has grown
/// by its bytes.
///
/// A flow may have a part of its bytes on each link, such as a sixteenth on each of 16 paths (packets that are
/// sprayed). With rate r it then uses r times its part of a link, and has its bottleneck where the rates of all its
/// users together are highest.
///
/// Units: bytes, seconds, bytes per second. Links with infinite bandwidth should be left out. Time: O(hops) for a flow
/// alone, else the hops of the bundles reached, times the logarithm of their links. Memory: 8 bytes per hop of a
/// bundle, 16 per flow.
namespace syncline {

class Flows {
public:
    using Link = std::uint32_t;
    using Bundle = std::uint32_t;

    explicit Flows(const std::vector<double>& bandwidths_Bps);

    /// Adds a bundle of flows over these links, each at most once. A flow has at most `bound_Bps`, which may be
    /// infinite if there are links. `parts`: of a flow's bytes on each link; empty: all.
    Bundle add_bundle(std::span<const Link> links, double bound_Bps, std::span<const double> parts = {});
    /// Forgets a bundle without flows; its number may be given to another one.
    void remove_bundle(Bundle bundle);

    /// Starts a flow of more than 0 bytes. `owner` is what end() returns for it.
    void start(Bundle bundle, double bytes, std::uint32_t owner, double now_s);
    /// Returns the time at which the next flow ends, after sharing the links among the flows that are under way;
    /// infinity if there are none.
    double next_end_s(double now_s);
    /// Removes the flows that end up to `precision_s` after `now_s`, which is at least next_end_s(), and appends their
    /// owners.
    void end(double now_s, double precision_s, std::vector<std::uint32_t>& owners);

private:
    struct UnderWay {
        double ends_at = 0;  ///< bytes that a flow of the bundle must have received
        std::uint32_t owner = 0;
    };

    /// The part of a bundle that the solver reads: a cache line.
    struct Variable {
        std::uint32_t first_hop = 0, hops = 0;
        double weight = 0;  ///< number of flows
        double bound_Bps = 0;
        double narrowest_Bps = 0;  ///< of its links, each over the part of a flow on it
        double rate_Bps = 0;       ///< of each flow ...
        double filled_Bps = 0;     ///< ... and in the solution under way; below 0: not known yet
        double used_Bps = 0;       ///< rate of all its flows together, as counted by the links
        std::uint32_t round = 0;
        std::uint32_t position = 0;  ///< in active_

        double highest_Bps() const { return bound_Bps < narrowest_Bps / weight ? bound_Bps : narrowest_Bps / weight; }
        bool at_most(double Bps) const { return bound_Bps <= Bps || narrowest_Bps <= Bps * weight; }
    };

    struct Progress {
        double received = 0;                                ///< bytes of each flow at ...
        double since_s = 0;                                 ///< ... this time
        bool waits = false;                                 ///< for a rate: in fresh_
        boost::container::small_vector<UnderWay, 1> flows;  ///< a heap by ends_at
    };

    struct User {
        Bundle bundle = 0;
        std::uint32_t hop = 0;  ///< index in hops_: the bundle's use of the link
    };

    struct Channel {
        double bandwidth_Bps = 0;
        double used_Bps = 0;
        bool disturbed = false;   ///< in disturbed_
        std::vector<User> users;  ///< bundles with flows

        bool saturated() const { return used_Bps >= bandwidth_Bps * (1 - 1e-10); }
    };

    /// A link in the solution under way.
    struct Filling {
        std::uint32_t gathering = 0;
        bool limits = false;  ///< some of its flows
        double free_Bps = 0;
        double inside_Bps = 0;     ///< rates so far of its flows that are part of the solution
        double growing = 0;        ///< number of its flows whose rate is not known yet
        std::uint32_t inside = 0;  ///< bundles
    };

    /// Sets the rate of a bundle that is alone on all its links and returns true; false if it is not.
    bool share_alone(Bundle bundle, double now_s);
    std::span<const Link> hops(Bundle bundle) const;
    /// Calls use(link, part) for each of the bundle's links.
    template <class Use>
    void each_hop(Bundle bundle, const Use& use) const {
        const std::uint32_t first = bundles_[bundle].first_hop, end = first + bundles_[bundle].hops;
        if (parts_.empty())
            for (std::uint32_t hop = first; hop < end; ++hop) use(hops_[hop], 1.0);
        else
            for (std::uint32_t hop = first; hop < end; ++hop) use(hops_[hop], parts_[hop]);
    }
    void enter(Bundle bundle);
    void leave(Bundle bundle);
    void receive(Bundle bundle, double now_s);
    void set_rate(Bundle bundle, double rate_Bps, double now_s);
    void reschedule(Bundle bundle);
    /// Notes that a flow leaves or joins a link, if others may get more or less there.
    void disturb(Link link);
    void share(double now_s);
    void reach(Bundle bundle);
    /// Returns the rate of the fastest flow on a link: that of those that it limits, if it is saturated.
    double highest_Bps(Link link) const;
    /// Reaches the bundles that a saturated link limits.
    void reach_limited(Link link);
    /// Reaches the bundles on a link of the solution that have too much or too little; if the search is not `patient`,
    /// all bundles on links that are saturated or were.
    void reach_wronged(Link link, bool patient);
    /// Collects the links of the bundles that were reached.
    void collect();
    void fill();
    void freeze(Bundle bundle, double rate_Bps);

    std::vector<Channel> links_;
    std::vector<Filling> fillings_;  // by link
    std::vector<Variable> bundles_;
    std::vector<Progress> progress_;            // by bundle
    std::vector<Bundle> active_;                // bundles with flows
    std::vector<Link> hops_;                    // of all bundles
    std::vector<double> parts_;                 // by hop: of a flow's bytes; empty: all are whole
    std::vector<std::uint32_t> positions_;      // by hop: in the link's list of users
    std::vector<std::vector<Bundle>> removed_;  // by number of hops
    Agenda ends_;                               // by bundle: the end of its next flow
    std::vector<Bundle> fresh_;                 // bundles in which a flow has started
    std::vector<Link> disturbed_;               // saturated links that a flow has left or joined
    std::vector<Bundle> ending_;                // in this instant
    // The solution under way:
    std::uint32_t round_ = 0, gathering_ = 0;
    std::vector<Bundle> reached_;
    std::vector<Link> touched_;
    std::vector<User> growing_, bounded_;
    std::vector<std::pair<double, Link>> levels_;  // a heap: the rate of its flows at which a link is full
};

}  // namespace syncline
