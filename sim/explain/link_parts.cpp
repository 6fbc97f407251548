#include "sim/explain/window_parts.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "sim/base/pattern.hpp"

namespace syncline {

namespace {

constexpr std::size_t shown = 10, profile_parts = 60;

/// Returns the bytes of a message that flowed in `part`, spread evenly over its transfer time.
double bytes_within(const MessageRecord& message, const Interval& part) {
    const double flow_s = message.through_s - message.start_s();
    return static_cast<double>(message.bytes) * (part.end_s - part.start_s) / flow_s;
}

/// Moves what is above a link's capacity to the next interval with room, or else to the one before: messages that share
/// a link are not spread quite evenly over their transfers.
void level(std::vector<double>& profile) {
    double over = 0;
    const auto move = [&](double& share) {
        share += over;
        over = std::max(0.0, share - 1);
        share -= over;
    };
    std::ranges::for_each(profile, move);
    std::for_each(profile.rbegin(), profile.rend(), move);
}

std::vector<LinkParts> from_counts(const Recorded& recorded, const Cluster& cluster) {
    const double iterations = recorded.iterations();
    const double seconds = recorded.time().sending_s(recorded.timeline().links);
    std::vector<LinkParts> parts;
    for (const LinkLoad& load : busiest(cluster, recorded.timeline().links, seconds)) {
        LinkParts part;
        part.link = load.name;
        part.bytes = static_cast<std::uint64_t>(std::llround(static_cast<double>(load.bytes) * iterations));
        part.utilisation = load.utilisation;
        if (load.utilisation > 0) part.bandwidth_Bps = static_cast<double>(load.bytes) / (load.utilisation * seconds);
        parts.push_back(std::move(part));
    }
    return parts;
}

class Links {
public:
    Links(const Recorded& recorded, const TaskNames& names, const Cluster& cluster)
        : recorded_(recorded), trace_(recorded.trace()), names_(names), cluster_(cluster) {}

    std::vector<LinkParts> busiest() const {
        const double window_s = recorded_.window().end_s - recorded_.window().start_s;
        std::vector<double> bytes(trace_.links.size(), 0);
        each_message([&](const MessageRecord& message, const Interval& part, const std::vector<std::uint32_t>& route) {
            for (std::size_t i = 0; i < route.size(); ++i)
                bytes[route[i]] += bytes_within(message, part) * trace_.part(message.route, i);
        });
        std::vector<std::uint32_t> order;
        for (std::uint32_t link = 0; link < bytes.size(); ++link)
            if (bytes[link] > 0 && trace_.links[link].shared) order.push_back(link);
        const auto used = [&](std::uint32_t link) { return bytes[link] / trace_.links[link].bandwidth_Bps; };
        std::stable_sort(order.begin(), order.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return used(a) > used(b); });
        std::vector<std::uint32_t> first = order;
        if (first.size() > shown) first.resize(shown);

        std::vector<LinkParts> parts;
        for (const std::uint32_t link : first) {
            LinkParts part;
            part.link = trace_.links[link].name;
            part.bandwidth_Bps = trace_.links[link].bandwidth_Bps;
            part.bytes = static_cast<std::uint64_t>(std::llround(bytes[link]));
            // Messages that the window cuts were maybe slower inside it than outside.
            part.utilisation = window_s > 0 ? std::min(1.0, used(link) / window_s) : 0;
            part.profile.assign(profile_parts, 0);
            part.alike = static_cast<std::size_t>(std::ranges::count_if(order, [&](std::uint32_t other) {
                return std::abs(used(other) - used(link)) <= 0.01 * used(link) &&
                       pattern_of(trace_.links[other].name) == pattern_of(part.link);
            }));
            parts.push_back(std::move(part));
        }
        fill(parts, first);
        return parts;
    }

private:
    /// Calls each(message, part, route) for each message that flowed in the window, with that part of its transfer
    /// time.
    template <class Each>
    void each_message(Each each) const {
        for (const MessageRecord& message : trace_.messages) {
            const Interval whole{message.start_s(), message.through_s}, part = recorded_.clipped(whole);
            if (part.end_s <= part.start_s) continue;
            each(message, part, trace_.routes.at(message.route));
        }
    }

    void fill(std::vector<LinkParts>& parts, const std::vector<std::uint32_t>& order) const {
        std::map<std::uint32_t, std::size_t> place;
        for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
        std::vector<std::vector<Interval>> flowing(parts.size());
        using Thing = std::pair<Phase, std::uint32_t>;
        std::vector<std::map<Thing, std::pair<TaskId, double>>> by_what(parts.size());
        each_message([&](const MessageRecord& message, const Interval& part, const std::vector<std::uint32_t>& route) {
            for (std::size_t at = 0; at < route.size(); ++at) {
                const auto found = place.find(route[at]);
                if (found == place.end()) continue;
                const std::size_t i = found->second;
                const double carried = bytes_within(message, part) * trace_.part(message.route, at);
                flowing[i].push_back(part);
                const Task& task = recorded_.graph().tasks()[message.sender];
                auto& [sender, bytes] = by_what[i][{task.phase, task.subject}];
                sender = message.sender;
                bytes += carried;
                // Differences within rounding errors are ignored.
                const double flow_s = message.through_s - message.start_s(), lost_s = flow_s - alone_s(message, route);
                const bool ours = cluster_.network == NetworkModel::exact;
                if (ours && lost_s > std::max(1e-9 * flow_s, 1e-12)) parts[i].lost_s += lost_s;
                spread(parts[i], part, carried);
            }
        });
        for (std::size_t i = 0; i < parts.size(); ++i) {
            level(parts[i].profile);
            parts[i].busy_s = length_s(merged(std::move(flowing[i])));
            for (const auto& [thing, sum] : by_what[i])
                parts[i].shares.push_back({names_.task(recorded_.graph().tasks()[sum.first]),
                                           static_cast<std::uint64_t>(std::llround(sum.second))});
            std::stable_sort(parts[i].shares.begin(), parts[i].shares.end(),
                             [](const LinkShare& a, const LinkShare& b) { return a.bytes > b.bytes; });
        }
    }

    double alone_s(const MessageRecord& message, const std::vector<std::uint32_t>& route) const {
        const auto bytes = static_cast<double>(message.bytes);
        const std::vector<Process>& processes = recorded_.graph().processes();
        const bool inside = in_same_node(processes[recorded_.process_of(message.sender)].place,
                                         processes[recorded_.process_of(message.receiver)].place);
        double rate_Bps = (inside ? cluster_.transport.inside : cluster_.transport.between).limit_Bps(bytes);
        for (std::size_t i = 0; i < route.size(); ++i)
            rate_Bps = std::min(rate_Bps, trace_.links[route[i]].bandwidth_Bps / trace_.part(message.route, i));
        return bytes / rate_Bps;
    }

    void spread(LinkParts& link, const Interval& flow, double bytes) const {
        const Interval& window = recorded_.window();
        const double step_s = (window.end_s - window.start_s) / static_cast<double>(profile_parts);
        const double rate = bytes / (flow.end_s - flow.start_s) / link.bandwidth_Bps;
        const auto first = static_cast<std::size_t>(std::max(0.0, (flow.start_s - window.start_s) / step_s));
        for (std::size_t i = std::min(first, profile_parts - 1); i < profile_parts; ++i) {
            const double start_s = window.start_s + static_cast<double>(i) * step_s;
            if (start_s >= flow.end_s) break;
            const double both_s = std::min(flow.end_s, start_s + step_s) - std::max(flow.start_s, start_s);
            if (both_s > 0) link.profile[i] += rate * both_s / step_s;
        }
    }

    const Recorded& recorded_;
    const Trace& trace_;
    const TaskNames& names_;
    const Cluster& cluster_;
};

}  // namespace

std::vector<LinkParts> link_parts(const Recorded& recorded, const TaskNames& names, const Cluster& cluster) {
    if (recorded.trace().empty()) return from_counts(recorded, cluster);
    return Links(recorded, names, cluster).busiest();
}

}  // namespace syncline
