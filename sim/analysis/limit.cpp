#include "sim/analysis/limit.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace syncline {

namespace {

struct Part {
    std::string words;
    double seconds = 0;
};

struct LinkPart {
    Part part;
    double both_s = 0;  ///< in both directions of the cable, one after the other
};

/// Returns the name of a cable's other direction: "node-2/b->a" of "node-2/a->b".
std::string reversed(const std::string& link) {
    const std::size_t arrow = link.find("->");
    if (arrow == std::string::npos) return link;
    const std::size_t begin = link.find('/') < arrow ? link.find('/') + 1 : 0;
    return link.substr(0, begin) + link.substr(arrow + 2) + "->" + link.substr(begin, arrow - begin);
}

double time_s(const LinkUse& link) {
    return static_cast<double>(link.bytes) / link.bandwidth_Bps;
}

/// Returns the time of the bytes on the link where they take longest.
LinkPart longest_link(const Cluster& cluster, const std::vector<LinkUse>& links) {
    if (links.empty() || cluster.network == NetworkModel::Constant) return {};
    const LinkUse& busiest = *std::ranges::max_element(links, {}, time_s);
    const std::string other = reversed(busiest.name);
    constexpr double alike = 0.99;
    bool alone = true;
    double both_s = 0;
    for (const LinkUse& link : links) {
        const bool same = link.name == busiest.name || link.name == other;
        if (same) both_s += time_s(link);
        if (!same && link.kind == busiest.kind && time_s(link) >= alike * time_s(busiest)) alone = false;
    }
    constexpr std::array all{"links in nodes", "ports", "fabric", "transport", "links"};  // by LinkKind
    const std::string one = (busiest.kind == LinkKind::port ? "port " : "link ") + busiest.name;
    return {{alone ? one : all[static_cast<std::size_t>(busiest.kind)], time_s(busiest)}, both_s};
}

/// Returns what bounds most of the layers' time.
std::string bound_of(const Lowered& training) {
    Part measured{"computation"}, products{"matrix products"}, memory{"memory bandwidth"}, launches{"launches"};
    for (const PlacedLayer& layer : training.arrangement.layers) {
        const LayerTime& time = layer.time;
        const double device_s = time.forward_s + time.backward_s() - time.host_bound_s;
        launches.seconds += time.host_bound_s;
        Part& part = !time.bound                    ? measured
                     : time.bound == Bound::compute ? products
                     : time.bound == Bound::memory  ? memory
                                                    : launches;
        part.seconds += device_s;
    }
    return std::max({products, memory, launches, measured},
                    [](const Part& a, const Part& b) { return a.seconds < b.seconds; })
        .words;
}

std::string largest(std::initializer_list<Part> parts) {
    const Part& most = *std::ranges::max_element(parts, {}, &Part::seconds);
    return most.seconds > 0 ? most.words : "";
}

/// Returns the words for what neither bytes nor resources explain. `kinds`: some ranks compute more slowly.
std::string rest_of(const Cluster& cluster, bool kinds) {
    if (cluster.faults.empty()) return kinds ? "slower ranks and latency" : "latency";
    return kinds ? "faults, slower ranks and latency" : "faults and latency";
}

/// `computation`: the words for the longest computation of a rank.
std::string limit_of(const Cluster& cluster, const std::string& computation, const Breakdown& time,
                     const std::vector<LinkUse>& links, bool kinds) {
    const LinkPart link = longest_link(cluster, links);
    const Part waiting = time.pipeline_bubble ? Part{"bubble", *time.pipeline_bubble * time.iteration_s}
                                              : Part{"waiting", time.waiting_s};
    return largest({{computation, time.longest_compute_s},
                    link.part,
                    {"reductions", time.longest_reduction_s},
                    {"copies", time.longest_copies_s},
                    {"storage", time.longest_load_s},
                    waiting,
                    {rest_of(cluster, kinds), time.exposed_communication_s - link.both_s}});
}

}  // namespace

std::string limit_of(const Lowered& training, const Breakdown& time, const std::vector<LinkUse>& links) {
    return limit_of(training.cluster, bound_of(training), time, links, training.kinds_differ);
}

std::string limit_of(const Cluster& cluster, const Breakdown& time, const std::vector<LinkUse>& links) {
    // A rank that waits for a message does so while its bytes flow.
    const double flows_s = longest_link(cluster, links).both_s - time.exposed_communication_s;
    Breakdown apart = time;
    apart.waiting_s = std::max(0.0, time.waiting_s - std::max(0.0, flows_s));
    return limit_of(cluster, "computation", apart, links, false);
}

std::string limit_of(const Cluster& cluster, double seconds, const std::vector<LinkUse>& links, double part) {
    const LinkPart link = longest_link(cluster, links);
    return largest(
        {{link.part.words, part * link.part.seconds}, {rest_of(cluster, false), seconds - part * link.both_s}});
}

}  // namespace syncline
