#include "sim/collective/data_flow.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "sim/collective/every_rounds.hpp"
#include "sim/collective/in_network.hpp"
#include "sim/collective/parameter_server.hpp"

namespace syncline {

namespace {

/// Returns what is executed in the rounds in which something is.
const CollectiveAlgorithm& executed(const CollectiveAlgorithm& algorithm) {
    const auto* const rare = dynamic_cast<const EveryRounds*>(&algorithm);
    return rare == nullptr ? algorithm : executed(rare->of());
}

/// Sets of members, each of them stored once and numbered.
class MemberSets {
public:
    explicit MemberSets(std::uint32_t members) : words_((members + 63) / 64) {}

    std::uint32_t of(const std::vector<std::uint32_t>& members) {
        Bits bits(words_);
        for (const std::uint32_t member : members) bits[member / 64] |= std::uint64_t{1} << (member % 64);
        return number_of(std::move(bits));
    }

    std::uint32_t size(std::uint32_t set) const { return sizes_[set]; }

    std::uint32_t united(std::uint32_t a, std::uint32_t b) {
        if (a == b) return a;
        const auto [known, added] = unions_.try_emplace(std::uint64_t{std::min(a, b)} << 32 | std::max(a, b));
        if (!added) return known->second;
        Bits bits = *sets_[a];
        for (std::size_t i = 0; i < bits.size(); ++i) bits[i] |= (*sets_[b])[i];
        return known->second = number_of(std::move(bits));
    }

private:
    using Bits = std::vector<std::uint64_t>;

    std::uint32_t number_of(Bits bits) {
        const auto [found, added] = numbers_.try_emplace(std::move(bits), static_cast<std::uint32_t>(sets_.size()));
        if (added) {
            sets_.push_back(&found->first);
            std::uint32_t size = 0;
            for (const std::uint64_t word : found->first) size += static_cast<std::uint32_t>(std::popcount(word));
            sizes_.push_back(size);
        }
        return found->second;
    }

    std::size_t words_;
    std::map<Bits, std::uint32_t> numbers_;
    std::vector<const Bits*> sets_;
    std::vector<std::uint32_t> sizes_;
    std::unordered_map<std::uint64_t, std::uint32_t> unions_;  // of two numbers
};

/// Returns the members whose data each member has at first.
std::vector<std::vector<std::uint32_t>> data_at_first(const CollectiveAlgorithm& algorithm, std::uint32_t members) {
    std::vector<std::vector<std::uint32_t>> has(members);
    if (dynamic_cast<const Pull*>(&algorithm) != nullptr) {
        has[0].resize(members - 1);
        std::iota(has[0].begin(), has[0].end(), 1);
        return has;
    }
    const auto* const switched = dynamic_cast<const InNetwork*>(&algorithm);
    for (std::uint32_t member = 0; member < (switched == nullptr ? members : switched->tree().ranks()); ++member)
        has[member] = {member};
    return has;
}

/// The programs of all members as they run. Lanes are numbered member by member.
class FlowRun {
public:
    FlowRun(const CollectiveAlgorithm& algorithm, std::uint32_t members, std::uint64_t bytes, std::uint32_t round)
        : members_(members), lanes_(algorithm.lanes()), slices_(algorithm.slices()), sets_(members) {
        for (std::uint32_t member = 0; member < members; ++member)
            for (std::uint32_t lane = 0; lane < lanes_; ++lane)
                programs_.push_back(algorithm.lane_program(lane, member, members, bytes, round));
        for (const Program& program : programs_) messages_ += messages_sent(program);
    }

    std::uint64_t messages() const { return messages_; }

    /// Finds the numbers of blocks; returns false if the programs do not say which blocks they send.
    bool number_blocks() {
        std::vector<const Program*> of_slice(slices_, nullptr);
        for (const Program& program : programs_) {
            blocks_each_ = std::max(blocks_each_, program.partition.blocks);
            if (program.steps.empty()) continue;
            const Program*& first = of_slice[program.slice];
            if (first == nullptr) first = &program;
            // Lanes of one slice that have parts of it to themselves do not number its blocks.
            if (program.offset != first->offset || program.partition.blocks != first->partition.blocks) return false;
        }
        constexpr std::uint64_t most_held = 20'000'000;
        return std::uint64_t{members_} * slices_ * blocks_each_ <= most_held;
    }

    /// Gives each member the data that it begins with.
    void hold(const std::vector<std::vector<std::uint32_t>>& at_first) {
        for (const std::vector<std::uint32_t>& data : at_first)
            held_.insert(held_.end(), std::size_t{slices_} * blocks_each_, sets_.of(data));
    }

    DataFlow finish() {
        for (const Program& program : programs_) at_.push_back({Walk(program)});
        for (bool moved = true; moved;) {
            moved = false;
            for (std::uint32_t lane = 0; lane < at_.size(); ++lane)
                while (advance(lane)) moved = true;
        }
        DataFlow flow;
        flow.slices = slices_;
        for (const Position& position : at_) flow.steps = std::max(flow.steps, position.steps);
        std::stable_sort(flow_.begin(), flow_.end(), [](const FlowMessage& a, const FlowMessage& b) {
            return std::tie(a.from, a.lane, a.to) < std::tie(b.from, b.lane, b.to);
        });
        flow.messages = std::move(flow_);
        if (held_.empty()) return flow;
        flow.blocks = slices_ * blocks_each_;
        for (std::uint32_t member = 0; member < members_; ++member) {
            std::vector<std::uint32_t>& ends = flow.ends_with.emplace_back();
            for (std::uint32_t block = 0; block < flow.blocks; ++block)
                ends.push_back(sets_.size(held_[std::size_t{member} * flow.blocks + block]));
        }
        return flow;
    }

private:
    struct Position {
        Walk walk;
        std::uint32_t steps = 0;  // done, repetitions counted
        bool sent = false;        // the current step's messages
    };
    struct InFlight {
        std::size_t message = 0;           // in flow_
        std::vector<std::uint32_t> value;  // by block
    };

    std::uint32_t member_of(std::uint32_t lane) const { return lane / lanes_; }
    std::uint32_t& held(std::uint32_t lane, std::uint32_t block) {
        const std::size_t slice = std::size_t{member_of(lane)} * slices_ + programs_[lane].slice;
        return held_[slice * blocks_each_ + block];
    }

    /// Calls each(block) for the blocks of a message, in its order.
    template <class Each>
    void each_block(std::uint32_t lane, const Message& message, Each each) const {
        const std::uint32_t blocks = programs_[lane].partition.blocks, repetition = at_[lane].walk.repetition();
        const auto visit = [&](const Blocks& some) {
            for (std::uint32_t i = 0; i < some.count; ++i)
                each((moved(some.block, message.shift, repetition, blocks) + i) % blocks);
        };
        visit({message.block, message.count});
        for (const Blocks& some : message.more) visit(some);
    }

    /// Takes the lane's next step as far as possible; returns false if there is none, or it has to wait.
    bool advance(std::uint32_t lane) {
        Position& position = at_[lane];
        if (position.walk.done()) return false;
        const Step& step = position.walk.step();
        if (step.after_lane != Step::no_lane &&
            at_[member_of(lane) * lanes_ + step.after_lane].steps < step.after_steps)
            return false;
        if (!position.sent)
            for (const Message& message : step.sends) send(lane, message);
        const bool just_sent = !std::exchange(position.sent, true);
        const auto peer = [&](const Message& message) {
            return peer_of(message, position.walk.repetition(), members_);
        };
        std::map<std::uint32_t, std::size_t> expected;  // by peer
        for (const Message& message : step.receives)
            if (connection(lane, peer(message), false).size() < ++expected[peer(message)]) return just_sent;
        for (const Message& message : step.receives) {
            std::deque<InFlight>& coming = connection(lane, peer(message), false);
            receive(lane, message, coming.front(), step.reduce);
            coming.pop_front();
        }
        position.walk.next();
        ++position.steps;
        position.sent = false;
        return true;
    }

    std::deque<InFlight>& connection(std::uint32_t lane, std::uint32_t peer, bool outwards) {
        const std::uint32_t self = member_of(lane);
        return connections_[{programs_[lane].channel, outwards ? self : peer, outwards ? peer : self}];
    }

    void send(std::uint32_t lane, const Message& message) {
        const Position& position = at_[lane];
        const std::uint32_t repetition = position.walk.repetition();
        FlowMessage sent{member_of(lane), lane % lanes_, peer_of(message, repetition, members_), position.steps};
        InFlight in_flight{flow_.size(), {}};
        if (!held_.empty()) {
            const std::uint32_t blocks = programs_[lane].partition.blocks;
            const auto numbered = [&](const Blocks& some) {
                return Blocks{
                    programs_[lane].slice * blocks_each_ + moved(some.block, message.shift, repetition, blocks),
                    some.count};
            };
            sent.blocks = numbered({message.block, message.count});
            for (const Blocks& some : message.more) sent.more.push_back(numbered(some));
            each_block(lane, message, [&](std::uint32_t block) { in_flight.value.push_back(held(lane, block)); });
            std::uint32_t all = in_flight.value.empty() ? nothing() : in_flight.value.front();
            for (const std::uint32_t one : in_flight.value) all = sets_.united(all, one);
            sent.contributions = sets_.size(all);
        }
        flow_.push_back(std::move(sent));
        connection(lane, flow_.back().to, true).push_back(std::move(in_flight));
    }

    void receive(std::uint32_t lane, const Message& message, const InFlight& arrived, bool adds) {
        flow_[arrived.message].adds = adds;
        if (held_.empty()) return;
        std::size_t i = 0;
        each_block(lane, message, [&](std::uint32_t block) {
            std::uint32_t& own = held(lane, block);
            if (i == arrived.value.size()) return;
            own = adds ? sets_.united(own, arrived.value[i]) : arrived.value[i];
            ++i;
        });
    }

    std::uint32_t nothing() { return sets_.of({}); }

    const std::uint32_t members_, lanes_, slices_;
    std::uint32_t blocks_each_ = 1;  // of a slice
    std::uint64_t messages_ = 0;
    std::vector<Program> programs_;
    std::vector<Position> at_;
    MemberSets sets_;
    std::vector<std::uint32_t> held_;  // sets, by member and block; empty: not followed
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::deque<InFlight>> connections_;
    std::vector<FlowMessage> flow_;
};

}  // namespace

std::span<const FlowMessage> DataFlow::sent(std::uint32_t from, std::uint32_t lane, std::uint32_t to) const {
    struct Order {
        using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
        static Key key(const FlowMessage& message) { return {message.from, message.lane, message.to}; }
        bool operator()(const FlowMessage& a, const Key& b) const { return key(a) < b; }
        bool operator()(const Key& a, const FlowMessage& b) const { return a < key(b); }
    };
    const auto [first, last] = std::equal_range(messages.begin(), messages.end(), Order::Key{from, lane, to}, Order{});
    return {first, last};
}

DataFlow data_flow(const CollectiveAlgorithm& algorithm, std::uint32_t members, std::uint64_t bytes,
                   std::uint32_t round, std::uint64_t most_messages) {
    constexpr std::uint32_t most_members = 256;
    const CollectiveAlgorithm& of = executed(algorithm);
    FlowRun run(algorithm, members, bytes, round);
    if (run.messages() > most_messages) return {};
    const bool named = dynamic_cast<const WithoutBlocks*>(&of) == nullptr;
    if (named && members <= most_members && run.number_blocks()) run.hold(data_at_first(of, members));
    return run.finish();
}

}  // namespace syncline
