#include "sim/network/flows.hpp"

#include <algorithm>
#include <cmath>

namespace syncline {

namespace {

constexpr auto ends_later = [](const auto& a, const auto& b) { return a.ends_at > b.ends_at; };

}  // namespace

Flows::Flows(const std::vector<double>& bandwidths_Bps) : links_(bandwidths_Bps.size()), crowds_(links_.size()) {
    for (std::size_t i = 0; i < links_.size(); ++i) links_[i].bandwidth_Bps = bandwidths_Bps[i];
}

Flows::Link Flows::fixed_link(double bound_Bps) {
    auto& [link, users] = bounds_.try_emplace(bound_Bps, none, 0).first->second;
    ++users;
    if (link != none) return link;
    if (free_bounds_.empty()) {
        free_bounds_.push_back(static_cast<Link>(links_.size()));
        links_.emplace_back();
        crowds_.emplace_back();
    }
    link = free_bounds_.back();
    free_bounds_.pop_back();
    links_[link].fixed = true;
    links_[link].bandwidth_Bps = links_[link].level_Bps = bound_Bps;
    return link;
}

Flows::Bundle Flows::add_bundle(std::span<const Link> links, double bound_Bps, std::span<const double> parts) {
    Link narrowest = none;
    double narrowest_Bps = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < links.size(); ++i) {
        const double Bps = full_Bps(links[i]) / (parts.empty() ? 1 : parts[i]);
        if (Bps >= narrowest_Bps) continue;
        narrowest_Bps = Bps;
        narrowest = links[i];
    }
    const Link bound = bound_Bps < narrowest_Bps ? fixed_link(bound_Bps) : none;
    const std::size_t hops = links.size() + (bound == none ? 0 : 1);
    if (removed_.size() <= hops) removed_.resize(hops + 1);
    std::vector<Bundle>& removed = removed_[hops];
    if (removed.empty()) {
        removed.push_back(static_cast<Bundle>(bundles_.size()));
        bundles_.emplace_back();
        bundles_.back().first_hop = static_cast<std::uint32_t>(hops_.size());
        bundles_.back().hops = static_cast<std::uint32_t>(hops);
        hops_.resize(hops_.size() + hops);
        positions_.resize(hops_.size());
    }
    const Bundle number = removed.back();
    removed.pop_back();
    Member& bundle = bundles_[number];
    bundle.narrowest = narrowest;
    bundle.narrowest_Bps = narrowest_Bps;
    bundle.bound = bound;
    std::copy(links.begin(), links.end(), hops_.begin() + bundle.first_hop);
    if (bound != none) hops_[bundle.first_hop + hops - 1] = bound;
    if (!parts.empty() || !parts_.empty()) parts_.resize(hops_.size(), 1);
    if (!parts_.empty())
        for (std::size_t i = 0; i < hops; ++i)
            parts_[bundle.first_hop + i] = i < links.size() && !parts.empty() ? parts[i] : 1;
    return number;
}

void Flows::remove_bundle(Bundle number) {
    Member& bundle = bundles_[number];
    removed_[bundle.hops].push_back(number);
    if (bundle.bound == none) return;
    const auto bound = bounds_.find(links_[bundle.bound].bandwidth_Bps);
    if (--bound->second.second > 0) return;
    free_bounds_.push_back(bundle.bound);
    bounds_.erase(bound);
}

void Flows::advance(Channel& link) {
    link.received += link.level_Bps * (now_s_ - link.since_s);
    link.since_s = now_s_;
}

double Flows::next_end(Bundle bundle) const {
    return bundles_[bundle].under_way.front().ends_at + bundles_[bundle].ahead;
}

void Flows::reschedule(Link number) {
    const Channel& link = links_[number];
    if (link.holds() && link.level_Bps > 0)
        ends_.set(number, link.since_s + std::max(0.0, link.group.front().key - link.received) / link.level_Bps);
    else
        ends_.cancel(number);
}

/// Adds a bundle to a link's group; its flows have received so many bytes.
void Flows::enter_group(Bundle number, Link to, double received) {
    Channel& link = links_[to];
    Member& bundle = bundles_[number];
    if (link.holds()) {
        advance(link);
    } else {
        link.received = link.own = 0;
        link.since_s = now_s_;
    }
    bundle.group = to;
    bundle.ahead = link.received - received;
    heap::push(link.group, {next_end(number), number}, place_in_group());
    change(to);
}

void Flows::leave_group(Bundle bundle) {
    const Link group = bundles_[bundle].group;
    heap::remove(links_[group].group, bundles_[bundle].position, place_in_group());
    if (!links_[group].holds()) links_[group].own = 0;
    change(group);
}

void Flows::start(Bundle number, double bytes, std::uint32_t owner, double now_s) {
    now_s_ = now_s;
    Member& bundle = bundles_[number];
    const bool first = bundle.under_way.empty();
    double received = 0;
    if (bundle.group != none) {
        Channel& group = links_[bundle.group];
        advance(group);
        received = group.received - bundle.ahead;
    }
    bundle.under_way.push_back({received + bytes, owner});
    std::push_heap(bundle.under_way.begin(), bundle.under_way.end(), ends_later);
    if (bundle.group != none && bundle.under_way.front().owner == owner) {
        heap::change(links_[bundle.group].group, bundle.position, next_end(number), place_in_group());
        change(bundle.group);
    }
    if (bundle.starting++ == 0) fresh_.push_back(number);
    for (std::uint32_t hop = bundle.first_hop; hop < end_of_hops(number); ++hop) {
        Channel& link = links_[hops_[hop]];
        link.all += part(hop);
        if (first) ++link.bundles;
    }
}

double Flows::next_end_s(double now_s) {
    now_s_ = now_s;
    if (!fresh_.empty() || !disturbed_.empty()) solve();
    return ends_.next_s();
}

void Flows::set_bandwidth(Link number, double bandwidth_Bps, double now_s) {
    now_s_ = now_s;
    if (full_Bps_.empty())
        for (const Channel& link : links_) full_Bps_.push_back(link.bandwidth_Bps);
    Channel& link = links_[number];
    link.bandwidth_Bps = bandwidth_Bps;
    if (link.bundles == 0 || link.disturbed) return;
    link.disturbed = true;
    disturbed_.push_back(number);
}

double Flows::withdraw(Bundle number, std::uint32_t owner, double now_s) {
    now_s_ = now_s;
    Member& bundle = bundles_[number];
    const Link group = bundle.group;
    advance(links_[group]);
    const auto flow = std::ranges::find(bundle.under_way, owner, &UnderWay::owner);
    const double left = std::max(0.0, flow->ends_at + bundle.ahead - links_[group].received);
    bundle.under_way.erase(flow);
    std::ranges::make_heap(bundle.under_way, ends_later);
    leave_links(number, 1);
    reschedule(group);
    return left;
}

/// Ends the flows of a bundle of which the group's clock has passed the end.
void Flows::end_flows(Bundle number, double until) {
    Member& bundle = bundles_[number];
    double ended = 0;
    while (!bundle.under_way.empty() && bundle.under_way.front().ends_at + bundle.ahead <= until) {
        ended_.emplace_back(number, bundle.under_way.front().owner);
        std::pop_heap(bundle.under_way.begin(), bundle.under_way.end(), ends_later);
        bundle.under_way.pop_back();
        ++ended;
    }
    leave_links(number, ended);
}

/// Takes flows of a bundle that are no longer under way from its links.
void Flows::leave_links(Bundle number, double flows) {
    Member& bundle = bundles_[number];
    const Link group = bundle.group;
    const bool last = bundle.under_way.empty();
    bundle.flows -= flows;
    for (std::uint32_t hop = bundle.first_hop; hop < end_of_hops(number); ++hop) {
        const Link other = hops_[hop];
        Channel& link = links_[other];
        if (other == group)
            link.own -= flows * part(hop);
        else
            add_flows(hop, group, -flows);
        if (other != group && last) part_from(hop, number, group);
        link.all -= flows * part(hop);
        if (last && --link.bundles == 0) {
            link.all = link.others_Bps = link.reserved_Bps = 0;
        } else if (!link.fixed && link.holds() && !link.disturbed) {
            link.disturbed = true;
            disturbed_.push_back(other);
        }
    }
    if (last) {
        leave_group(number);
        bundle.group = none;
        bundle.flows = 0;
    } else {
        heap::change(links_[group].group, bundle.position, next_end(number), place_in_group());
    }
}

void Flows::end(double now_s, double precision_s, std::vector<std::uint32_t>& owners) {
    constexpr double ulps = 4 * std::numeric_limits<double>::epsilon();
    now_s_ = now_s;
    precision_s = std::max(precision_s, ulps * now_s);
    ended_.clear();
    while (ends_.next_s() <= now_s + precision_s) {
        const Link number = ends_.pop();
        Channel& link = links_[number];
        advance(link);
        // The first one ends by definition, whatever rounding has left of it.
        const double until = std::max(link.group.front().key, link.received + precision_s * link.level_Bps);
        while (link.holds() && link.group.front().key <= until) end_flows(link.group.front().number, until);
        change(number);
        reschedule(number);
    }
    // In the order of memory; flows that end together are often those that started together.
    if (!std::is_sorted(ended_.begin(), ended_.end())) std::sort(ended_.begin(), ended_.end());
    for (const auto& [bundle, owner] : ended_) owners.push_back(owner);
}

}  // namespace syncline
