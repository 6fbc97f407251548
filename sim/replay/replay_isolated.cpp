#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "sim/process/isolated.hpp"
#include "sim/replay/engine.hpp"
#include "sim/replay/replay.hpp"

// Encodes a Timeline as bytes, for the transfer between two processes of the same program.

namespace syncline {

namespace {

// The members of each type that is not plain bytes: the one list for writing and reading.

template <class Archive, class Link>
requires std::is_same_v<std::remove_const_t<Link>, LinkUse>
void members(Archive& archive, Link& link) {
    archive(link.name, link.bandwidth_Bps, link.bytes, link.unused_ways, link.kind);
}

template <class Archive, class Link>
requires std::is_same_v<std::remove_const_t<Link>, TracedLink>
void members(Archive& archive, Link& link) {
    archive(link.name, link.bandwidth_Bps, link.shared);
}

template <class Archive, class AnyTrace>
requires std::is_same_v<std::remove_const_t<AnyTrace>, Trace>
void members(Archive& archive, AnyTrace& trace) {
    archive(trace.latency_travels, trace.acts, trace.stream_of_lane, trace.messages, trace.links, trace.routes,
            trace.parts);
}

template <class Archive, class AnyTimeline>
requires std::is_same_v<std::remove_const_t<AnyTimeline>, Timeline>
void members(Archive& archive, AnyTimeline& timeline) {
    archive(timeline.iteration_end_s, timeline.recorded, timeline.part_end_s, timeline.computed_s, timeline.exposed_s,
            timeline.on_host_s, timeline.messages, timeline.bytes_sent, timeline.messages_folded,
            timeline.folding_error_s, timeline.iterations_folded, timeline.images, timeline.uneven_s, timeline.sent_by,
            timeline.received_by, timeline.links, timeline.trace);
}

template <class Value>
concept Plain = std::is_trivially_copyable_v<Value>;

class Writer {
public:
    template <class... Values>
    void operator()(const Values&... values) {
        (put(values), ...);
    }
    /// Moves out everything written so far.
    std::string take() { return std::move(out_); }

private:
    template <Plain Value>
    void put(const Value& value) {
        out_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    template <class Value>
    void put(const Value& value) {
        members(*this, value);
    }
    void put(const std::string& text) {
        put(text.size());
        out_ += text;
    }
    template <class Value>
    void put(const std::vector<Value>& values) {
        put(values.size());
        if constexpr (Plain<Value>)
            out_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value));
        else
            for (const Value& value : values) put(value);
    }

    std::string out_;
};

class Reader {
public:
    explicit Reader(const std::string& bytes) : in_(bytes.data()) {}
    template <class... Values>
    void operator()(Values&... values) {
        (take(values), ...);
    }

private:
    template <Plain Value>
    void take(Value& value) {
        copy(&value, sizeof value);
    }
    template <class Value>
    void take(Value& value) {
        members(*this, value);
    }
    void take(std::string& text) {
        text.resize(size());
        copy(text.data(), text.size());
    }
    template <class Value>
    void take(std::vector<Value>& values) {
        values.resize(size());
        if constexpr (Plain<Value>)
            copy(values.data(), values.size() * sizeof(Value));
        else
            for (Value& value : values) take(value);
    }
    std::size_t size() {
        std::size_t size = 0;
        take(size);
        return size;
    }
    void copy(void* to, std::size_t bytes) {
        if (bytes > 0) std::memcpy(to, in_, bytes);
        in_ += bytes;
    }

    const char* in_;
};

}  // namespace

Timeline replay_isolated(const Cluster& cluster, const TaskGraph& graph, const ReplayOptions& options) {
    if (needs_simgrid(cluster, options)) engine();  // loaded here, for all processes that are started from this one
    const auto work = [&] {
        Writer out;
        out(replay(cluster, graph, options));
        return out.take();
    };
    // Folding of microbatches replays more than once.
    const std::string answer = isolate(work, !options.fold);
    Reader in(answer);
    Timeline timeline;
    in(timeline);
    return timeline;
}

}  // namespace syncline
