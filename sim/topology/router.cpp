#include "sim/topology/router.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "sim/base/split_mix.hpp"

namespace syncline {

namespace {

/// Limit on the vertices held by all searches together: 400 MB. Beyond it the oldest searches are dropped and repeated.
constexpr std::size_t most_kept = std::size_t{1} << 24;

/// Length that a hop between groups has in addition: more than all hops of a minimal path, which has no more than five,
/// of at most 2^40 units each.
constexpr std::uint64_t global_length = std::uint64_t{1} << 43;

}  // namespace

const char* policy_name(Routing::Policy policy) {
    switch (policy) {
        case Routing::Policy::d_mod_k:
            return "d-mod-k";
        case Routing::Policy::ecmp:
            return "ecmp";
        case Routing::Policy::first:
            return "first";
        case Routing::Policy::adaptive_at_start:
            return "adaptive-at-start";
        case Routing::Policy::valiant:
            return "valiant";
        case Routing::Policy::ugal:
            return "ugal";
        case Routing::Policy::spray:
            return "spray";
    }
    throw std::logic_error("unknown routing policy");
}

Router::Router(const Topology& topology, const Routing& routing)
    : vertices_(topology.vertices()),
      shortest_(routing.shortest),
      policy_(routing.policy.value_or(topology.parents.empty() ? Routing::Policy::ecmp : Routing::Policy::d_mod_k)),
      single_way_(topology.cables + topology.parts == vertices_),
      circular_(topology.circular),
      out_(vertices_),
      in_(vertices_),
      numbers_(vertices_, no_number),
      cycles_(topology.cycles),
      groups_(topology.groups),
      parents_(topology.parents) {
    const Graph& graph = topology.graph;
    for (auto [edge, end] = boost::edges(graph); edge != end; ++edge) {
        const auto number = static_cast<std::uint32_t>(hops_.size());
        const auto from = static_cast<std::uint32_t>(boost::source(*edge, graph));
        const auto to = static_cast<std::uint32_t>(boost::target(*edge, graph));
        hops_.push_back({from, to, graph[*edge].cable, graph[*edge].wire});
        out_[from].push_back(number);
        in_[to].push_back(number);
        unit_s_ = std::max(unit_s_, graph[*edge].wire.latency_s * 0x1p-40);  // 2^23 hops fit
    }
    // A host with a single cable, which no path between others passes.
    const auto hangs = [&](std::uint32_t vertex) {
        if (out_[vertex].size() != 1 || in_[vertex].size() != 1) return false;
        const std::uint32_t other = hops_[out_[vertex].front()].to;
        return hops_[in_[vertex].front()].from == other && in_[other].size() > 1;
    };
    for (std::uint32_t vertex = 0; vertex < vertices_; ++vertex)
        if (!hangs(vertex)) numbers_[vertex] = numbered_++;
    const bool by_distance = policy_ == Routing::Policy::ecmp || policy_ == Routing::Policy::spray;
    if (by_distance && circular_ && !cycles_.empty()) find_slots();
    if (takes_detours(policy_)) {
        if (groups_.empty()) throw std::logic_error("detours require a dragonfly");
        group_count_ = 1 + *std::max_element(groups_.begin(), groups_.end());
        between_groups_.resize(std::size_t{group_count_} * group_count_);
        for (std::uint32_t hop = 0; hop < hops_.size(); ++hop)
            if (joins_groups(hops_[hop]))
                between_groups_[std::size_t{groups_[hops_[hop].from]} * group_count_ + groups_[hops_[hop].to]]
                    .push_back(hop);
    }
    if (policy_ != Routing::Policy::d_mod_k) return;
    if (parents_.empty()) throw std::logic_error("D-mod-k requires a fat tree");
    for (std::uint32_t vertex = 0; vertex < vertices_; ++vertex) levels_.push_back(graph[vertex].level);
    std::uint64_t product = 1;
    for (const std::uint32_t count : parents_) {
        strides_.push_back(product);
        product *= count;
    }
}

Router::Distance Router::length(const Hop& hop) const {
    const auto latency = static_cast<std::uint64_t>(std::llround(hop.wire.latency_s / unit_s_));
    const std::uint64_t global = joins_groups(hop) ? global_length : 0;
    return shortest_ == Routing::Shortest::latency ? Distance{global + latency, 1} : Distance{global + 1, latency};
}

Router::Ends Router::ends(std::uint32_t from, std::uint32_t to) const {
    Ends ends{from, to};
    if (from != to && out_[from].size() == 1) ends.at = hops_[out_[from].front()].to;
    ends.gated = ends.at != to && in_[to].size() == 1;
    if (ends.gated) ends.gate = hops_[in_[to].front()].from;
    return ends;
}

std::uint32_t Router::seen_from(std::uint32_t origin, std::uint32_t vertex) const {
    std::uint32_t moved = 0, stride = 1;
    for (const std::uint32_t size : cycles_) {
        moved += (vertex % size + size - origin % size) % size * stride;
        stride *= size;
        vertex /= size;
        origin /= size;
    }
    return moved;
}

std::uint32_t Router::number(std::uint32_t vertex, std::uint32_t gate) const {
    return numbers_[cycles_.empty() ? vertex : seen_from(gate, vertex)];
}

Router::Distance Router::distance(const Way& way, std::uint32_t vertex) const {
    const std::uint32_t its = number(vertex, way.gate);
    return its == no_number ? unreached : way.search->distance[its];
}

Router::Search& Router::search(std::uint32_t to) {
    const auto found = searches_.find(to);
    if (found != searches_.end()) return found->second;
    if ((searches_.size() + 1) * numbered_ > most_kept) searches_.clear();
    Search& search = searches_[to];
    search.distance.assign(numbered_, unreached);
    if (cycles_.empty()) search.only.assign(numbered_, no_number);
    search.distance[numbers_[to]] = {};
    search.open.push({{}, to});
    return search;
}

void Router::extend(Search& search, std::uint32_t asked) const {
    while (!search.open.empty() && search.distance[asked] >= search.frontier) {
        const auto [distance, vertex] = search.open.top();
        search.open.pop();
        search.frontier = {distance.major, distance.minor + 1};
        if (distance != search.distance[numbers_[vertex]]) continue;  // a shorter path was found in the meantime
        ++settled_;
        for (const std::uint32_t each : in_[vertex]) {
            const Hop& hop = hops_[each];
            if (numbers_[hop.from] == no_number || avoided(each)) continue;
            const Distance step = length(hop);
            const Distance reached{distance.major + step.major, distance.minor + step.minor};
            if (reached >= search.distance[numbers_[hop.from]]) continue;
            search.distance[numbers_[hop.from]] = reached;
            search.open.push({reached, hop.from});
        }
    }
}

Router::Way Router::searched(const Ends& ends) {
    Search& found = search(cycles_.empty() ? ends.gate : 0);
    const std::uint32_t asked = number(ends.at, ends.gate);
    if (asked != no_number) extend(found, asked);
    if (asked == no_number || found.distance[asked] == unreached)
        throw std::logic_error(fmt::format("no path from {} to {}", ends.at, ends.gate));
    return {&found, ends.gate};
}

void Router::avoid(std::vector<bool> hops) {
    avoided_ = std::move(hops);
    searches_.clear();
    // Without some of its cables a torus does not look the same from everywhere.
    cycles_.clear();
    slots_.clear();
    axes_.clear();
    choices_from_.clear();
}

bool Router::reaches(std::uint32_t from, std::uint32_t to) {
    const Ends between = ends(from, to);
    if (between.at == between.gate) return true;
    const std::uint32_t asked = number(between.at, between.gate);
    if (asked == no_number) return false;
    Search& found = search(between.gate);
    extend(found, asked);
    return found.distance[asked] != unreached;
}

void Router::find_choices(const Way& way, std::uint32_t at) {
    choices_.clear();
    // In a torus vertices with one number have different hops.
    std::uint32_t* const only = cycles_.empty() ? &way.search->only[numbers_[at]] : nullptr;
    if (only != nullptr && *only != no_number) {
        choices_.push_back(*only);
        return;
    }
    const Distance whole = distance(way, at);
    for (const std::uint32_t hop : out_[at]) {
        const Distance rest = distance(way, hops_[hop].to), step = length(hops_[hop]);
        if (rest != unreached && !avoided(hop) && Distance{rest.major + step.major, rest.minor + step.minor} == whole)
            choices_.push_back(hop);
    }
    if (only != nullptr && choices_.size() == 1) *only = choices_.front();
}

std::uint32_t Router::by_hash(std::uint32_t at, std::uint64_t flow) const {
    // Each of n choices is taken for one in n hashes.
    std::uint32_t chosen = choices_.front();
    for (std::uint32_t i = 1; i < choices_.size(); ++i)
        if (split_mix(flow ^ (std::uint64_t{at} << 32 | (i + 1))) % (i + 1) == 0) chosen = choices_[i];
    return chosen;
}

std::uint32_t Router::by_turn(std::uint32_t from, std::uint32_t to, std::uint32_t channel) {
    // Sorts the directions into an order that neighbours agree on wherever numbers wrap around, and finds the distance
    // between neighbours' numbers along the nearest of these: in a torus, along a dimension.
    const auto ahead = [&](std::uint32_t hop) { return (hops_[hop].to + vertices_ - from) % vertices_; };
    std::stable_sort(choices_.begin(), choices_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return ahead(a) < ahead(b); });
    std::uint32_t stride = vertices_;
    for (const std::uint32_t hop : choices_) stride = std::min({stride, ahead(hop), vertices_ - ahead(hop)});
    const std::uint64_t offset = from < to ? to - from : from - to;
    return choices_[(from / stride + split_mix(offset << 32 | channel)) % choices_.size()];
}

void Router::find_slots() {
    // Whatever the numbers of hosts and cables, the directions have the same order everywhere.
    for (std::uint32_t at = 0; at < vertices_; ++at) {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> sorted;
        for (const std::uint32_t hop : out_[at]) sorted.emplace_back(seen_from(at, hops_[hop].to), hop);
        std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        for (const auto& [ahead, hop] : sorted) {
            slots_.push_back(hop);
            if (at > 0) continue;
            std::uint32_t axis = 0;
            for (std::uint32_t rest = ahead; rest % cycles_[axis] == 0; ++axis) rest /= cycles_[axis];
            axes_.push_back(axis);
        }
    }
    choices_from_.resize(vertices_);
}

const std::vector<std::uint32_t>& Router::slots_on_way(const Way& way, std::uint32_t at) {
    std::vector<std::uint32_t>& slots = choices_from_[seen_from(way.gate, at)];
    if (!slots.empty()) return slots;
    find_choices(way, at);
    for (std::uint32_t slot = 0; slot < axes_.size(); ++slot)
        if (std::find(choices_.begin(), choices_.end(), slots_[at * axes_.size() + slot]) != choices_.end())
            slots.push_back(slot);
    return slots;
}

void Router::append_by_distance(const Way& way, std::uint32_t at, std::uint32_t from, std::uint32_t to,
                                std::uint32_t channel, std::vector<std::uint32_t>& path) {
    const std::uint32_t distance = seen_from(from, to);
    std::uint32_t turn = channel == 0 ? 0 : static_cast<std::uint32_t>(split_mix(channel) % 2);
    for (std::uint32_t axis = 0, rest = distance; axis < cycles_.size(); rest /= cycles_[axis++])
        turn += rest % cycles_[axis];
    const auto place = [&](std::uint32_t axis) {
        std::uint32_t rest = from;
        for (std::uint32_t inner = 0; inner < axis; ++inner) rest /= cycles_[inner];
        return rest % cycles_[axis];
    };
    // One dimension after the other, beginning with one that depends on the distance.
    auto axis = static_cast<std::uint32_t>(split_mix(std::uint64_t{distance} << 32 | channel) % cycles_.size());
    for (; at != way.gate; at = hops_[path.back()].to) {
        const std::vector<std::uint32_t>& slots = slots_on_way(way, at);
        const auto along = [&](std::uint32_t slot) { return axes_[slot] == axis; };
        std::ptrdiff_t count = 0;
        while ((count = std::count_if(slots.begin(), slots.end(), along)) == 0)
            axis = (axis + 1) % static_cast<std::uint32_t>(cycles_.size());
        std::uint32_t left = (place(axis) + turn) % static_cast<std::uint32_t>(count);
        auto chosen = std::find_if(slots.begin(), slots.end(), along);
        while (left-- > 0) chosen = std::find_if(chosen + 1, slots.end(), along);
        path.push_back(slots_[at * axes_.size() + *chosen]);
    }
}

std::uint32_t Router::by_destination(std::uint32_t at, std::uint32_t to) const {
    const std::uint32_t below = levels_[at], next = levels_[hops_[choices_.front()].to];
    const std::uint32_t level = std::min(below, next), parents = parents_[level];
    const bool up = below < next;
    const std::size_t cables = up ? choices_.size() / parents : choices_.size();
    const std::uint64_t port = to / strides_[level] % (parents * cables);
    return choices_[up ? port % parents * cables + port / parents : port / parents];
}

void Router::append_least_loaded(const Way& way, const Ends& ends, std::span<const std::uint32_t> in_flight,
                                 std::vector<std::uint32_t>& path) {
    struct Best {
        std::uint32_t load = 0, hop = 0;
    };
    std::unordered_map<std::uint32_t, Best> known;
    const auto best = [&](const auto& self, std::uint32_t at) -> std::uint32_t {
        if (at == ends.gate) return 0;
        if (const auto found = known.find(at); found != known.end()) return found->second.load;
        find_choices(way, at);
        const std::vector<std::uint32_t> choices = choices_;
        Best least{~std::uint32_t{0}, 0};
        for (const std::uint32_t hop : choices) {
            const std::uint32_t own = in_flight.empty() ? 0 : in_flight[hop];
            const std::uint32_t load = std::max(own, self(self, hops_[hop].to));
            if (load < least.load) least = {load, hop};
        }
        known[at] = least;
        return least.load;
    };
    best(best, ends.at);
    for (std::uint32_t at = ends.at; at != ends.gate; at = hops_[path.back()].to) path.push_back(known.at(at).hop);
}

void Router::append_shortest(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& path, std::uint64_t flow,
                             std::uint32_t channel, std::span<const std::uint32_t> in_flight) {
    const Ends between = ends(from, to);
    if (between.at != from) path.push_back(out_[from].front());
    if (between.at != between.gate) {
        const Way way = searched(between);
        std::uint32_t at = between.at;
        if (policy_ == Routing::Policy::adaptive_at_start) {
            append_least_loaded(way, between, in_flight, path);
            at = between.gate;
        } else if (!slots_.empty()) {
            append_by_distance(way, at, from, to, channel, path);
            at = between.gate;
        }
        for (; at != between.gate; at = hops_[path.back()].to) {
            find_choices(way, at);
            if (choices_.size() == 1 || policy_ == Routing::Policy::first)
                path.push_back(choices_.front());
            else if (policy_ == Routing::Policy::d_mod_k)
                path.push_back(by_destination(at, to));
            else
                path.push_back(circular_ && at == from ? by_turn(from, to, channel) : by_hash(at, flow));
        }
    }
    if (between.gated) path.push_back(in_[to].front());
}

bool Router::append_detour(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& path, std::uint64_t draw,
                           std::uint32_t channel) {
    const std::uint32_t here = groups_[from], there = groups_[to];
    if (here == there || group_count_ < 3) return false;
    auto by = static_cast<std::uint32_t>(draw % (group_count_ - 2));
    if (by >= std::min(here, there)) ++by;
    if (by >= std::max(here, there)) ++by;
    const std::vector<std::uint32_t>& all = between_groups_[std::size_t{here} * group_count_ + by];
    const std::uint32_t chosen = all[split_mix(draw) % all.size()];
    if (hops_[chosen].from != from) append_shortest(from, hops_[chosen].from, path, draw, channel, {});
    path.push_back(chosen);
    append_shortest(hops_[chosen].to, to, path, draw, channel, {});
    return true;
}

std::uint64_t Router::cost(std::span<const std::uint32_t> path, std::span<const std::uint32_t> in_flight) const {
    std::uint64_t busiest = 0, hops = 0;
    for (const std::uint32_t hop : path) {
        // A host's own cables are on all its ways.
        if (numbers_[hops_[hop].from] == no_number || numbers_[hops_[hop].to] == no_number) continue;
        busiest = std::max<std::uint64_t>(busiest, in_flight[hop]);
        ++hops;
    }
    return busiest * hops;
}

void Router::route(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& path, std::uint32_t channel,
                   std::span<const std::uint32_t> in_flight) {
    std::uint64_t flow = split_mix((std::uint64_t{from} << 32) | to);
    if (channel != 0) flow = split_mix(flow ^ channel);
    if (policy_ == Routing::Policy::valiant && append_detour(from, to, path, flow, channel)) return;
    const auto first = static_cast<std::ptrdiff_t>(path.size());
    append_shortest(from, to, path, flow, channel, in_flight);
    if (policy_ != Routing::Policy::ugal || in_flight.empty()) return;
    std::vector<std::uint32_t> detour;
    if (!append_detour(from, to, detour, split_mix(flow + ++drawn_), channel)) return;
    if (cost(std::span(path).subspan(static_cast<std::size_t>(first)), in_flight) <= cost(detour, in_flight)) return;
    path.resize(static_cast<std::size_t>(first));
    path.insert(path.end(), detour.begin(), detour.end());
}

void Router::spread(std::uint32_t from, std::uint32_t to, std::vector<Share>& shares) {
    const Ends between = ends(from, to);
    if (between.at != from) shares.push_back({out_[from].front(), 1});
    if (between.at != between.gate) {
        const Way way = searched(between);
        // Vertices on shortest paths, the farthest from the destination first, with their parts of the flow.
        std::map<std::pair<Distance, std::uint32_t>, double, std::greater<>> reached;
        reached[{distance(way, between.at), between.at}] = 1;
        while (!reached.empty()) {
            const auto [key, part] = *reached.begin();
            reached.erase(reached.begin());
            find_choices(way, key.second);
            for (const std::uint32_t hop : choices_) {
                const double its = part / static_cast<double>(choices_.size());
                shares.push_back({hop, its});
                const std::uint32_t next = hops_[hop].to;
                if (next != between.gate) reached[{distance(way, next), next}] += its;
            }
        }
    }
    if (between.gated) shares.push_back({in_[to].front(), 1});
}

double Router::unused_ways(std::uint32_t from, std::uint32_t to, std::uint32_t around,
                           std::span<const std::uint64_t> bytes, std::uint64_t moved) {
    struct Count {
        double all = 0, used = 0;
    };
    const Ends between = ends(from, to);
    const bool only =
        (between.at != from && out_[from].front() == around) || (between.gated && in_[to].front() == around);
    if (only || between.at == between.gate) return 0;
    const Way way = searched(between);
    std::unordered_map<std::uint32_t, Count> known;
    const auto count = [&](const auto& self, std::uint32_t at) -> Count {
        if (at == between.gate) return {1, 1};
        if (const auto found = known.find(at); found != known.end()) return found->second;
        find_choices(way, at);
        const std::vector<std::uint32_t> choices = choices_;
        Count sum;
        for (const std::uint32_t hop : choices) {
            if (hop == around || bytes[hop] + moved >= bytes[around]) continue;
            const Count rest = self(self, hops_[hop].to);
            sum.all += rest.all;
            if (bytes[hop] > 0) sum.used += rest.used;
        }
        return known[at] = sum;
    };
    const Count ways = count(count, between.at);
    return ways.all - ways.used;
}

}  // namespace syncline
