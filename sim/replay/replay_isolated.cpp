#include <cstring>
#include <string>

#include "sim/replay/folding.hpp"
#include "sim/replay/isolated.hpp"
#include "sim/replay/replay.hpp"

// Encodes a Timeline as bytes, for the transfer between two processes of the same program.

namespace syncline {

namespace {

template <class Value>
void append(std::string& out, const Value* values, std::size_t count) {
    out.append(reinterpret_cast<const char*>(values), count * sizeof(Value));
}

template <class Value>
void append(std::string& out, const std::vector<Value>& values) {
    const std::uint64_t size = values.size();
    append(out, &size, 1);
    append(out, values.data(), values.size());
}

template <class Value>
void take(const char*& in, Value* values, std::size_t count) {
    std::memcpy(values, in, count * sizeof(Value));
    in += count * sizeof(Value);
}

template <class Value>
void take(const char*& in, std::vector<Value>& values) {
    std::uint64_t size = 0;
    take(in, &size, 1);
    values.resize(size);
    if (size > 0) take(in, values.data(), values.size());
}

void append(std::string& out, const std::string& text) {
    append(out, std::vector<char>(text.begin(), text.end()));
}

void take(const char*& in, std::string& text) {
    std::vector<char> characters;
    take(in, characters);
    text.assign(characters.begin(), characters.end());
}

void append(std::string& out, const std::vector<LinkUse>& links) {
    const std::uint64_t count = links.size();
    append(out, &count, 1);
    for (const LinkUse& link : links) {
        append(out, link.name);
        append(out, &link.bandwidth_Bps, 1);
        append(out, &link.bytes, 1);
        append(out, &link.unused_ways, 1);
    }
}

void take(const char*& in, std::vector<LinkUse>& links) {
    std::uint64_t count = 0;
    take(in, &count, 1);
    links.resize(count);
    for (LinkUse& link : links) {
        take(in, link.name);
        take(in, &link.bandwidth_Bps, 1);
        take(in, &link.bytes, 1);
        take(in, &link.unused_ways, 1);
    }
}

void append(std::string& out, const Trace& trace) {
    const std::uint64_t streams = trace.acts.size(), links = trace.links.size(), routes = trace.routes.size();
    append(out, &streams, 1);
    for (const std::vector<Act>& acts : trace.acts) append(out, acts);
    append(out, trace.messages);
    append(out, &links, 1);
    for (const TracedLink& link : trace.links) {
        append(out, link.name);
        append(out, &link.bandwidth_Bps, 1);
        append(out, &link.shared, 1);
    }
    append(out, &routes, 1);
    for (const std::vector<std::uint32_t>& route : trace.routes) append(out, route);
}

void take(const char*& in, Trace& trace) {
    std::uint64_t streams = 0, links = 0, routes = 0;
    take(in, &streams, 1);
    trace.acts.resize(streams);
    for (std::vector<Act>& acts : trace.acts) take(in, acts);
    take(in, trace.messages);
    take(in, &links, 1);
    trace.links.resize(links);
    for (TracedLink& link : trace.links) {
        take(in, link.name);
        take(in, &link.bandwidth_Bps, 1);
        take(in, &link.shared, 1);
    }
    take(in, &routes, 1);
    trace.routes.resize(routes);
    for (std::vector<std::uint32_t>& route : trace.routes) take(in, route);
}

std::string encode(const Timeline& timeline) {
    std::string out;
    append(out, timeline.iteration_end_s);
    const std::uint64_t recorded = timeline.recorded.size();
    append(out, &recorded, 1);
    for (const std::vector<Interval>& intervals : timeline.recorded) append(out, intervals);
    append(out, &timeline.messages, 1);
    append(out, &timeline.bytes_sent, 1);
    append(out, &timeline.messages_folded, 1);
    append(out, &timeline.folding_error_s, 1);
    append(out, &timeline.iterations_folded, 1);
    append(out, timeline.sent_by);
    append(out, timeline.received_by);
    append(out, timeline.links);
    append(out, timeline.trace);
    return out;
}

Timeline decode(const char* in) {
    Timeline timeline;
    take(in, timeline.iteration_end_s);
    std::uint64_t recorded = 0;
    take(in, &recorded, 1);
    timeline.recorded.resize(recorded);
    for (std::vector<Interval>& intervals : timeline.recorded) take(in, intervals);
    take(in, &timeline.messages, 1);
    take(in, &timeline.bytes_sent, 1);
    take(in, &timeline.messages_folded, 1);
    take(in, &timeline.folding_error_s, 1);
    take(in, &timeline.iterations_folded, 1);
    take(in, timeline.sent_by);
    take(in, timeline.received_by);
    take(in, timeline.links);
    take(in, timeline.trace);
    return timeline;
}

}  // namespace

Timeline replay_isolated(const Cluster& cluster, const TaskGraph& graph, const ReplayOptions& options) {
    ReplayOptions now = options;
    const auto work = [&] {
        std::string out;
        try {
            const Timeline timeline = replay(cluster, graph, now);
            append(out, std::vector<std::uint32_t>{});
            return out + encode(timeline);
        } catch (const Disturbed& disturbed) {
            append(out, std::vector<std::uint32_t>{disturbed.channel});
            return out;
        }
    };
    for (;;) {  // each time with one folded channel less
        const std::string answer = isolate(work, !options.fold);
        const char* in = answer.data();
        std::vector<std::uint32_t> disturbed;
        take(in, disturbed);
        if (disturbed.empty()) return decode(in);
        now.unfolded.push_back(disturbed.front());
    }
}

}  // namespace syncline
