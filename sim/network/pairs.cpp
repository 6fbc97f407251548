#include <algorithm>

#include "sim/network/flows.hpp"

/// Flows of a group on the other links of their routes: of a small group each by itself, of a large one in pairs. See
/// flows.hpp.
namespace syncline {

namespace {

std::uint64_t key(std::uint32_t group, std::uint32_t link) {
    return std::uint64_t{group} << 32U | link;
}

}  // namespace

/// Adds flows of a group to a hop of theirs on another link, where their bundle is counted.
void Flows::add_flows(std::uint32_t hop, Link group, double flows) {
    Channel& link = links_[hops_[hop]];
    const double added = flows * part(hop);
    if (!links_[group].large) {
        link.others_Bps += added * links_[group].level_Bps;
        return;
    }
    Pair& pair = pairs_[membership_[positions_[hop]].pair];
    pair.flows += added;
    if (link.hears)
        link.others_Bps += added * links_[group].level_Bps;
    else
        link.reserved_Bps += added * pair.guard_Bps;
}

/// Counts a bundle of a group at a hop on another link.
void Flows::join(std::uint32_t hop, Bundle bundle, Link group) {
    Channel& link = links_[hops_[hop]];
    if (!links_[group].large) {
        positions_[hop] = static_cast<std::uint32_t>(link.users.size());
        link.users.push_back({bundle, hop});
    } else {
        if (free_membership_.empty()) {
            free_membership_.push_back(static_cast<std::uint32_t>(membership_.size()));
            membership_.emplace_back();
        }
        const std::uint32_t member = free_membership_.back(), number = pair_of(group, hops_[hop]);
        free_membership_.pop_back();
        Pair& pair = pairs_[number];
        membership_[member] = {bundle, number, none, pair.first};
        if (pair.first != none) membership_[pair.first].before = member;
        pair.first = member;
        positions_[hop] = member;
    }
    add_flows(hop, group, bundles_[bundle].flows);
}

/// The contrary of join().
void Flows::part_from(std::uint32_t hop, Bundle bundle, Link group) {
    add_flows(hop, group, -bundles_[bundle].flows);
    Channel& link = links_[hops_[hop]];
    if (!links_[group].large) {
        const User last = link.users.back();
        link.users[positions_[hop]] = last;
        positions_[last.hop] = positions_[hop];
        link.users.pop_back();
        return;
    }
    const std::uint32_t member = positions_[hop];
    const Membership gone = membership_[member];
    free_membership_.push_back(member);
    if (gone.next != none) membership_[gone.next].before = gone.before;
    if (gone.before != none)
        membership_[gone.before].next = gone.next;
    else if ((pairs_[gone.pair].first = gone.next) == none)
        remove_pair(gone.pair);
}

/// Returns the pair of a large group and a link, a new one if there is none.
std::uint32_t Flows::pair_of(Link group, Link other) {
    const auto [known, added] = pair_of_.try_emplace(key(group, other), none);
    if (!added) return known->second;
    if (free_pairs_.empty()) {
        free_pairs_.push_back(static_cast<std::uint32_t>(pairs_.size()));
        pairs_.emplace_back();
    }
    const std::uint32_t number = known->second = free_pairs_.back();
    free_pairs_.pop_back();
    Channel& link = links_[other];
    Pair& pair = pairs_[number];
    pair = {};
    pair.group = group;
    pair.link = other;
    std::vector<std::uint32_t>& in = crowds_[other].in;
    pair.at_in = static_cast<std::uint32_t>(in.size());
    in.push_back(number);
    // A guard of twice the level, if there is room, lets a group that drains pass a link's guard only now and then.
    const double level_Bps = links_[group].level_Bps;
    const double spare_Bps = link.bandwidth_Bps - link.others_Bps - link.reserved_Bps;
    pair.guard_Bps = link.fixed
                         ? link.level_Bps
                         : std::max(level_Bps, std::min({2 * level_Bps, links_[group].bandwidth_Bps, spare_Bps / 2}));
    link.hears ? add_out(number) : guard(number);
    return number;
}

void Flows::remove_pair(std::uint32_t number) {
    const Pair& pair = pairs_[number];
    links_[pair.link].hears ? remove_out(number) : unguard(number);
    std::vector<std::uint32_t>& in = crowds_[pair.link].in;
    const std::uint32_t last = in.back();
    in[pair.at_in] = last;
    pairs_[last].at_in = pair.at_in;
    in.pop_back();
    pair_of_.erase(key(pair.group, pair.link));
    free_pairs_.push_back(number);
}

void Flows::add_out(std::uint32_t number) {
    std::vector<std::uint32_t>& out = crowds_[pairs_[number].group].out;
    pairs_[number].at_out = static_cast<std::uint32_t>(out.size());
    out.push_back(number);
}

void Flows::remove_out(std::uint32_t number) {
    std::vector<std::uint32_t>& out = crowds_[pairs_[number].group].out;
    const std::uint32_t last = out.back();
    out[pairs_[number].at_out] = last;
    pairs_[last].at_out = pairs_[number].at_out;
    out.pop_back();
}

void Flows::guard(std::uint32_t number) {
    heap::push(crowds_[pairs_[number].group].guarded, {pairs_[number].guard_Bps, number}, place_of_guard());
}

void Flows::unguard(std::uint32_t number) {
    heap::remove(crowds_[pairs_[number].group].guarded, pairs_[number].at_out, place_of_guard());
}

/// Lets a link hear of the levels of all groups with flows on it.
void Flows::hear(Link number) {
    Channel& link = links_[number];
    if (link.hears || link.fixed) return;
    link.hears = true;
    link.reserved_Bps = 0;
    woken_.push_back(number);
    for (const std::uint32_t pair : crowds_[number].in) {
        unguard(pair);
        add_out(pair);
        link.others_Bps += pairs_[pair].flows * links_[pairs_[pair].group].level_Bps;
    }
}

/// Guards the pairs of a link without a group: each of their groups may grow by the same factor.
void Flows::stop_hearing(Link number) {
    Channel& link = links_[number];
    link.hears = false;
    link.reserved_Bps = 0;
    if (crowds_[number].in.empty()) return;
    double used_Bps = 0;
    for (const std::uint32_t pair : crowds_[number].in)
        used_Bps += pairs_[pair].flows * links_[pairs_[pair].group].level_Bps;
    link.others_Bps = std::max(0.0, link.others_Bps - used_Bps);
    const double spare_Bps = std::max(0.0, link.bandwidth_Bps - link.others_Bps - used_Bps);
    const double factor = used_Bps > 0 ? std::min(2.0, 1 + spare_Bps / (2 * used_Bps)) : 1;
    for (const std::uint32_t pair : crowds_[number].in) {
        remove_out(pair);
        pairs_[pair].guard_Bps = links_[pairs_[pair].group].level_Bps * factor;
        link.reserved_Bps += pairs_[pair].flows * pairs_[pair].guard_Bps;
        guard(pair);
    }
}

/// Puts a group's flows into pairs, or counts each by itself again.
void Flows::change_size(Link number, bool large) {
    Channel& group = links_[number];
    crowds_[number].spent = 0;
    const auto each_hop = [&](const auto& visit) {
        for (const heap::Entry& entry : group.group)
            for (std::uint32_t hop = bundles_[entry.number].first_hop; hop < end_of_hops(entry.number); ++hop)
                if (hops_[hop] != number) visit(hop, entry.number);
    };
    each_hop([&](std::uint32_t hop, Bundle bundle) { part_from(hop, bundle, number); });
    group.large = large;
    each_hop([&](std::uint32_t hop, Bundle bundle) { join(hop, bundle, number); });
    // The guard of a pair was chosen for its first flow: it may be too much for all of them.
    std::vector<Link> guarded;
    for (const heap::Entry& entry : crowds_[number].guarded) guarded.push_back(pairs_[entry.number].link);
    for (const Link link : guarded)
        if (links_[link].others_Bps + links_[link].reserved_Bps > links_[link].bandwidth_Bps) hear(link);
}

/// Tells the links of a large group's flows that these have more, or less, as far as they hear of it.
void Flows::raise_pairs(Link number, double more_Bps) {
    const Channel& group = links_[number];
    Crowd& crowd = crowds_[number];
    for (const std::uint32_t pair : crowd.out) {
        const Link other = pairs_[pair].link;
        links_[other].others_Bps += more_Bps * pairs_[pair].flows;
        look_if_faster(other, group.level_Bps);
        note(other);
    }
    while (!crowd.guarded.empty() && group.level_Bps > crowd.guarded.front().key * above) {
        const std::uint32_t pair = crowd.guarded.front().number;
        const Link other = pairs_[pair].link;
        if (links_[other].fixed) {
            movers_.clear();
            append_bundles(pair, movers_);
            for (const Bundle bundle : movers_) move(bundle, other);
        } else {
            hear(other);
            note(other);
        }
    }
}

void Flows::append_bundles(std::uint32_t pair, std::vector<Bundle>& bundles) const {
    for (std::uint32_t member = pairs_[pair].first; member != none; member = membership_[member].next)
        bundles.push_back(membership_[member].bundle);
}

}  // namespace syncline
