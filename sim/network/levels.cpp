#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "sim/network/flows.hpp"

/// The levels of links: see flows.hpp.
namespace syncline {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The lowest level is the first, and of equal ones that of the link with the lowest number.
constexpr auto higher = [](const heap::Entry& a, const heap::Entry& b) {
    return a.key > b.key || (a.key == b.key && a.number > b.number);
};

}  // namespace

void Flows::solve() {
    ++look_;
    noted_.clear();
    for (const Link link : disturbed_) {
        links_[link].disturbed = false;
        note(link);
    }
    disturbed_.clear();
    for (const Bundle bundle : fresh_) give_first_rate(bundle);
    fresh_.clear();
    look_at_noted();
    const std::size_t most = 1000 * links_.size() + 1000;
    for (std::size_t settled = 0; !queue_.empty(); ++settled) {
        if (settled > most) throw std::logic_error("rates of flows do not converge");
        const heap::Entry next = queue_.front();
        std::pop_heap(queue_.begin(), queue_.end(), higher);
        queue_.pop_back();
        Channel& link = links_[next.number];
        if (link.queued_Bps != next.key) continue;
        link.queued_Bps = infinity;
        settle(next.number);
    }
    // Pairs pay only for groups that are visited again and again.
    constexpr double many = 32, few = 8, patience = 32;
    for (std::size_t i = 0; i < changed_.size(); ++i) {
        const Link number = changed_[i];
        Channel& link = links_[number];
        link.changed = false;
        if (link.holds()) advance(link);
        reschedule(number);
        const auto size = static_cast<double>(link.group.size());
        if (link.large ? size <= few : size >= many && crowds_[number].spent >= patience * size)
            change_size(number, !link.large);
        if (link.holds()) continue;
        crowds_[number].spent = 0;
        if (link.hears) woken_.push_back(number);
    }
    changed_.clear();
    // A link with little to spare would soon be woken again: it hears of its pairs for as many solutions as there are.
    ++solutions_;
    for (const Link link : woken_)
        if (!links_[link].holds()) quiet_.set(link, static_cast<double>(solutions_ + crowds_[link].in.size()));
    woken_.clear();
    while (quiet_.next_s() <= static_cast<double>(solutions_)) {
        const Link link = quiet_.pop();
        if (!links_[link].holds() && links_[link].hears) stop_hearing(link);
    }
}

void Flows::change(Link link) {
    if (links_[link].changed) return;
    links_[link].changed = true;
    changed_.push_back(link);
}

/// Gives the flows of a bundle that have just started a first rate: that of its other flows, or the least that a link
/// of its route offers.
void Flows::give_first_rate(Bundle number) {
    Member& bundle = bundles_[number];
    const double starting = std::exchange(bundle.starting, 0);
    if (bundle.group != none) {
        bundle.flows += starting;
        for (std::uint32_t hop = bundle.first_hop; hop < end_of_hops(number); ++hop) {
            if (hops_[hop] == bundle.group)
                links_[bundle.group].own += starting * part(hop);
            else
                add_flows(hop, bundle.group, starting);
            note(hops_[hop]);
        }
        return;
    }
    bundle.flows = starting;
    if (share_alone(number)) return;
    const auto [to, offer_Bps] = least_offer(number);
    Channel& group = links_[to];
    if (!group.holds() && !group.fixed) {
        group.level_Bps = offer_Bps;
        hear(to);
        // It may be full already, with flows that get more.
        if (group.bundles > 1) queue(to, group.bandwidth_Bps / group.all);
    }
    join_group(number, to);
    for (std::uint32_t hop = bundle.first_hop; hop < end_of_hops(number); ++hop) {
        if (hops_[hop] != to) look_if_faster(hops_[hop], group.level_Bps);
        note(hops_[hop]);
    }
}

/// Adds a new bundle to a link's group, and counts it on the other links of its route.
void Flows::join_group(Bundle number, Link to) {
    const Member& bundle = bundles_[number];
    enter_group(number, to, 0);
    for (std::uint32_t hop = bundle.first_hop; hop < end_of_hops(number); ++hop) {
        if (hops_[hop] == to)
            links_[to].own += bundle.flows * part(hop);
        else
            join(hop, number, to);
    }
}

/// Gives a bundle that has all its links for itself its rate, and returns true; false if it has not.
bool Flows::share_alone(Bundle number) {
    const Member& bundle = bundles_[number];
    for (std::uint32_t hop = bundle.first_hop; hop < end_of_hops(number); ++hop) {
        const Channel& link = links_[hops_[hop]];
        if (link.bundles > 1 && !link.fixed) return false;
    }
    double narrowest_Bps = bundle.narrowest_Bps;
    Link narrowest = bundle.narrowest;
    if (!full_Bps_.empty()) {
        narrowest_Bps = infinity;
        for (std::uint32_t hop = bundle.first_hop; hop < end_of_hops(number); ++hop) {
            const Channel& link = links_[hops_[hop]];
            if (link.fixed || link.bandwidth_Bps / part(hop) >= narrowest_Bps) continue;
            narrowest_Bps = link.bandwidth_Bps / part(hop);
            narrowest = hops_[hop];
        }
    }
    const double rate_Bps = narrowest_Bps / bundle.flows;
    const bool bounded = bundle.bound != none && links_[bundle.bound].level_Bps < rate_Bps;
    const Link to = bounded ? bundle.bound : narrowest;
    if (!bounded) {
        hear(to);
        links_[to].level_Bps = rate_Bps;
    }
    join_group(number, to);
    return true;
}

/// Returns the link of a new bundle's route that offers each of its flows the least, and this rate.
std::pair<Flows::Link, double> Flows::least_offer(Bundle number) const {
    const Member& bundle = bundles_[number];
    double least_Bps = infinity;
    Link least = none;
    for (std::uint32_t hop = bundle.first_hop; hop < end_of_hops(number); ++hop) {
        const Channel& link = links_[hops_[hop]];
        const double flows = bundle.flows * part(hop);
        const double free_Bps =
            std::max(link.bandwidth_Bps - link.others_Bps - link.reserved_Bps, link.bandwidth_Bps * flows / link.all);
        const double offer_Bps = link.fixed ? link.level_Bps : free_Bps / (link.own + flows);
        if (offer_Bps >= least_Bps) continue;
        least_Bps = offer_Bps;
        least = hops_[hop];
    }
    const bool too_fast =
        bundle.bound != none && links_[least].holds() && links_[least].level_Bps > links_[bundle.bound].level_Bps;
    if (too_fast) least = bundle.bound;
    return {least, least_Bps};
}

/// Returns the level at which a link is full, if it takes the flows of other groups that have more, and whether there
/// are any. Infinity if it holds nobody back.
double Flows::level_of(Link number, bool& captures) const {
    const Channel& link = links_[number];
    double highest_Bps = 0;
    each_other(number, [&](double level_Bps, double) { highest_Bps = std::max(highest_Bps, level_Bps); });
    double level_Bps = infinity;
    if (link.holds())
        level_Bps = link.water_Bps();
    else if (link.others_Bps > link.bandwidth_Bps * above)
        level_Bps = 0;
    captures = highest_Bps > level_Bps;
    if (!captures) return level_Bps;
    level_Bps = 0;
    for (double before_Bps = -1; before_Bps != level_Bps;) {
        before_Bps = level_Bps;
        double slower_Bps = 0, own = link.own;
        each_other(number, [&](double other_Bps, double flows) {
            if (other_Bps > level_Bps)
                own += flows;
            else
                slower_Bps += flows * other_Bps;
        });
        if (own == 0) return infinity;
        level_Bps = std::max(level_Bps, std::max(0.0, link.bandwidth_Bps - slower_Bps) / own);
    }
    return level_Bps;
}

/// Gives a link the level at which it is full.
void Flows::settle(Link number) {
    hear(number);
    Channel& link = links_[number];
    link.others_Bps = 0;  // which removes rounding
    each_other(number, [&](double level_Bps, double flows) { link.others_Bps += flows * level_Bps; });
    bool captures = false;
    const double level_Bps = level_of(number, captures);
    if (level_Bps == infinity) return;
    captured_.clear();
    if (captures) {
        for (const User& user : link.users)
            if (links_[bundles_[user.bundle].group].level_Bps > level_Bps * above) captured_.push_back(user.bundle);
        for (const std::uint32_t pair : crowds_[number].in)
            if (links_[pairs_[pair].group].level_Bps > level_Bps * above) append_bundles(pair, captured_);
    }
    if (!link.holds() && captured_.empty()) return;  // it is full but for rounding
    const double more_Bps = level_Bps - link.level_Bps;
    constexpr double rounding = 1e-13;
    if (link.holds() && captured_.empty() && std::abs(more_Bps) <= rounding * link.level_Bps) return;
    if (link.holds()) advance(link);
    link.level_Bps = level_Bps;
    change(number);
    ++look_;
    noted_.clear();
    bounded_.clear();
    link.large ? raise_pairs(number, more_Bps) : raise(number, more_Bps);
    for (const Bundle bundle : captured_) move(bundle, number);
    for (const Bundle bundle : bounded_) move(bundle, bundles_[bundle].bound);
    note(number);
    look_at_noted();
}

/// Tells the links of a small group's flows that these have more, or less.
void Flows::raise(Link number, double more_Bps) {
    Channel& group = links_[number];
    crowds_[number].spent += static_cast<double>(group.group.size());
    for (const heap::Entry& entry : group.group) {
        const Member& bundle = bundles_[entry.number];
        for (std::uint32_t hop = bundle.first_hop; hop < end_of_hops(entry.number); ++hop) {
            const Link other = hops_[hop];
            if (other == number) continue;
            Channel& link = links_[other];
            link.others_Bps += more_Bps * bundle.flows * part(hop);
            if (!link.holds() && link.fits()) continue;
            look_if_faster(other, group.level_Bps);
            note(other);
        }
        if (bundle.bound != none && group.level_Bps > links_[bundle.bound].level_Bps * above)
            bounded_.push_back(entry.number);
    }
}

/// Moves a bundle to another link's group, and notes its links.
void Flows::move(Bundle number, Link to) {
    Member& bundle = bundles_[number];
    const Link from = bundle.group;
    Channel &before = links_[from], &after = links_[to];
    advance(before);
    const double received = before.received - bundle.ahead, was_Bps = before.level_Bps, is_Bps = after.level_Bps;
    double own = 0;
    for (std::uint32_t hop = bundle.first_hop; hop < end_of_hops(number); ++hop) {
        const Link link = hops_[hop];
        const double flows = bundle.flows * part(hop);
        if (link != from && link != to && !before.large && !after.large) {
            links_[link].others_Bps += (is_Bps - was_Bps) * flows;
        } else {
            if (link == from)
                before.own -= flows;
            else
                part_from(hop, number, from);
            if (link == to)
                own = flows;
            else
                join(hop, number, to);
        }
        note(link);
    }
    leave_group(number);
    enter_group(number, to, received);
    after.own += own;
}

/// Notes a link to be looked at, once.
void Flows::note(Link link) {
    if (links_[link].look == look_) return;
    links_[link].look = look_;
    noted_.push_back(link);
}

void Flows::look_at_noted() {
    for (const Link link : noted_) look_at(link);
}

/// Puts a link into the queue if its level is not that at which it is full.
void Flows::look_at(Link number) {
    Channel& link = links_[number];
    if (link.fixed) return;
    if (link.holds()) {
        const double water_Bps = link.water_Bps();
        if (water_Bps <= link.level_Bps * above && water_Bps * above >= link.level_Bps) return;
        return queue(number, std::min(water_Bps, link.level_Bps));
    }
    if (link.fits()) return;
    hear(number);
    if (link.others_Bps > link.bandwidth_Bps * above) queue(number, link.bandwidth_Bps / link.all);
}

/// Puts a link into the queue if a flow of another group has more than its level: its sum may be right all the same, if
/// others have less.
void Flows::look_if_faster(Link number, double rate_Bps) {
    const Channel& link = links_[number];
    if (link.holds() && !link.fixed && rate_Bps > link.level_Bps * above) queue(number, link.level_Bps);
}

void Flows::queue(Link link, double level_Bps) {
    if (level_Bps >= links_[link].queued_Bps) return;
    links_[link].queued_Bps = level_Bps;
    queue_.push_back({level_Bps, link});
    std::push_heap(queue_.begin(), queue_.end(), higher);
}

}  // namespace syncline
