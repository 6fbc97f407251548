#include "sim/jobs/neighbours.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/replay/wires.hpp"

namespace syncline {

namespace {

/// A message on a link.
struct Passage {
    double start_s = 0, end_s = 0;
    double Bps = 0;
    PartId part = 0;
};

/// What one part takes from another on a link.
struct Taken {
    double shared_s = 0, bytes = 0, all_bytes = 0;
};

/// Walks through the times at which messages come to a link and leave it.
class LinkWalk {
public:
    explicit LinkWalk(std::size_t parts) : rates_(parts), taken_(parts * parts) {}

    /// Returns what part J loses to part K as element J · parts + K.
    const std::vector<Taken>& along(const std::vector<Passage>& passages) {
        struct Event {
            double at_s;
            bool comes;
            std::size_t passage;
        };
        std::vector<Event> events;
        for (std::size_t i = 0; i < passages.size(); ++i) {
            events.push_back({passages[i].start_s, true, i});
            events.push_back({passages[i].end_s, false, i});
        }
        // Those that leave at an instant go before those that come.
        std::ranges::sort(events, {}, [](const Event& one) { return std::tuple(one.at_s, one.comes, one.passage); });
        std::ranges::fill(taken_, Taken{});
        std::vector<PartId> there;
        double last_s = 0;
        for (const Event& event : events) {
            if (event.at_s > last_s && there.size() > 1) pass(there, event.at_s - last_s);
            last_s = event.at_s;
            const Passage& passage = passages[event.passage];
            Rate& rate = rates_[passage.part];
            if (event.comes) {
                if (rate.messages++ == 0) there.push_back(passage.part);
                rate.Bps += passage.Bps;
            } else {
                rate.Bps -= passage.Bps;
                if (--rate.messages > 0) continue;
                rate.Bps = 0;  // without what rounding leaves
                std::erase(there, passage.part);
            }
        }
        return taken_;
    }

private:
    struct Rate {
        std::uint32_t messages = 0;
        double Bps = 0;
    };

    void pass(const std::vector<PartId>& there, double seconds) {
        double all_Bps = 0;
        for (const PartId part : there) all_Bps += rates_[part].Bps;
        for (const PartId loses : there)
            for (const PartId takes : there) {
                if (loses == takes) continue;
                Taken& taken = taken_[loses * rates_.size() + takes];
                taken.shared_s += seconds;
                taken.bytes += rates_[takes].Bps * seconds;
                taken.all_bytes += all_Bps * seconds;
            }
    }

    std::vector<Rate> rates_;
    std::vector<Taken> taken_;
};

std::vector<std::vector<Passage>> passages_by_link(const TaskGraph& graph, const Trace& trace) {
    std::vector<std::vector<Passage>> by_link(trace.links.size());
    for (const MessageRecord& message : trace.messages) {
        const double start_s = message.start_s(), end_s = message.through_s;
        if (message.bytes == 0 || !(end_s > start_s) || end_s == MessageRecord::never) continue;
        const PartId part = graph.processes()[graph.streams()[graph.tasks()[message.sender].stream].process].part;
        const std::vector<std::uint32_t>& route = trace.routes[message.route];
        for (std::size_t i = 0; i < route.size(); ++i) {
            const double bytes = static_cast<double>(message.bytes) * trace.part(message.route, i);
            by_link[route[i]].push_back({start_s, end_s, bytes / (end_s - start_s), part});
        }
    }
    return by_link;
}

}  // namespace

std::vector<std::vector<Neighbour>> neighbours_of(const TaskGraph& graph, const Timeline& timeline,
                                                  const std::vector<std::string>& names) {
    constexpr double negligible = 1e-9;
    const Trace& trace = timeline.trace;
    const std::vector<std::vector<Passage>> by_link = passages_by_link(graph, trace);
    double last_s = 0;
    for (const std::vector<double>& ends_s : timeline.part_end_s)
        for (const double end_s : ends_s) last_s = std::max(last_s, end_s);
    const std::size_t parts = graph.parts().size();
    std::vector<std::vector<Neighbour>> result(parts);
    LinkWalk walk(parts);
    for (std::size_t link = 0; link < by_link.size(); ++link) {
        const TracedLink& of = trace.links[link];
        if (by_link[link].empty() || !of.shared || of.bandwidth_Bps >= unlimited_Bps) continue;
        const std::vector<Taken>& taken = walk.along(by_link[link]);
        for (std::size_t loses = 0; loses < parts; ++loses)
            for (std::size_t takes = 0; takes < parts; ++takes) {
                const Taken& one = taken[loses * parts + takes];
                if (one.shared_s <= negligible * last_s) continue;
                result[loses].push_back({names[takes], of.name, one.shared_s, one.bytes, one.bytes / of.bandwidth_Bps,
                                         one.all_bytes / of.bandwidth_Bps / one.shared_s});
            }
    }
    for (std::vector<Neighbour>& neighbours : result)
        std::ranges::stable_sort(neighbours,
                                 [](const Neighbour& a, const Neighbour& b) { return a.taken_s > b.taken_s; });
    return result;
}

}  // namespace syncline
