#include "sim/trace/link_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace syncline {

namespace {

/// The part of a message's flow in the drawn time range.
struct Flow {
    std::int64_t start_ns = 0, end_ns = 0;
    double bytes_per_ns = 0;
};

Flow flow_of(const MessageRecord& message, const Interval& time) {
    const std::int64_t start_ns = nanoseconds(message.start_s()), end_ns = nanoseconds(message.through_s);
    if (end_ns <= start_ns) return {};
    return {std::max(start_ns, nanoseconds(time.start_s)), std::min(end_ns, nanoseconds(time.end_s)),
            static_cast<double>(message.bytes) / static_cast<double>(end_ns - start_ns)};
}

/// Calls use(link, flow) for every message and every link of its route.
template <class Use>
void each_use(const Drawing& drawing, const Use& use) {
    const Trace& trace = drawing.view().timeline.trace;
    for (const MessageRecord& message : trace.messages) {
        const Flow whole = flow_of(message, drawing.time());
        if (whole.end_ns <= whole.start_ns || whole.bytes_per_ns == 0) continue;
        const std::vector<std::uint32_t>& route = trace.routes.at(message.route);
        for (std::size_t i = 0; i < route.size(); ++i) {
            Flow flow = whole;
            flow.bytes_per_ns *= trace.part(message.route, i);
            use(route[i], flow);
        }
    }
}

/// Returns the links on routes between processes of which at least one is shown.
std::vector<bool> shown_links(const Drawing& drawing) {
    const Trace& trace = drawing.view().timeline.trace;
    std::vector<bool> shown(trace.links.size(), false);
    std::vector<bool> routes(trace.routes.size(), false);
    for (const MessageRecord& message : trace.messages)
        routes[message.route] =
            routes[message.route] || drawing.shows(drawing.sender(message)) || drawing.shows(drawing.receiver(message));
    for (std::size_t i = 0; i < routes.size(); ++i) {
        if (!routes[i]) continue;
        for (const std::uint32_t link : trace.routes[i]) shown[link] = true;
    }
    return shown;
}

struct Change {
    std::int64_t at_ns = 0;
    double bytes_per_ns = 0;
    int flows = 0;  ///< number of flows that begin, or (negative) end
};

std::vector<UsePoint> curve_of(std::vector<Change> changes, double bandwidth_Bps) {
    std::ranges::stable_sort(changes, {}, &Change::at_ns);
    std::vector<UsePoint> points;
    double rate = 0;
    int flows = 0;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        rate += changes[i].bytes_per_ns;
        flows += changes[i].flows;
        if (flows == 0) rate = 0;  // removes rounding errors
        const bool last = i + 1 == changes.size() || changes[i + 1].at_ns > changes[i].at_ns;
        if (last) points.push_back({changes[i].at_ns, rate * 1e9 / bandwidth_Bps});
    }
    return points;
}

}  // namespace

LinkCurves link_curves(const Drawing& drawing, std::size_t most) {
    LinkCurves result;
    if (drawing.level() < TraceLevel::messages) return result;
    const std::vector<TracedLink>& links = drawing.view().timeline.trace.links;
    const std::vector<bool> shown = shown_links(drawing);
    std::vector<double> carried(links.size(), 0);
    each_use(drawing, [&](std::uint32_t link, const Flow& flow) {
        carried[link] += flow.bytes_per_ns * static_cast<double>(flow.end_ns - flow.start_ns);
    });
    std::vector<std::uint32_t> used;
    for (std::uint32_t link = 0; link < links.size(); ++link)
        if (shown[link] && carried[link] > 0) used.push_back(link);
    result.used = used.size();
    std::ranges::stable_sort(used, {}, [&](std::uint32_t link) { return -carried[link] / links[link].bandwidth_Bps; });
    used.resize(std::min(used.size(), most));

    constexpr std::uint32_t none = ~std::uint32_t{0};
    std::vector<std::uint32_t> place(links.size(), none);
    for (std::uint32_t i = 0; i < used.size(); ++i) place[used[i]] = i;
    std::vector<std::vector<Change>> changes(used.size());
    each_use(drawing, [&](std::uint32_t link, const Flow& flow) {
        if (place[link] == none) return;
        changes[place[link]].push_back({flow.start_ns, flow.bytes_per_ns, 1});
        changes[place[link]].push_back({flow.end_ns, -flow.bytes_per_ns, -1});
    });
    for (std::size_t i = 0; i < used.size(); ++i)
        result.curves.push_back({used[i], curve_of(std::move(changes[i]), links[used[i]].bandwidth_Bps)});
    return result;
}

std::vector<std::string> account(const LinkCurves& links) {
    const std::size_t hidden = links.used - links.curves.size();
    if (hidden == 0) return {};
    return {fmt::format("left out: {} of {} links, the least utilised", hidden, links.used)};
}

}  // namespace syncline
