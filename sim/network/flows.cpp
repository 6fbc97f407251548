#include "sim/network/flows.hpp"

#include <algorithm>
#include <functional>
#include <limits>

namespace syncline {

namespace {

constexpr auto later = [](const auto& a, const auto& b) { return a.ends_at > b.ends_at; };
constexpr double near = 1e-9, same = 1e-13;  // parts by which rates may seem to differ, and do not
constexpr int patience = 8;

}  // namespace

Flows::Flows(const std::vector<double>& bandwidths_Bps)
    : links_(bandwidths_Bps.size()), fillings_(bandwidths_Bps.size()) {
    for (std::size_t i = 0; i < links_.size(); ++i) links_[i].bandwidth_Bps = bandwidths_Bps[i];
}

Flows::Bundle Flows::add_bundle(std::span<const Link> links, double bound_Bps, std::span<const double> parts) {
    if (removed_.size() <= links.size()) removed_.resize(links.size() + 1);
    std::vector<Bundle>& removed = removed_[links.size()];
    if (removed.empty()) {
        removed.push_back(static_cast<Bundle>(bundles_.size()));
        bundles_.emplace_back();
        bundles_.back().first_hop = static_cast<std::uint32_t>(hops_.size());
        bundles_.back().hops = static_cast<std::uint32_t>(links.size());
        progress_.emplace_back();
        hops_.resize(hops_.size() + links.size());
        positions_.resize(hops_.size());
    }
    const Bundle bundle = removed.back();
    removed.pop_back();
    bundles_[bundle].bound_Bps = bound_Bps;
    const std::uint32_t first = bundles_[bundle].first_hop;
    std::copy(links.begin(), links.end(), hops_.begin() + first);
    if (!parts.empty() || !parts_.empty()) parts_.resize(hops_.size(), 1);
    if (!parts_.empty())
        for (std::size_t i = 0; i < links.size(); ++i) parts_[first + i] = parts.empty() ? 1 : parts[i];
    double narrowest_Bps = std::numeric_limits<double>::infinity();
    each_hop(bundle, [&](Link link, double part) {
        narrowest_Bps = std::min(narrowest_Bps, links_[link].bandwidth_Bps / part);
    });
    bundles_[bundle].narrowest_Bps = narrowest_Bps;
    return bundle;
}

void Flows::remove_bundle(Bundle bundle) {
    removed_[bundles_[bundle].hops].push_back(bundle);
}

std::span<const Flows::Link> Flows::hops(Bundle bundle) const {
    return {hops_.data() + bundles_[bundle].first_hop, bundles_[bundle].hops};
}

void Flows::enter(Bundle bundle) {
    bundles_[bundle].position = static_cast<std::uint32_t>(active_.size());
    active_.push_back(bundle);
    std::uint32_t hop = bundles_[bundle].first_hop;
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
    std::uint32_t hop = bundles_[bundle].first_hop;
    for (const Link link : hops(bundle)) {
        std::vector<User>& users = links_[link].users;
        const User last = users.back();
        users[positions_[hop]] = last;
        positions_[last.hop] = positions_[hop];
        users.pop_back();
        ++hop;
    }
}

void Flows::receive(Bundle bundle, double now_s) {
    Progress& progress = progress_[bundle];
    progress.received += bundles_[bundle].rate_Bps * (now_s - progress.since_s);
    progress.since_s = now_s;
}

void Flows::reschedule(Bundle bundle) {
    const Progress& progress = progress_[bundle];
    const double left = progress.flows.front().ends_at - progress.received;
    ends_.set(bundle, progress.since_s + std::max(0.0, left) / bundles_[bundle].rate_Bps);
}

void Flows::set_rate(Bundle bundle, double rate_Bps, double now_s) {
    Variable& variable = bundles_[bundle];
    if (rate_Bps == variable.rate_Bps && !progress_[bundle].waits) return;
    progress_[bundle].waits = false;
    receive(bundle, now_s);
    variable.rate_Bps = rate_Bps;
    variable.used_Bps = rate_Bps * variable.weight;
    reschedule(bundle);
}

void Flows::start(Bundle bundle, double bytes, std::uint32_t owner, double now_s) {
    Variable& variable = bundles_[bundle];
    Progress& progress = progress_[bundle];
    if (progress.flows.empty()) {
        enter(bundle);
        progress.received = 0;
        progress.since_s = now_s;
        variable.rate_Bps = variable.used_Bps = 0;
    } else {
        receive(bundle, now_s);
    }
    progress.flows.push_back({progress.received + bytes, owner});
    std::push_heap(progress.flows.begin(), progress.flows.end(), later);
    ++variable.weight;
    if (progress.waits) return;
    progress.waits = true;
    fresh_.push_back(bundle);
    for (const Link link : hops(bundle)) disturb(link);
}

void Flows::disturb(Link number) {
    Channel& link = links_[number];
    if (link.disturbed || !link.saturated()) return;
    link.disturbed = true;
    disturbed_.push_back(number);
}

double Flows::next_end_s(double now_s) {
    if (!fresh_.empty() || !disturbed_.empty()) share(now_s);
    return ends_.next_s();
}

void Flows::end(double now_s, double precision_s, std::vector<std::uint32_t>& owners) {
    ending_.clear();
    while (ends_.next_s() <= now_s + precision_s) ending_.push_back(ends_.pop());
    // In the order of memory; flows that end together are often those that started together.
    std::sort(ending_.begin(), ending_.end());
    for (const Bundle bundle : ending_) {
        Variable& variable = bundles_[bundle];
        Progress& progress = progress_[bundle];
        receive(bundle, now_s);
        // The first one ends by definition, whatever rounding has left of it.
        progress.received = std::max(progress.received, progress.flows.front().ends_at);
        const double ends_at = progress.received + precision_s * variable.rate_Bps;
        double ended = 0;
        while (!progress.flows.empty() && progress.flows.front().ends_at <= ends_at) {
            owners.push_back(progress.flows.front().owner);
            std::pop_heap(progress.flows.begin(), progress.flows.end(), later);
            progress.flows.pop_back();
            ++ended;
        }
        const double ended_Bps = ended * variable.rate_Bps;
        variable.used_Bps -= ended_Bps;
        variable.weight -= ended;
        if (progress.flows.empty()) leave(bundle);
        each_hop(bundle, [&](Link number, double part) {
            Channel& link = links_[number];
            if (link.users.empty()) {
                link.used_Bps = 0;
                return;
            }
            disturb(number);
            link.used_Bps -= ended_Bps * part;
        });
        if (!progress.flows.empty()) reschedule(bundle);
    }
}

bool Flows::share_alone(Bundle bundle, double now_s) {
    for (const Link link : hops(bundle))
        if (links_[link].users.size() > 1) return false;
    const double rate_Bps = bundles_[bundle].highest_Bps();
    each_hop(bundle,
             [&](Link link, double part) { links_[link].used_Bps = rate_Bps * bundles_[bundle].weight * part; });
    set_rate(bundle, rate_Bps, now_s);
    return true;
}

void Flows::share(double now_s) {
    std::erase_if(fresh_, [&](Bundle bundle) { return share_alone(bundle, now_s); });
    for (const Link link : disturbed_) links_[link].disturbed = false;
    // A link may have lost its other flows since it was disturbed.
    std::erase_if(disturbed_, [&](Link link) {
        const std::vector<User>& users = links_[link].users;
        return users.empty() || (users.size() == 1 && share_alone(users.front().bundle, now_s));
    });
    if (fresh_.empty() && disturbed_.empty()) return;

    ++round_;
    reached_.clear();
    for (const Bundle bundle : fresh_) reach(bundle);
    for (const Link link : disturbed_) reach_limited(link);
    for (int tries = 0;; ++tries) {
        // Beyond this, solving for all is quicker than finding out for whom.
        if (reached_.size() > 32 && 3 * reached_.size() > active_.size())
            for (const Bundle bundle : active_) reach(bundle);
        collect();
        fill();
        const std::size_t before = reached_.size();
        for (const Link link : touched_)
            if (fillings_[link].inside < links_[link].users.size()) reach_wronged(link, tries < patience);
        if (reached_.size() == before) break;
    }
    for (const Link link : touched_)
        links_[link].used_Bps = links_[link].bandwidth_Bps - std::max(0.0, fillings_[link].free_Bps);
    for (const Bundle bundle : reached_) set_rate(bundle, bundles_[bundle].filled_Bps, now_s);
    fresh_.clear();
    disturbed_.clear();
}

void Flows::reach(Bundle bundle) {
    Variable& variable = bundles_[bundle];
    if (variable.round == round_) return;
    variable.round = round_;
    bundles_[bundle].filled_Bps = -1;
    reached_.push_back(bundle);
}

double Flows::highest_Bps(Link link) const {
    double highest = 0;
    for (const User& user : links_[link].users) highest = std::max(highest, bundles_[user.bundle].rate_Bps);
    return highest;
}

void Flows::reach_limited(Link link) {
    const double limited_Bps = highest_Bps(link) * (1 - near);
    for (const User& user : links_[link].users)
        if (bundles_[user.bundle].rate_Bps >= limited_Bps) reach(user.bundle);
}

void Flows::reach_wronged(Link number, bool patient) {
    const Channel& link = links_[number];
    const bool was_full = link.saturated(), full = fillings_[number].free_Bps <= link.bandwidth_Bps * 1e-10;
    if (!was_full && !full) return;
    const double limited_Bps = was_full ? highest_Bps(number) * (1 - near) : std::numeric_limits<double>::infinity();
    double inside_Bps = 0;
    for (const User& user : link.users)
        if (bundles_[user.bundle].round == round_) inside_Bps = std::max(inside_Bps, bundles_[user.bundle].filled_Bps);
    for (const User& user : link.users) {
        const double rate_Bps = bundles_[user.bundle].rate_Bps;
        const bool could_grow = rate_Bps >= limited_Bps && (!full || inside_Bps > rate_Bps * (1 + same));
        const bool has_too_much = fillings_[number].limits && rate_Bps > inside_Bps * (1 + same);
        if (could_grow || has_too_much || !patient) reach(user.bundle);
    }
}

void Flows::collect() {
    touched_.clear();
    ++gathering_;
    for (const Bundle bundle : reached_) {
        const double weight = bundles_[bundle].weight, used_Bps = bundles_[bundle].used_Bps;
        each_hop(bundle, [&](Link number, double part) {
            Filling& filling = fillings_[number];
            if (filling.gathering != gathering_) {
                filling.gathering = gathering_;
                filling.limits = false;
                filling.inside = 0;
                filling.inside_Bps = filling.growing = 0;
                touched_.push_back(number);
            }
            ++filling.inside;
            filling.inside_Bps += used_Bps * part;
            filling.growing += weight * part;
        });
    }
    for (const Link number : touched_) {
        const Channel& link = links_[number];
        Filling& filling = fillings_[number];
        const bool all = filling.inside == link.users.size();
        filling.free_Bps = link.bandwidth_Bps - (all ? 0 : std::max(0.0, link.used_Bps - filling.inside_Bps));
    }
}

void Flows::freeze(Bundle bundle, double rate_Bps) {
    bundles_[bundle].filled_Bps = rate_Bps;
    const double weight = bundles_[bundle].weight;
    each_hop(bundle, [&](Link link, double part) {
        Filling& filling = fillings_[link];
        filling.free_Bps -= rate_Bps * weight * part;
        filling.growing -= weight * part;
    });
}

void Flows::fill() {
    levels_.clear();
    // A link of one bundle is nothing but a bound on it.
    for (const Link link : touched_)
        if (links_[link].users.size() > 1)
            levels_.emplace_back(fillings_[link].free_Bps / fillings_[link].growing, link);
    for (const Bundle bundle : reached_) bundles_[bundle].filled_Bps = -1;
    std::make_heap(levels_.begin(), levels_.end(), std::greater<>());
    std::size_t left = reached_.size();
    while (left > 0 && !levels_.empty()) {
        std::pop_heap(levels_.begin(), levels_.end(), std::greater<>());
        const auto [level_Bps, which] = levels_.back();
        levels_.pop_back();
        const Filling& filling = fillings_[which];
        if (filling.growing <= 0) continue;
        // Other links may have been full since, at lower rates of their flows, and left more for those on this one.
        const double now_Bps = std::max(0.0, filling.free_Bps) / filling.growing;
        const auto put_back = [&, link = which](double at_Bps) {
            levels_.emplace_back(at_Bps, link);
            std::push_heap(levels_.begin(), levels_.end(), std::greater<>());
        };
        if (now_Bps > level_Bps * (1 + 1e-12)) {
            put_back(now_Bps);
            continue;
        }
        // Bundles that are not part of the solution have a known rate.
        growing_.clear();
        bounded_.clear();
        for (const User& user : links_[which].users) {
            const Variable& variable = bundles_[user.bundle];
            if (variable.filled_Bps < 0) (variable.at_most(now_Bps) ? bounded_ : growing_).push_back(user);
        }
        if (growing_.empty() && bounded_.empty()) continue;  // parts add up to 0 but for rounding
        left -= bounded_.size();
        for (const User& user : bounded_) freeze(user.bundle, bundles_[user.bundle].highest_Bps());
        if (!bounded_.empty()) {
            if (!growing_.empty()) put_back(std::max(0.0, filling.free_Bps) / filling.growing);
            continue;
        }
        // There may be thousands, each with its own hops: most of the time goes into reading these.
        for (std::size_t i = 0; i < growing_.size(); ++i) {
            if (i + 8 < growing_.size()) __builtin_prefetch(&hops_[growing_[i + 8].hop]);
            freeze(growing_[i].bundle, now_Bps);
        }
        left -= growing_.size();
        fillings_[which].limits = true;
    }
    for (const Bundle bundle : reached_)
        if (bundles_[bundle].filled_Bps < 0) freeze(bundle, bundles_[bundle].highest_Bps());
}

}  // namespace syncline
