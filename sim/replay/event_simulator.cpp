#include <algorithm>
#include <bit>
#include <boost/container/small_vector.hpp>
#include <cmath>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/network/agenda.hpp"
#include "sim/network/flows.hpp"
#include "sim/replay/simulator.hpp"
#include "sim/replay/wires.hpp"

/// The exact network model: messages are flows (sim/network), and streams are coroutines that an event resumes.
///
/// At each instant at which a flow ends or a stream has slept enough, all streams run that can, until none can; then
/// links are shared anew. Events closer than a picosecond are one instant. SimGrid is not needed, and not loaded.
///
/// The bandwidth of links with faults changes at given times, after the ends of that instant and before its starts. Of
/// messages in flight that avoid a link which goes down the rest starts anew on another path.
///
/// Without contention every flow has the narrowest bandwidth of its route for itself.
namespace syncline {

namespace {

constexpr double precision_s = 1e-12;
constexpr double least_bytes = 1e-9;  // of a message in flight, whatever rounding has left of it

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

class EventSimulator : public Simulator {
public:
    EventSimulator(Wires& wires, std::size_t streams) : wires_(wires), flows_(bandwidths(wires)), streams_(streams) {
        if (wires.adapts()) in_flight_.resize(wires.links(), 0);
        for (const LinkRate& rate : wires.link_rates()) {
            for (const RateOverTime::Change& change : rate.rate.changes())
                changes_.push_back({change.from_s, rate.link, wires.bandwidth_Bps(rate.link) * change.rate,
                                    rate.rerouted.at(change.from_s) == 0});
        }
        std::ranges::sort(changes_, {}, [](const LinkChange& change) { return std::pair{change.time_s, change.link}; });
        down_.resize(changes_.empty() ? 0 : wires.links(), false);
    }

    void run(std::vector<Coroutine<>>& programs, const std::function<void()>& stuck) override {
        programs_ = programs;
        running_ = programs.size();
        for (StreamId stream = 0; stream < programs.size(); ++stream) awake_.push_back(stream);
        while (running_ > 0) {
            const double next_s = this->next_s();
            if (next_s == std::numeric_limits<double>::infinity()) return stuck();
            happen(next_s);
        }
    }

    double now_s() const override { return now_s_; }
    void at_end_of_instant(std::function<void()> act) override { last_acts_.push_back(std::move(act)); }
    ConnectionId connect(const Pair& pair, bool) override {
        ConnectionId& known = connection_of_.try_emplace(pair, nobody).first->second;
        if (known != nobody) {
            ++connections_[known].users;
            return known;
        }
        Index& route = route_of_.try_emplace(route_key(pair), nobody).first->second;
        if (route == nobody) route = unused(routes_, free_routes_);
        ++routes_[route].connections;
        known = unused(connections_, free_connections_);
        connections_[known] = {.pair = pair, .users = 1, .route = route};
        return known;
    }

    void release(ConnectionId number) override {
        if (--connections_[number].users == 0) drop(number);
    }

    void unpark(StreamId stream) override {
        const Wait wait = streams_[stream].wait;
        if (wait != Wait::unpark && wait != Wait::unpark_or_time) return;
        if (wait == Wait::unpark_or_time) sleeps_.cancel(stream);
        wake(stream);
    }

    void begin_step(StreamId stream, std::uint32_t receives) override {
        constexpr std::size_t many = 64;
        StreamState& state = streams_[stream];
        state.sent_s.clear();
        state.paths.clear();
        state.earlier.clear();
        state.first += state.receives;
        state.receives = receives;
        state.taken += receives;
        if (state.first < many && state.first < state.received_s.size()) return;
        state.received_s.erase(state.received_s.begin(),
                               state.received_s.begin() + static_cast<std::ptrdiff_t>(state.first));
        state.first = 0;
    }

    void receive(StreamId stream, ConnectionId connection) override {
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

    void withdraw(StreamId stream, ConnectionId connection) override {
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

    void on_receipt(StreamId stream, std::function<void()> act) override {
        streams_[stream].on_receipt = std::move(act);
    }
    std::uint32_t untaken(StreamId stream) const override {
        const StreamState& state = streams_[stream];
        return state.received - std::min(state.received, state.taken);
    }

    void send(StreamId stream, ConnectionId connection, std::uint64_t bytes, double limit_Bps,
              const Meeting& meeting) override {
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

    double sent_s(StreamId stream, std::size_t index) const override { return streams_[stream].sent_s[index]; }
    double received_s(StreamId stream, std::size_t index) const override {
        return streams_[stream].received_s[streams_[stream].first + index];
    }
    std::span<const std::uint32_t> path(StreamId stream, std::size_t index) const override {
        return streams_[stream].paths[index];
    }

    std::span<const Earlier> earlier(StreamId stream) const override { return streams_[stream].earlier; }
    std::vector<Held> held() const override {
        std::vector<Held> found;
        if (changes_.empty()) return found;
        for (const Message& message : messages_) {
            if (!message.flows) continue;
            const Connection& connection = connections_[message.connection];
            const std::vector<std::uint32_t>& links =
                wires_.adapts() ? streams_[message.sender].paths[message.sent] : routes_[connection.route].links;
            const auto link = std::ranges::find_if(links, [this](std::uint32_t number) { return down_[number]; });
            if (link != links.end()) found.push_back({connection.pair, *link});
        }
        return found;
    }

private:
    using Index = std::uint32_t;
    static constexpr Index nobody = ~Index{0};

    /// Most steps send and receive one message.
    using Times = boost::container::small_vector<double, 2>;

    enum class Wait : std::uint8_t { none, time, unpark, unpark_or_time, messages, window };

    struct StreamState {
        std::coroutine_handle<> caller;
        Wait wait = Wait::none;
        std::uint32_t in_flight = 0;  ///< messages that the step sends and that have not ended
        std::uint32_t window = 0;
        // Numbers of receives, counted by the stream: posted, ended, and taken by this step or an earlier one.
        std::uint32_t posted = 0, received = 0, taken = 0;
        std::uint32_t receives = 0;  ///< those that the step takes
        std::size_t first = 0;       ///< in received_s, the first of these
        Times sent_s;                ///< ends, by message that the step sends
        Times received_s;            ///< ends, of the last receives, up to the one that was posted last
        std::vector<std::vector<std::uint32_t>> paths;
        std::vector<Earlier> earlier;
        std::function<void()> on_receipt;

        bool has_ended() const { return in_flight == 0 && received >= taken; }
    };

    struct Message {
        double bytes = 0, limit_Bps = 0;
        ConnectionId connection = 0;
        StreamId sender = 0, receiver = nobody;  ///< an eager message may end before it has a receiver
        Meeting meeting;
        double put_s = 0;            ///< time at which its sender was ready
        double ended_s = -1;         ///< below 0: it has not
        double detour_s = 0;         ///< latency of its path in addition to the connection's
        bool started = false;        ///< or will, after a handshake
        bool flows = false;          ///< some of its bytes have not arrived
        std::uint32_t sent = 0;      ///< its index in the sender's step
        std::uint32_t received = 0;  ///< its number among the receiver's
        Flows::Bundle bundle = 0;
        Index next = nobody;  ///< in the connection's queue
    };

    struct Route {
        std::uint32_t connections = 0;                                                ///< of all channels
        std::vector<std::uint32_t> links;                                             ///< if there are bundles
        std::vector<double> parts;                                                    ///< of Wires::parts()
        boost::container::small_vector<std::pair<double, Flows::Bundle>, 1> bundles;  ///< by bound
    };

    struct Connection {
        Pair pair;
        std::uint32_t users = 0;  ///< sides that have it and messages in it
        Index route = 0;
        double limit_Bps = -1;     ///< of the last message that started; below 0: none has
        Flows::Bundle bundle = 0;  ///< its flow's
        /// Messages of which one side is present, in order.
        Index first = nobody, last = nobody;
        bool sends = false;  ///< the side that is present is the sender's
    };

    bool begin_sleep(StreamId stream, double seconds, std::coroutine_handle<> caller) override {
        if (seconds <= 0) return false;
        suspend(stream, Wait::time, caller);
        sleeps_.set(stream, now_s_ + seconds);
        return true;
    }

    bool begin_park(StreamId stream, std::coroutine_handle<> caller) override {
        suspend(stream, Wait::unpark, caller);
        return true;
    }

    bool begin_park(StreamId stream, double seconds, std::coroutine_handle<> caller) override {
        suspend(stream, Wait::unpark_or_time, caller);
        sleeps_.set(stream, now_s_ + seconds);
        return true;
    }

    bool begin_yield(StreamId stream, std::coroutine_handle<> caller) override {
        suspend(stream, Wait::none, caller);
        awake_.push_back(stream);
        return true;
    }

    bool begin_wait(StreamId stream, std::uint32_t window, std::coroutine_handle<> caller) override {
        StreamState& state = streams_[stream];
        if (window == 0 ? state.has_ended() : state.in_flight < window) return false;
        state.window = window;
        suspend(stream, window == 0 ? Wait::messages : Wait::window, caller);
        return true;
    }

    void suspend(StreamId stream, Wait wait, std::coroutine_handle<> caller) {
        streams_[stream].caller = caller;
        streams_[stream].wait = wait;
    }

    void wake(StreamId stream) {
        streams_[stream].wait = Wait::none;
        awake_.push_back(stream);
    }

    /// Returns the message whose other side is present, or a new one that waits for it.
    Index match(Connection& connection, ConnectionId number, bool sends) {
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

    /// Starts a message both of whose sides are present, now or after its handshake.
    void meet(Index number) {
        Message& message = messages_[number];
        message.started = true;
        const double start_s = message.meeting.start_s(message.put_s, now_s_);
        if (start_s > now_s_ + precision_s)
            starts_.set(number, start_s);
        else
            start(number);
    }

    void start(Index number) {
        Message& message = messages_[number];
        if (wires_.adapts()) {
            const Pair& pair = connections_[message.connection].pair;
            std::vector<std::uint32_t> path = wires_.route_numbers(pair.from, pair.to, pair.channel, in_flight_);
            for (const std::uint32_t link : path) ++in_flight_[link];
            message.detour_s = wires_.detour_s(pair.from, pair.to, pair.channel, path);
            if (message.bytes > 0) message.bundle = add_bundle(path, {}, message.limit_Bps);
            StreamState& sender = streams_[message.sender];
            sender.paths.resize(std::max<std::size_t>(sender.paths.size(), message.sent + 1));
            sender.paths[message.sent] = std::move(path);
        } else if (message.bytes > 0) {
            message.bundle = bundle(connections_[message.connection], message.limit_Bps);
        }
        message.flows = message.bytes > 0;
        if (message.flows)
            flows_.start(message.bundle, message.bytes, number, now_s_);
        else
            weightless_.push_back(number);
    }

    /// Changes the bandwidths of links whose time has come.
    void change_links() {
        const std::size_t first = changed_;
        for (; changed_ < changes_.size() && changes_[changed_].time_s <= now_s_ + precision_s; ++changed_) {
            const LinkChange& change = changes_[changed_];
            down_[change.link] = change.bandwidth_Bps == 0;
            flows_.set_bandwidth(change.link, change.bandwidth_Bps, now_s_);
            wires_.avoid(change.link, change.avoided);
        }
        // What comes back may be the way for messages that had none.
        if (changed_ > first && wires_.reroutes()) reroute();
    }

    /// Moves the rest of messages in flight over links that they avoid to other paths, as far as there are any.
    void reroute() {
        std::vector<std::pair<Index, double>> moved;  // and bytes that are left
        for (Index number = 0; number < messages_.size(); ++number) {
            Message& message = messages_[number];
            if (!message.flows) continue;
            StreamState& sender = streams_[message.sender];
            std::vector<std::uint32_t>& path = sender.paths[message.sent];
            if (std::ranges::none_of(path, [this](std::uint32_t link) { return wires_.avoids(link); })) continue;
            const Pair& pair = connections_[message.connection].pair;
            std::vector<std::uint32_t> other = wires_.route_numbers(pair.from, pair.to, pair.channel, in_flight_);
            if (other == path) continue;
            const double left = flows_.withdraw(message.bundle, number, now_s_);
            flows_.remove_bundle(message.bundle);
            auto carried = static_cast<std::uint64_t>(std::llround(message.bytes - left));
            for (const Earlier& part : sender.earlier)
                if (part.index == message.sent) carried -= part.bytes;
            for (const std::uint32_t link : path) --in_flight_[link];
            for (const std::uint32_t link : other) ++in_flight_[link];
            sender.earlier.push_back({message.sent, std::exchange(path, std::move(other)), carried});
            message.detour_s = wires_.detour_s(pair.from, pair.to, pair.channel, path);
            moved.emplace_back(number, left);
        }
        for (const auto& [number, left] : moved) {
            Message& message = messages_[number];
            message.bundle = add_bundle(streams_[message.sender].paths[message.sent], {}, message.limit_Bps);
            flows_.start(message.bundle, std::max(left, least_bytes), number, now_s_);
        }
    }

    void end(Index number) {
        Message& message = messages_[number];
        if (message.ended_s < 0) {
            message.ended_s = now_s_;
            message.flows = false;
            if (wires_.adapts()) {
                for (const std::uint32_t link : streams_[message.sender].paths[message.sent]) --in_flight_[link];
                if (message.bytes > 0) flows_.remove_bundle(message.bundle);
            }
            StreamState& sender = streams_[message.sender];
            sender.sent_s[message.sent] = now_s_ + (wires_.latency_travels() ? 0 : message.detour_s);
            --sender.in_flight;
            wake_if_ended(message.sender);
        }
        if (message.receiver == nobody) return;  // an eager message, for which its receiver is not ready
        StreamState& receiver = streams_[message.receiver];
        receiver.received_s[receiver.received_s.size() - (receiver.posted - message.received)] =
            message.ended_s + message.detour_s;
        if (++receiver.received == receiver.posted && receiver.on_receipt) up_to_date_.push_back(message.receiver);
        wake_if_ended(message.receiver);
        let_go(number);
    }

    void let_go(Index number) {
        free_messages_.push_back(number);
        release(messages_[number].connection);
    }

    void wake_if_ended(StreamId stream) {
        const StreamState& state = streams_[stream];
        if ((state.wait == Wait::messages && state.has_ended()) ||
            (state.wait == Wait::window && state.in_flight < state.window))
            wake(stream);
    }

    Pair route_key(const Pair& pair) const {
        return {wires_.routes_by_channel() ? pair.channel : 0, pair.from, pair.to};
    }

    Flows::Bundle bundle(Connection& connection, double limit_Bps) {
        if (connection.limit_Bps == limit_Bps) return connection.bundle;
        Route& route = routes_[connection.route];
        if (route.bundles.empty()) {
            const Pair& pair = connection.pair;
            route.links = wires_.route_numbers(pair.from, pair.to, pair.channel);
            route.parts = wires_.parts(pair.from, pair.to);
        }
        auto found = std::find_if(route.bundles.begin(), route.bundles.end(),
                                  [&](const auto& known) { return known.first == limit_Bps; });
        if (found == route.bundles.end())
            found = route.bundles.insert(found, {limit_Bps, add_bundle(route.links, route.parts, limit_Bps)});
        connection.limit_Bps = limit_Bps;
        connection.bundle = found->second;
        return connection.bundle;
    }

    Flows::Bundle add_bundle(std::span<const std::uint32_t> links, std::span<const double> parts, double limit_Bps) {
        links_.clear();
        parts_.clear();
        for (std::size_t i = 0; i < links.size(); ++i) {
            const double bandwidth_Bps = wires_.bandwidth_Bps(links[i]), part = parts.empty() ? 1 : parts[i];
            const bool limits = bandwidth_Bps < unlimited_Bps || changes(links[i]);
            if (wires_.shared(links[i]) && limits) {
                // Of several images of one link (symmetry.hpp) the route has one, with as many times the bytes.
                const auto known = std::ranges::find(links_, links[i]);
                const bool weighted = !parts.empty() || !parts_.empty() || known != links_.end();
                if (weighted) parts_.resize(links_.size(), 1);
                if (known == links_.end()) {
                    links_.push_back(links[i]);
                    if (weighted) parts_.push_back(part);
                } else {
                    parts_[static_cast<std::size_t>(known - links_.begin())] += part;
                }
            } else {
                limit_Bps = std::min(limit_Bps, bandwidth_Bps / part);
            }
        }
        return flows_.add_bundle(links_, limit_Bps, parts_);
    }

    /// Returns true if the link has a fault at some time.
    bool changes(std::uint32_t link) const {
        return !changes_.empty() && std::ranges::binary_search(wires_.link_rates(), link, {}, &LinkRate::link);
    }

    /// Lets go of a connection that nobody uses.
    void drop(ConnectionId number) {
        const Connection& connection = connections_[number];
        connection_of_.erase(connection.pair);
        free_connections_.push_back(number);
        if (--routes_[connection.route].connections > 0) return;
        route_of_.erase(route_key(connection.pair));
        Route& route = routes_[connection.route];
        for (const auto& [bound_Bps, bundle] : route.bundles) flows_.remove_bundle(bundle);
        route.bundles.clear();
        free_routes_.push_back(connection.route);
    }

    double next_s() {
        if (!awake_.empty()) return now_s_;
        const double next_s = std::min({flows_.next_end_s(now_s_), sleeps_.next_s(), starts_.next_s()});
        return changed_ < changes_.size() ? std::min(next_s, changes_[changed_].time_s) : next_s;
    }

    /// Runs everything that happens at this instant.
    void happen(double now_s) {
        now_s_ = now_s;
        flows_.end(now_s, precision_s, ended_);
        for (const Index message : ended_) end(message);
        ended_.clear();
        if (changed_ < changes_.size()) change_links();
        while (sleeps_.next_s() <= now_s + precision_s) wake(sleeps_.pop());
        while (starts_.next_s() <= now_s + precision_s) start(starts_.pop());
        while (!awake_.empty() || !weightless_.empty() || !up_to_date_.empty() || !last_acts_.empty()) {
            while (!awake_.empty() || !weightless_.empty() || !up_to_date_.empty()) {
                for (const StreamId stream : up_to_date_) streams_[stream].on_receipt();  // adds none
                up_to_date_.clear();
                std::swap(awake_, waking_);
                sort(waking_);  // in the order of memory
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

    /// Sorts different streams; many of them in linear time.
    void sort(std::vector<StreamId>& streams) {
        constexpr std::size_t bits = 64;
        if (streams.size() < streams_.size() / bits) return std::sort(streams.begin(), streams.end());
        marks_.assign(streams_.size() / bits + 1, 0);
        for (const StreamId stream : streams) marks_[stream / bits] |= std::uint64_t{1} << stream % bits;
        streams.clear();
        for (std::size_t word = 0; word < marks_.size(); ++word)
            for (std::uint64_t left = marks_[word]; left != 0; left &= left - 1)
                streams.push_back(static_cast<StreamId>(word * bits) + static_cast<StreamId>(std::countr_zero(left)));
    }

    void resume(StreamId stream) {
        const std::coroutine_handle<> caller = std::exchange(streams_[stream].caller, nullptr);
        if (caller)
            caller.resume();
        else
            programs_[stream].resume();  // its beginning
        if (!programs_[stream].done()) return;
        --running_;
        programs_[stream].result();  // throws what it has thrown
    }

    /// A new bandwidth of a link.
    struct LinkChange {
        double time_s = 0;
        std::uint32_t link = 0;
        double bandwidth_Bps = 0;
        bool avoided = false;  ///< it is down, and messages take other ways
    };

    Wires& wires_;
    Flows flows_;
    std::vector<LinkChange> changes_;  // in the order of time
    std::size_t changed_ = 0;          // number of those that have happened
    std::vector<bool> down_;           // by link; empty without changes
    Agenda sleeps_;                    // by stream
    Agenda starts_;                    // by message, of those that wait for a handshake
    double now_s_ = 0;
    std::vector<StreamState> streams_;
    std::span<const Coroutine<>> programs_;  // by stream
    std::size_t running_ = 0;                // programs that have not ended
    std::vector<StreamId> awake_, waking_;
    std::vector<Index> weightless_;     // messages without bytes that have started, or whose receivers came after them
    std::vector<StreamId> up_to_date_;  // streams that have received everything that they expect
    std::vector<std::function<void()>> last_acts_;
    std::vector<Message> messages_;
    std::vector<Index> free_messages_;
    std::vector<Connection> connections_;
    std::vector<ConnectionId> free_connections_;
    std::vector<Route> routes_;
    std::vector<Index> free_routes_;
    std::unordered_map<Pair, ConnectionId, Pair::Hash> connection_of_;
    std::unordered_map<Pair, Index, Pair::Hash> route_of_;  ///< by route_key()
    std::vector<std::uint32_t> in_flight_;                  // messages by link, if they choose their path
    std::vector<Index> ended_;
    std::vector<std::uint64_t> marks_;  // scratch: bits by stream
    std::vector<std::uint32_t> links_;  // scratch
    std::vector<double> parts_;         // scratch
};

}  // namespace

Simulator* event_simulator(Wires& wires, std::size_t streams) {
    return new EventSimulator(wires, streams);
}

}  // namespace syncline
