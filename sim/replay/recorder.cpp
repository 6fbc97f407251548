#include "sim/replay/recorder.hpp"

namespace syncline {

namespace {

/// Returns the message whose other side has already arrived, or a new one that waits for it.
MessageId matched(Recorder::Connection& connection, bool put, std::vector<MessageRecord>& messages) {
    if (connection.met < connection.waiting.size() && connection.put != put) {
        const MessageId id = connection.waiting[connection.met++];
        if (connection.met == connection.waiting.size()) {
            connection.waiting.clear();
            connection.met = 0;
        }
        return id;
    }
    connection.put = put;
    connection.waiting.push_back(static_cast<MessageId>(messages.size()));
    messages.emplace_back();
    return connection.waiting.back();
}

}  // namespace

Recorder::Connection& Recorder::connection(std::uint32_t channel, ProcessId from, ProcessId to) {
    const auto [found, added] = connections_.try_emplace({channel, from, to});
    if (added) {
        found->second.route = route(wires_.route_numbers(from, to, channel));
        trace_.parts.resize(trace_.routes.size());
        trace_.parts[found->second.route] = wires_.parts(from, to);
    }
    return found->second;
}

std::uint32_t Recorder::route(const std::vector<std::uint32_t>& links) {
    const auto [found, added] = routes_.try_emplace(links, static_cast<std::uint32_t>(trace_.routes.size()));
    if (added) trace_.routes.push_back(links);
    return found->second;
}

MessageId Recorder::put(Connection& connection, const Side& sender, std::uint64_t bytes, const Meeting& meeting) {
    const MessageId id = matched(connection, true, trace_.messages);
    MessageRecord& message = trace_.messages[id];
    message.sender = sender.task;
    message.sender_lane = sender.lane;
    message.iteration = sender.iteration;
    message.put_s = sender.now_s;
    message.route = connection.route;
    message.bytes = bytes;
    message.meeting = meeting;
    return id;
}

MessageId Recorder::got(Connection& connection, const Side& receiver) {
    const MessageId id = matched(connection, false, trace_.messages);
    MessageRecord& message = trace_.messages[id];
    message.receiver = receiver.task;
    message.receiver_lane = receiver.lane;
    message.iteration = receiver.iteration;
    message.got_s = receiver.now_s;
    return id;
}

void Recorder::through(MessageId id, double through_s, double latency_s) {
    trace_.messages[id].through_s = through_s;
    trace_.messages[id].latency_s = latency_s;
}

}  // namespace syncline
