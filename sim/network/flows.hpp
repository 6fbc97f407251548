#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/network/agenda.hpp"
#include "sim/network/keyed_heap.hpp"

/// Flows of bytes over links that they share max-min fairly: no rate can grow without reducing that of a flow which is
/// no faster. A flow's rate is that of its bottleneck, the link on its route where it gets the least, or its own bound.
/// Source: D. Bertsekas, R. Gallager, "Data Networks", 1992, section 6.5.2.
///
/// Flows with the same route and bound are one bundle. The bundles that a link holds back are its group; all their
/// flows have one rate, the link's level. A bound is a link whose level is fixed, and which cannot be full.
///
/// With F the bytes per second that other groups use of a link, its level is water = (bandwidth - F) / flows of its
/// group. Rates change only where a flow starts or ends, so levels are corrected from there on, the lowest first, until
/// all fit: a link whose level is not its water gets it, takes the flows of other groups that have more, and leaves its
/// own that meet a lower bound; then the links on their routes are looked at. Once no link is left, every flow has a
/// full link on which none is faster, which is the definition, and the rates with this property are unique.
///
/// - A group has a virtual clock, the bytes that each of its flows has received, which runs at its level. So a level
///   changes without a visit to the flows, and the next end of a group is one entry of the agenda.
/// - Groups of many flows: those that also pass a link K are a pair (group, K) with their number. Where K has no group,
///   the pair is guarded: K reserves a rate for each of its flows, up to which it need not hear of the group's level.
///
/// A flow may have a part of its bytes on each link, such as a sixteenth on each of 16 paths (packets that are
/// sprayed). With rate r it then uses r times its part of a link.
///
/// The bandwidth of a link may change: its level is then no longer its water, and is corrected like others. Flows over
/// a link without bandwidth have the rate 0, and do not end.
///
/// All starts, ends and changes of an instant are solved together. Rounding: rates are exact to 1e-11; ends are those
/// of the definition, except on crowded tori, where the next flows' starts amplify differences in the last digit
/// tenfold every 15 messages.
///
/// Units: bytes, seconds, bytes per second. Links with infinite bandwidth should be left out. Time of a start or end:
/// the hops of the flows on links whose level changes; in groups of many, the pairs of these links. Memory: 8 bytes per
/// hop of a bundle, 100 per bundle and 16 per flow, 300 per link.
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
    /// Changes the bandwidth of a link from now on, to at most that which it had first. Like withdraw(), this comes
    /// after the ends of an instant, and before its starts.
    void set_bandwidth(Link link, double bandwidth_Bps, double now_s);
    /// Removes a flow that is under way, and returns the bytes that are left of it.
    double withdraw(Bundle bundle, std::uint32_t owner, double now_s);
    /// Returns the time at which the next flow ends, after sharing the links among the flows that are under way;
    /// infinity if none does. Must be called after the last start of an instant.
    double next_end_s(double now_s);
    /// Removes the flows that end up to `precision_s` after `now_s`, which is next_end_s() or earlier, and appends
    /// their owners. No flow may have started since next_end_s() was called.
    void end(double now_s, double precision_s, std::vector<std::uint32_t>& owners);

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    static constexpr double above = 1 + 1e-12;  ///< factor by which a rate must be higher to count as higher

    struct UnderWay {
        double ends_at = 0;  ///< bytes that a flow of the bundle must have received
        std::uint32_t owner = 0;
    };

    struct Member {
        std::uint32_t first_hop = 0, hops = 0;  ///< the last hop may be the bound
        Link group = none;                      ///< that holds it back; none: no rate yet
        std::uint32_t position = 0;             ///< in the group's heap
        double flows = 0;                       ///< that have a rate
        double starting = 0;                    ///< flows without one
        double ahead = 0;                       ///< of the bundle's count of bytes: the group's clock
        double narrowest_Bps = 0;               ///< of its links, each over the part of a flow on it
        Link narrowest = none, bound = none;
        boost::container::small_vector<UnderWay, 1> under_way;  ///< a heap by ends_at
    };

    /// A use of a link by a bundle that another link holds back.
    struct User {
        Bundle bundle = 0;
        std::uint32_t hop = 0;  ///< index in hops_
    };

    template <class Element>
    using Small = boost::container::small_vector<Element, 1>;  // most flows meet no other one

    /// What is read most often comes first, in a line of a cache.
    struct alignas(64) Channel {
        double bandwidth_Bps = 0;
        double level_Bps = 0;       ///< of each flow of the group
        double others_Bps = 0;      ///< F: of flows of other groups, but for guarded pairs
        double reserved_Bps = 0;    ///< for guarded pairs
        std::uint32_t bundles = 0;  ///< of all groups
        std::uint32_t look = 0;     ///< last one in which the link was noted
        bool fixed = false;         ///< a bound
        bool disturbed = false;     ///< in disturbed_
        bool changed = false;       ///< in changed_
        bool large = false;         ///< its group is in pairs
        bool hears = false;         ///< its pairs are not guarded: it has a group
        Small<heap::Entry> group;   ///< bundles by their next end, on the group's clock
        double own = 0;             ///< flows of the group, each by its part on the link
        double all = 0;             ///< flows of all groups
        double received = 0;        ///< the group's clock at ...
        double since_s = 0;         ///< ... this time
        double queued_Bps = std::numeric_limits<double>::infinity();  ///< in queue_, at this level
        Small<User> users;                                            ///< bundles of small groups

        bool holds() const { return !group.empty(); }
        /// Returns true if other groups leave the link something, whatever guarded ones do.
        bool fits() const { return others_Bps + reserved_Bps <= bandwidth_Bps * above; }
        double water_Bps() const { return others_Bps < bandwidth_Bps ? (bandwidth_Bps - others_Bps) / own : 0; }
    };

    /// What a link needs besides if there are large groups.
    struct Crowd {
        double spent = 0;                  ///< visits to the group's flows, since it began or became small
        std::vector<std::uint32_t> in;     ///< pairs (a large group, this link)
        std::vector<std::uint32_t> out;    ///< pairs of this group that are not guarded
        std::vector<heap::Entry> guarded;  ///< the others, by the level up to which they are
    };

    /// The flows of a large group that also pass a link.
    struct Pair {
        Link group = 0, link = 0;
        std::uint32_t first = none;  ///< of its bundles, in membership_
        double flows = 0;            ///< each by its part on the link
        double guard_Bps = 0;
        std::uint32_t at_in = 0, at_out = 0;  ///< places in the lists of the link and of the group
    };

    /// A bundle in a pair.
    struct Membership {
        Bundle bundle = 0;
        std::uint32_t pair = 0, before = none, next = none;
    };

    auto place_in_group() {
        return [this](std::uint32_t bundle) -> std::uint32_t& { return bundles_[bundle].position; };
    }
    auto place_of_guard() {
        return [this](std::uint32_t pair) -> std::uint32_t& { return pairs_[pair].at_out; };
    }

    // Bundles and their flows: flows.cpp.
    Link fixed_link(double bound_Bps);
    double part(std::uint32_t hop) const { return parts_.empty() ? 1 : parts_[hop]; }
    std::uint32_t end_of_hops(Bundle bundle) const { return bundles_[bundle].first_hop + bundles_[bundle].hops; }
    void advance(Channel& link);
    double next_end(Bundle bundle) const;
    void reschedule(Link link);
    void enter_group(Bundle bundle, Link link, double received);
    void leave_group(Bundle bundle);
    void end_flows(Bundle bundle, double until);
    void leave_links(Bundle bundle, double flows);
    double full_Bps(Link link) const { return full_Bps_.empty() ? links_[link].bandwidth_Bps : full_Bps_[link]; }

    // Levels: levels.cpp.
    void solve();
    void give_first_rate(Bundle bundle);
    void join_group(Bundle bundle, Link link);
    bool share_alone(Bundle bundle);
    std::pair<Link, double> least_offer(Bundle bundle) const;
    void settle(Link link);
    double level_of(Link link, bool& captures) const;
    /// Calls visit(level, flows) for the flows of other groups on a link.
    template <class Visit>
    void each_other(Link link, const Visit& visit) const {
        for (const User& user : links_[link].users)
            visit(links_[bundles_[user.bundle].group].level_Bps, bundles_[user.bundle].flows * part(user.hop));
        for (const std::uint32_t pair : crowds_[link].in)
            visit(links_[pairs_[pair].group].level_Bps, pairs_[pair].flows);
    }
    void raise(Link link, double more_Bps);
    void move(Bundle bundle, Link to);
    void note(Link link);
    void look_at_noted();
    void look_at(Link link);
    void look_if_faster(Link link, double rate_Bps);
    void queue(Link link, double level_Bps);
    void change(Link link);

    // Pairs: pairs.cpp.
    void join(std::uint32_t hop, Bundle bundle, Link group);
    void part_from(std::uint32_t hop, Bundle bundle, Link group);
    void add_flows(std::uint32_t hop, Link group, double flows);
    std::uint32_t pair_of(Link group, Link link);
    void remove_pair(std::uint32_t pair);
    void add_out(std::uint32_t pair);
    void remove_out(std::uint32_t pair);
    void guard(std::uint32_t pair);
    void unguard(std::uint32_t pair);
    void hear(Link link);
    void stop_hearing(Link link);
    void change_size(Link group, bool large);
    void raise_pairs(Link link, double more_Bps);
    void append_bundles(std::uint32_t pair, std::vector<Bundle>& bundles) const;

    std::vector<Channel> links_;  // those given, and bounds
    /// Bandwidths that the given links had first; empty if none has changed.
    std::vector<double> full_Bps_;
    std::vector<Crowd> crowds_;  // by link
    std::vector<Link> free_bounds_;
    std::unordered_map<double, std::pair<Link, std::uint32_t>> bounds_;  // and the number of their bundles
    std::vector<Member> bundles_;
    std::vector<Link> hops_;                    // of all bundles
    std::vector<double> parts_;                 // by hop: of a flow's bytes; empty: all are whole
    std::vector<std::uint32_t> positions_;      // by hop: in the link's users, or in membership_
    std::vector<std::vector<Bundle>> removed_;  // by number of hops
    std::vector<Pair> pairs_;
    std::vector<Membership> membership_;
    std::vector<std::uint32_t> free_pairs_, free_membership_;
    std::pmr::unsynchronized_pool_resource pool_;
    std::pmr::unordered_map<std::uint64_t, std::uint32_t> pair_of_{&pool_};  // by group and link
    Agenda ends_;                                                            // by link: the next end of its group
    double now_s_ = 0;
    std::vector<Bundle> fresh_;    // bundles in which a flow has started
    std::vector<Link> disturbed_;  // links with groups that a flow has left
    std::vector<Link> changed_;    // links whose groups or levels have changed
    std::vector<Link> woken_;      // links that have begun to hear of their pairs, or have lost their group
    Agenda quiet_;                 // by link: the number of solutions after which it stops hearing
    std::uint64_t solutions_ = 0;
    std::vector<std::pair<Bundle, std::uint32_t>> ended_;  // and their owners
    // The solution under way:
    std::vector<heap::Entry> queue_;  // links by level
    std::vector<Link> noted_;
    std::uint32_t look_ = 0;
    std::vector<Bundle> captured_, bounded_, movers_;
};

}  // namespace syncline
