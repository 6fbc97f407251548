#include "sim/network/flows.hpp"

#include <algorithm>
#include <functional>
#include <limits>

namespace syncline {

namespace {

constexpr auto later = [](const auto& a, const auto& b) { return a.ends_at > b.ends_at; };

}  // namespace

Flows::Flows(const std::vector<double>& bandwidths_Bps)
    : links_(bandwidths_Bps.size()), fillings_(bandwidths_Bps.size()) {
    for (std::size_t i = 0; i < links_.size(); ++i) links_[i].bandwidth_Bps = bandwidths_Bps[i];
}

Flows::Bundle Flows::add_bundle(std::span<const Link> links, double bound_Bps) {
    if (removed_.size() <= links.size()) removed_.resize(links.size() + 1);
    std::vector<Bundle>& removed = removed_[links.size()];
    if (removed.empty()) {
        removed.push_back(static_cast<Bundle>(bundles_.size()));
        bundles_.emplace_back();
        filled_Bps_.push_back(0);
        shapes_.push_back({static_cast<std::uint32_t>(hops_.size()), static_cast<std::uint32_t>(links.size()), 0});
        hops_.resize(hops_.size() + links.size());
        positions_.resize(hops_.size());
    }
    const Bundle bundle = removed.back();
    removed.pop_back();
    bundles_[bundle].bound_Bps = bound_Bps;
    double narrowest_Bps = std::numeric_limits<double>::infinity();
    for (const Link link : links) narrowest_Bps = std::min(narrowest_Bps, links_[link].bandwidth_Bps);
    bundles_[bundle].narrowest_Bps = narrowest_Bps;
    std::copy(links.begin(), links.end(), hops_.begin() + shapes_[bundle].first_hop);
    return bundle;
}

void Flows::remove_bundle(Bundle bundle) {
    removed_[shapes_[bundle].hops].push_back(bundle);
}

std::span<const Flows::Link> Flows::hops(Bundle bundle) const {
    return {hops_.data() + shapes_[bundle].first_hop, shapes_[bundle].hops};
}

void Flows::enter(Bundle bundle) {
    bundles_[bundle].position = static_cast<std::uint32_t>(active_.size());
    active_.push_back(bundle);
    std::uint32_t hop = shapes_[bundle].first_hop;
    for (const Link link : hops(bundle)) {
        std::vector<User>& users = links_[link].users;
        positions_[hop] = static_cast<std::uint32_t>(users.size());
        users.push_back({bundle, hop++});
    }
}

void Flows::leave(Bundle bundle) {
    const Bundle moved = active_.back();
    active_[bundles_[bundle].position] = moved;
    bundles_[moved].position = bundles_[bundle].position;
    active_.pop_back();
    std::uint32_t hop = shapes_[bundle].first_hop;
    for (const Link link : hops(bundle)) {
        std::vector<User>& users = links_[link].users;
        const User last = users.back();
        users[positions_[hop]] = last;
        positions_[last.hop] = positions_[hop];
        users.pop_back();
        ++hop;
    }
}

void Flows::receive(Variable& variable, double now_s) const {
    variable.received += variable.rate_Bps * (now_s - variable.since_s);
    variable.since_s = now_s;
}

void Flows::reschedule(Bundle bundle) {
    const Variable& variable = bundles_[bundle];
    const double left = variable.flows.front().ends_at - variable.received;
    ends_.set(bundle, variable.since_s + std::max(0.0, left) / variable.rate_Bps);
}

void Flows::set_rate(Bundle bundle, double rate_Bps, double now_s) {
    Variable& variable = bundles_[bundle];
    if (rate_Bps == variable.rate_Bps && !variable.waits) return;
    variable.waits = false;
    receive(variable, now_s);
    variable.rate_Bps = rate_Bps;
    variable.used_Bps = rate_Bps * shapes_[bundle].weight;
    reschedule(bundle);
}

void Flows::start(Bundle bundle, double bytes, std::uint32_t owner, double now_s) {
    Variable& variable = bundles_[bundle];
    if (variable.flows.empty()) {
        enter(bundle);
        variable.received = 0;
        variable.rate_Bps = variable.used_Bps = 0;
        variable.since_s = now_s;
    } else {
        receive(variable, now_s);
    }
    variable.flows.push_back({variable.received + bytes, owner});
    std::push_heap(variable.flows.begin(), variable.flows.end(), later);
    ++shapes_[bundle].weight;
    for (const Link link : hops(bundle)) ++links_[link].weight;
    if (variable.waits) return;
    variable.waits = true;
    fresh_.push_back(bundle);
}

double Flows::next_end_s(double now_s) {
    if (!fresh_.empty() || !released_.empty()) share(now_s);
    return ends_.next_s();
}

void Flows::end(double now_s, double precision_s, std::vector<std::uint32_t>& owners) {
    while (ends_.next_s() <= now_s + precision_s) {
        const Bundle bundle = ends_.pop();
        Variable& variable = bundles_[bundle];
        receive(variable, now_s);
        // The first one ends by definition, whatever rounding has left of it.
        variable.received = std::max(variable.received, variable.flows.front().ends_at);
        const double ends_at = variable.received + precision_s * variable.rate_Bps;
        double ended = 0;
        while (!variable.flows.empty() && variable.flows.front().ends_at <= ends_at) {
            owners.push_back(variable.flows.front().owner);
            std::pop_heap(variable.flows.begin(), variable.flows.end(), later);
            variable.flows.pop_back();
            ++ended;
        }
        const double ended_Bps = ended * variable.rate_Bps;
        variable.used_Bps -= ended_Bps;
        shapes_[bundle].weight -= ended;
        if (variable.flows.empty()) leave(bundle);
        for (const Link number : hops(bundle)) {
            Channel& link = links_[number];
            link.weight -= ended;
            if (link.users.empty()) {
                link.used_Bps = 0;
                continue;
            }
            if (link.saturated()) released_.push_back(number);
            link.used_Bps -= ended_Bps;
        }
        if (!variable.flows.empty()) reschedule(bundle);
    }
}

bool Flows::share_alone(Bundle bundle, double now_s) {
    const double weight = shapes_[bundle].weight;
    for (const Link link : hops(bundle))
        if (links_[link].users.size() > 1) return false;
    const double rate_Bps = std::min(bundles_[bundle].bound_Bps, bundles_[bundle].narrowest_Bps / weight);
    for (const Link link : hops(bundle)) links_[link].used_Bps = rate_Bps * weight;
    set_rate(bundle, rate_Bps, now_s);
    return true;
}

void Flows::share(double now_s) {
    std::erase_if(fresh_, [&](Bundle bundle) { return share_alone(bundle, now_s); });
    // A link may have lost its other flows since it was released.
    std::erase_if(released_, [&](Link link) {
        const std::vector<User>& users = links_[link].users;
        return users.empty() || (users.size() == 1 && share_alone(users.front().bundle, now_s));
    });
    if (fresh_.empty() && released_.empty()) return;

    for (bool again = true; again;) {
        collect();
        fill();
        again = false;
        for (const Link link : touched_) {
            Filling& filling = fillings_[link];
            if (filling.inner || filling.inside == links_[link].users.size()) continue;
            if (filling.free_Bps > links_[link].bandwidth_Bps * 1e-10) continue;
            filling.overflowed = again = true;
        }
    }
    for (const Link link : touched_) {
        links_[link].used_Bps = links_[link].bandwidth_Bps - std::max(0.0, fillings_[link].free_Bps);
        fillings_[link].overflowed = false;
    }
    for (const Bundle bundle : reached_) set_rate(bundle, filled_Bps_[bundle], now_s);
    fresh_.clear();
    released_.clear();
}

void Flows::reach(Bundle bundle) {
    Variable& variable = bundles_[bundle];
    if (variable.round == round_) return;
    variable.round = round_;
    reached_.push_back(bundle);
}

void Flows::collect() {
    ++round_;
    reached_.clear();
    touched_.clear();
    for (const Bundle bundle : fresh_) reach(bundle);
    for (const Link link : released_)
        for (const User& user : links_[link].users) reach(user.bundle);
    for (std::size_t k = 0; k < reached_.size(); ++k) {
        // Beyond this, solving for all is quicker than finding out for whom.
        if (reached_.size() > 32 && 3 * reached_.size() > active_.size()) return collect_all();
        const double weight = shapes_[reached_[k]].weight, used_Bps = bundles_[reached_[k]].used_Bps;
        for (const Link number : hops(reached_[k])) {
            const Channel& link = links_[number];
            Filling& filling = fillings_[number];
            if (filling.round != round_) {
                filling.round = round_;
                filling.inner = filling.overflowed || link.saturated();
                filling.inside = 0;
                filling.inside_Bps = filling.growing = 0;
                touched_.push_back(number);
                if (filling.inner)
                    for (const User& user : link.users) reach(user.bundle);
            }
            ++filling.inside;
            filling.inside_Bps += used_Bps;
            filling.growing += weight;
        }
    }
    for (const Link number : touched_) {
        const Channel& link = links_[number];
        Filling& filling = fillings_[number];
        const bool all = filling.inside == link.users.size();
        filling.free_Bps = link.bandwidth_Bps - (all ? 0 : std::max(0.0, link.used_Bps - filling.inside_Bps));
    }
}

void Flows::collect_all() {
    reached_ = active_;
    touched_.clear();
    for (Link number = 0; number < links_.size(); ++number) {
        const Channel& link = links_[number];
        if (link.users.empty()) continue;
        touched_.push_back(number);
        Filling& filling = fillings_[number];
        filling.inner = true;
        filling.free_Bps = link.bandwidth_Bps;
        filling.growing = link.weight;
    }
}

void Flows::freeze(Bundle bundle, double rate_Bps) {
    filled_Bps_[bundle] = rate_Bps;
    const double weight = shapes_[bundle].weight;
    for (const Link link : hops(bundle)) {
        Filling& filling = fillings_[link];
        filling.free_Bps -= rate_Bps * weight;
        filling.growing -= weight;
    }
}

void Flows::fill() {
    levels_.clear();
    bounds_.clear();
    // A link of one bundle is nothing but a bound on it.
    for (const Link link : touched_)
        if (links_[link].users.size() > 1)
            levels_.emplace_back(fillings_[link].free_Bps / fillings_[link].growing, link);
    for (const Bundle bundle : reached_) {
        const Variable& variable = bundles_[bundle];
        filled_Bps_[bundle] = -1;
        bounds_.emplace_back(std::min(variable.bound_Bps, variable.narrowest_Bps / shapes_[bundle].weight), bundle);
    }
    std::make_heap(levels_.begin(), levels_.end(), std::greater<>());
    constexpr auto lower = [](const auto& a, const auto& b) { return a.first < b.first; };
    if (!std::is_sorted(bounds_.begin(), bounds_.end(), lower)) std::sort(bounds_.begin(), bounds_.end());
    auto bound = bounds_.begin();
    for (std::size_t left = reached_.size(); left > 0;) {
        if (levels_.empty() || bound->first <= levels_.front().first) {
            const auto [bound_Bps, bundle] = *bound++;
            if (filled_Bps_[bundle] >= 0) continue;
            freeze(bundle, bound_Bps);
            --left;
            continue;
        }
        std::pop_heap(levels_.begin(), levels_.end(), std::greater<>());
        const auto [level_Bps, which] = levels_.back();
        levels_.pop_back();
        const Filling& filling = fillings_[which];
        if (filling.growing <= 0) continue;
        // Other links may have been full since, at lower rates of their flows, and left more for those on this one.
        const double now_Bps = std::max(0.0, filling.free_Bps) / filling.growing;
        if (now_Bps > level_Bps * (1 + 1e-12)) {
            levels_.emplace_back(now_Bps, which);
            std::push_heap(levels_.begin(), levels_.end(), std::greater<>());
            continue;
        }
        // Bundles that are not part of the solution have a known rate. There may be thousands, each with its own hops:
        // most of the time goes into reading these.
        growing_.clear();
        for (const User& user : links_[which].users)
            if (filled_Bps_[user.bundle] < 0) growing_.push_back(user);
        for (std::size_t i = 0; i < growing_.size(); ++i) {
            if (i + 8 < growing_.size()) {
                __builtin_prefetch(&shapes_[growing_[i + 8].bundle]);
                __builtin_prefetch(&hops_[growing_[i + 8].hop]);
            }
            freeze(growing_[i].bundle, now_Bps);
        }
        left -= growing_.size();
    }
}

}  // namespace syncline
