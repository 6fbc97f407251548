#include "sim/replay/event_simulator.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace syncline {

namespace {

constexpr double precision_s = 1e-12;

std::vector<double> bandwidths(const Wires& wires) {
    std::vector<double> result;
    for (std::size_t link = 0; link < wires.links(); ++link) result.push_back(wires.bandwidth_Bps(link));
    return result;
}

/// Returns the number of an element that is not in use, a new one if there is none.
template <class Element>
std::uint32_t unused(std::vector<Element>& elements, std::vector<std::uint32_t>& free) {
    if (free.empty()) {
        free.push_back(static_cast<std::uint32_t>(elements.size()));
        elements.emplace_back();
    }
    const std::uint32_t number = free.back();
    free.pop_back();
    return number;
}

}  // namespace

EventSimulator::EventSimulator(Wires& wires, std::size_t streams)
    : wires_(wires), flows_(bandwidths(wires)), streams_(streams) {
    if (wires.adapts()) in_flight_.resize(wires.links(), 0);
}

void EventSimulator::run(std::vector<Coroutine<>>& programs, const std::function<void()>& stuck) {
    programs_ = programs;
    running_ = programs.size();
    for (StreamId stream = 0; stream < programs.size(); ++stream) awake_.push_back(stream);
    if (programs.empty()) return;
    engine().run(*this, stuck);
}

double EventSimulator::next_s(double now_s) {
    return awake_.empty() ? std::min({flows_.next_end_s(now_s), sleeps_.next_s(), starts_.next_s()}) : now_s;
}

void EventSimulator::resume(StreamId stream) {
    const std::coroutine_handle<> caller = std::exchange(streams_[stream].caller, nullptr);
    if (caller)
        caller.resume();
    else
        programs_[stream].resume();  // its beginning
    if (!programs_[stream].done()) return;
    --running_;
    programs_[stream].result();  // throws what it has thrown
}

void EventSimulator::happen(double now_s) {
    now_s_ = now_s;
    flows_.end(now_s, precision_s, ended_);
    for (const Index message : ended_) end(message);
    ended_.clear();
    while (sleeps_.next_s() <= now_s + precision_s) wake(sleeps_.pop());
    while (starts_.next_s() <= now_s + precision_s) start(starts_.pop());
    while (!awake_.empty() || !weightless_.empty() || !up_to_date_.empty() || !last_acts_.empty()) {
        while (!awake_.empty() || !weightless_.empty() || !up_to_date_.empty()) {
            for (const StreamId stream : up_to_date_) streams_[stream].on_receipt();  // adds none
            up_to_date_.clear();
            std::swap(awake_, waking_);
            std::sort(waking_.begin(), waking_.end());  // in the order of memory
            for (const StreamId stream : waking_) resume(stream);
            waking_.clear();
            std::swap(weightless_, ended_);
            for (const Index message : ended_) end(message);
            ended_.clear();
        }
        const std::vector<std::function<void()>> acts = std::exchange(last_acts_, {});
        for (const std::function<void()>& act : acts) act();
    }
}

void EventSimulator::suspend(StreamId stream, Wait wait, std::coroutine_handle<> caller) {
    streams_[stream].caller = caller;
    streams_[stream].wait = wait;
}

void EventSimulator::wake(StreamId stream) {
    streams_[stream].wait = Wait::none;
    awake_.push_back(stream);
}

bool EventSimulator::begin_sleep(StreamId stream, double seconds, std::coroutine_handle<> caller) {
    if (seconds <= 0) return false;
    suspend(stream, Wait::time, caller);
    sleeps_.set(stream, now_s_ + seconds);
    return true;
}

bool EventSimulator::begin_park(StreamId stream, std::coroutine_handle<> caller) {
    suspend(stream, Wait::unpark, caller);
    return true;
}

bool EventSimulator::begin_park(StreamId stream, double seconds, std::coroutine_handle<> caller) {
    suspend(stream, Wait::unpark_or_time, caller);
    sleeps_.set(stream, now_s_ + seconds);
    return true;
}

bool EventSimulator::begin_yield(StreamId stream, std::coroutine_handle<> caller) {
    suspend(stream, Wait::none, caller);
    awake_.push_back(stream);
    return true;
}

void EventSimulator::unpark(StreamId stream) {
    const Wait wait = streams_[stream].wait;
    if (wait != Wait::unpark && wait != Wait::unpark_or_time) return;
    if (wait == Wait::unpark_or_time) sleeps_.cancel(stream);
    wake(stream);
}

bool EventSimulator::begin_wait(StreamId stream, std::uint32_t window, std::coroutine_handle<> caller) {
    StreamState& state = streams_[stream];
    if (window == 0 ? state.has_ended() : state.in_flight < window) return false;
    state.window = window;
    suspend(stream, window == 0 ? Wait::messages : Wait::window, caller);
    return true;
}

void EventSimulator::begin_step(StreamId stream, std::uint32_t receives) {
    constexpr std::size_t many = 64;
    StreamState& state = streams_[stream];
    state.sent_s.clear();
    state.paths.clear();
    state.first += state.receives;
    state.receives = receives;
    state.taken += receives;
    if (state.first < many && state.first < state.received_s.size()) return;
    state.received_s.erase(state.received_s.begin(),
                           state.received_s.begin() + static_cast<std::ptrdiff_t>(state.first));
    state.first = 0;
}

std::uint32_t EventSimulator::untaken(StreamId stream) const {
    const StreamState& state = streams_[stream];
    return state.received - std::min(state.received, state.taken);
}

EventSimulator::Index EventSimulator::match(Connection& connection, ConnectionId number, bool sends) {
    if (connection.first != nobody && connection.sends != sends) {
        const Index found = connection.first;
        connection.first = messages_[found].next;
        return found;
    }
    const Index added = unused(messages_, free_messages_);
    Message& message = messages_[added];
    message = {};
    message.connection = number;
    ++connection.users;
    if (connection.first == nobody)
        connection.first = added;
    else
        messages_[connection.last].next = added;
    connection.last = added;
    connection.sends = sends;
    return added;
}

void EventSimulator::receive(StreamId stream, ConnectionId connection) {
    StreamState& state = streams_[stream];
    Connection& used = connections_[connection];
    const bool present = used.first != nobody && used.sends;
    const Index number = match(used, connection, false);
    messages_[number].receiver = stream;
    messages_[number].received = state.posted++;
    state.received_s.push_back(std::numeric_limits<double>::infinity());
    if (!present) return;
    const Message& message = messages_[number];
    if (!message.started)
        meet(number);
    else if (message.ended_s >= 0)
        weightless_.push_back(number);  // its bytes are there
}

void EventSimulator::withdraw(StreamId stream, ConnectionId connection) {
    StreamState& state = streams_[stream];
    Connection& used = connections_[connection];
    Index before = nobody, last = used.first;
    while (last != nobody && last != used.last) last = messages_[before = last].next;
    if (last == nobody || used.sends || messages_[last].receiver != stream ||
        messages_[last].received + 1 != state.posted)
        throw std::logic_error("a receive is withdrawn whose message has started");
    if (before == nobody)
        used.first = nobody;
    else
        messages_[before].next = nobody;
    used.last = before;
    --state.posted;
    state.received_s.pop_back();
    let_go(last);
}

void EventSimulator::send(StreamId stream, ConnectionId connection, std::uint64_t bytes, double limit_Bps,
                          const Meeting& meeting) {
    StreamState& state = streams_[stream];
    Connection& used = connections_[connection];
    const bool present = used.first != nobody && !used.sends;
    const Index number = match(used, connection, true);
    Message& message = messages_[number];
    message.bytes = static_cast<double>(bytes);
    message.limit_Bps = limit_Bps;
    message.meeting = meeting;
    message.put_s = now_s_;
    message.sender = stream;
    message.sent = static_cast<std::uint32_t>(state.sent_s.size());
    state.sent_s.push_back(std::numeric_limits<double>::infinity());
    ++state.in_flight;
    if (present || !meeting.awaits_receiver) meet(number);
}

Pair EventSimulator::route_key(const Pair& pair) const {
    return {wires_.routes_by_channel() ? pair.channel : 0, pair.from, pair.to};
}

Flows::Bundle EventSimulator::add_bundle(std::span<const std::uint32_t> links, double limit_Bps) {
    links_.clear();
    for (const std::uint32_t link : links) {
        if (wires_.shared(link) && wires_.bandwidth_Bps(link) < unlimited_Bps)
            links_.push_back(link);
        else
            limit_Bps = std::min(limit_Bps, wires_.bandwidth_Bps(link));
    }
    return flows_.add_bundle(links_, limit_Bps);
}

Flows::Bundle EventSimulator::bundle(Connection& connection, double limit_Bps) {
    if (connection.limit_Bps == limit_Bps) return connection.bundle;
    Route& route = routes_[connection.route];
    if (route.bundles.empty()) {
        const Pair& pair = connection.pair;
        route.links = wires_.route_numbers(pair.from, pair.to, pair.channel);
    }
    auto found = std::find_if(route.bundles.begin(), route.bundles.end(),
                              [&](const auto& known) { return known.first == limit_Bps; });
    if (found == route.bundles.end())
        found = route.bundles.insert(found, {limit_Bps, add_bundle(route.links, limit_Bps)});
    connection.limit_Bps = limit_Bps;
    connection.bundle = found->second;
    return connection.bundle;
}

void EventSimulator::meet(Index number) {
    Message& message = messages_[number];
    message.started = true;
    const double start_s = message.meeting.start_s(message.put_s, now_s_);
    if (start_s > now_s_ + precision_s)
        starts_.set(number, start_s);
    else
        start(number);
}

void EventSimulator::start(Index number) {
    Message& message = messages_[number];
    if (wires_.adapts()) {
        const Pair& pair = connections_[message.connection].pair;
        std::vector<std::uint32_t> path = wires_.route_numbers(pair.from, pair.to, pair.channel, in_flight_);
        for (const std::uint32_t link : path) ++in_flight_[link];
        if (message.bytes > 0) message.bundle = add_bundle(path, message.limit_Bps);
        StreamState& sender = streams_[message.sender];
        sender.paths.resize(std::max<std::size_t>(sender.paths.size(), message.sent + 1));
        sender.paths[message.sent] = std::move(path);
    } else if (message.bytes > 0) {
        message.bundle = bundle(connections_[message.connection], message.limit_Bps);
    }
    if (message.bytes > 0)
        flows_.start(message.bundle, message.bytes, number, now_s_);
    else
        weightless_.push_back(number);
}

void EventSimulator::end(Index number) {
    Message& message = messages_[number];
    if (message.ended_s < 0) {
        message.ended_s = now_s_;
        if (wires_.adapts()) {
            for (const std::uint32_t link : streams_[message.sender].paths[message.sent]) --in_flight_[link];
            if (message.bytes > 0) flows_.remove_bundle(message.bundle);
        }
        StreamState& sender = streams_[message.sender];
        sender.sent_s[message.sent] = now_s_;
        --sender.in_flight;
        wake_if_ended(message.sender);
    }
    if (message.receiver == nobody) return;  // an eager message, for which its receiver is not ready
    StreamState& receiver = streams_[message.receiver];
    receiver.received_s[receiver.received_s.size() - (receiver.posted - message.received)] = message.ended_s;
    if (++receiver.received == receiver.posted && receiver.on_receipt) up_to_date_.push_back(message.receiver);
    wake_if_ended(message.receiver);
    let_go(number);
}

void EventSimulator::let_go(Index number) {
    free_messages_.push_back(number);
    release(messages_[number].connection);
}

void EventSimulator::wake_if_ended(StreamId stream) {
    const StreamState& state = streams_[stream];
    if ((state.wait == Wait::messages && state.has_ended()) ||
        (state.wait == Wait::window && state.in_flight < state.window))
        wake(stream);
}

ConnectionId EventSimulator::connect(const Pair& pair, bool) {
    ConnectionId& first = first_of_route_.try_emplace(route_key(pair), nobody).first->second;
    for (ConnectionId known = first; known != nobody; known = connections_[known].next) {
        if (connections_[known].pair.channel != pair.channel) continue;
        ++connections_[known].users;
        return known;
    }
    const Index route = first == nobody ? unused(routes_, free_routes_) : connections_[first].route;
    const ConnectionId added = unused(connections_, free_connections_);
    connections_[added] = {.pair = pair, .users = 1, .route = route, .next = first};
    return first = added;
}

void EventSimulator::release(ConnectionId number) {
    if (--connections_[number].users == 0) drop(number);
}

void EventSimulator::drop(ConnectionId number) {
    const Connection& connection = connections_[number];
    const auto first = first_of_route_.find(route_key(connection.pair));
    ConnectionId* before = &first->second;
    while (*before != number) before = &connections_[*before].next;
    *before = connection.next;
    free_connections_.push_back(number);
    if (first->second != nobody) return;
    first_of_route_.erase(first);
    Route& route = routes_[connection.route];
    for (const auto& [bound_Bps, bundle] : route.bundles) flows_.remove_bundle(bundle);
    route.bundles.clear();
    free_routes_.push_back(connection.route);
}

}  // namespace syncline
