#include "sim/replay/ring_layout.hpp"

#include <algorithm>

#include "sim/collective/runs.hpp"

namespace syncline {

namespace {

class Layout {
public:
    Layout(const Exchange& exchange, std::span<const ProcessId> group, const Wires& wires, const Symmetry* symmetry,
           const Lanes& lanes)
        : exchange_(exchange),
          group_(group),
          wires_(wires),
          symmetry_(symmetry),
          lanes_(lanes),
          alike_(wires.pairs_alike(group)) {}

    std::optional<RingLayout> run(bool may_pad) {
        if (exchange_.algorithm->period() != 1 || !add_programs() || !closed()) return std::nullopt;
        RingLayout layout;
        for (const Run& run : runs_.front()) layout.rings.push_back({run.taken});
        for (std::uint32_t place = 0; place < programs_.size(); ++place) layout.members += simulated(place) ? 1 : 0;
        if (std::ranges::all_of(programs_, [](const Program& of) { return of.partition.even(); })) return layout;
        layout.padded = true;
        return may_pad && group_.size() > exact_members && pad(layout) ? std::optional(layout) : std::nullopt;
    }

private:
    // The l-th lane of a member m of several has place m · lanes + l.
    std::uint32_t each() const { return exchange_.algorithm->lanes(); }
    ProcessId process(std::uint32_t place) const { return group_[place / each()]; }
    std::uint32_t beside(std::uint32_t place, std::uint32_t peer) const { return peer * each() + place % each(); }
    bool simulated(std::uint32_t place) const { return symmetry_ == nullptr || symmetry_->simulated(process(place)); }
    const Step& step(std::uint32_t place, std::size_t run) const {
        return programs_[place].steps[runs_[place][run].first];
    }

    /// Returns false if the programs are not made of the same runs, or of other steps, too.
    bool add_programs() {
        const auto members = static_cast<std::uint32_t>(group_.size());
        for (std::uint32_t place = 0; place < members * each(); ++place) {
            programs_.push_back(
                exchange_.algorithm->lane_program(place % each(), place / each(), members, exchange_.bytes, 0));
            runs_.push_back(runs_of(programs_.back()));
            const Partition& partition = programs_.back().partition;
            // If fewer ranks contribute than there are blocks, some blocks are empty.
            const bool filled = partition.filled == 0 || partition.filled == partition.blocks;
            // Steps that wait for another lane of the member do not follow from those of the ring alone.
            if (!filled || !std::ranges::equal(runs_.back(), runs_.front(), {}, &Run::taken, &Run::taken) ||
                !std::ranges::all_of(runs_.back(), &Run::repeats) ||
                std::ranges::any_of(programs_.back().steps,
                                    [](const Step& of) { return of.after_lane != Step::no_lane; }))
                return false;
        }
        return !runs_.front().empty();
    }

    /// Returns true if each member's messages in a run match those of its peers in theirs.
    bool closed() const {
        for (std::uint32_t place = 0; place < programs_.size(); ++place)
            for (std::size_t run = 0; run < runs_.front().size(); ++run)
                if (!matches(place, run, &Step::sends, &Step::receives) ||
                    !matches(place, run, &Step::receives, &Step::sends))
                    return false;
        return true;
    }

    bool matches(std::uint32_t place, std::size_t run, std::vector<Message> Step::*mine,
                 std::vector<Message> Step::*theirs) const {
        const auto times = [&](const std::vector<Message>& messages, std::uint32_t other, std::int32_t turn) {
            return std::ranges::count_if(messages, [&](const Message& message) {
                return message.peer == other / each() && message.turn == turn;
            });
        };
        const std::vector<Message>& messages = step(place, run).*mine;
        return std::ranges::all_of(messages, [&](const Message& message) {
            const std::uint32_t peer = beside(place, message.peer);
            return (message.turn == 0 || alike_) &&
                   times(messages, peer, message.turn) == times(step(peer, run).*theirs, place, -message.turn);
        });
    }

    /// Sets the time of a byte in each ring. Returns false if padding may add more than that.
    bool pad(RingLayout& layout) const {
        // Empty messages are neither copied nor reduced, so one byte would add more than its own time.
        const Transport& transport = wires_.transport();
        const bool empty =
            std::ranges::any_of(programs_, [](const Program& of) { return of.partition.bytes < of.partition.blocks; });
        if (transport.staging.unit == Staging::Unit::message || (empty && transport.reduction.launch_s > 0))
            return false;
        for (std::size_t run = 0; run < layout.rings.size(); ++run) {
            std::vector<std::uint32_t> links;
            double own_byte_s = 0;
            for (std::uint32_t place = 0; place < programs_.size(); ++place) {
                if (!simulated(place)) continue;
                const Step& of = step(place, run);
                own_byte_s = std::max(own_byte_s, own_byte_s_of(place, of));
                for (const Message& message : of.sends)
                    wires_.append_shared(process(place), group_[message.peer],
                                         lanes_.channel(exchange_, programs_[place]), links);
            }
            std::ranges::sort(links);
            if (std::ranges::adjacent_find(links) != links.end()) return false;
            double link_byte_s = 0;
            for (const std::uint32_t link : links) {
                if (wires_.stands_for_several(link)) return false;
                link_byte_s = std::max(link_byte_s, 1 / wires_.bandwidth_Bps(link));
            }
            // On the wires a byte may count more, and is rounded.
            const double factor = std::min(exchange_.protocol.inside_factor * wires_.transport().inside.payload,
                                           exchange_.protocol.between_factor * wires_.transport().between.payload);
            layout.rings[run].byte_s = link_byte_s * (factor == 1 ? 1 : 1 / factor + 1) + own_byte_s;
        }
        return true;
    }

    /// Returns the time of one more byte in a member's messages, apart from the links.
    double own_byte_s_of(std::uint32_t place, const Step& of) const {
        double byte_s = 0;
        for (const Message& message : of.sends) {
            const auto bytes = static_cast<double>(largest_bytes(programs_[place].partition, message));
            byte_s = std::max(byte_s, 1 / wires_.terms(process(place), group_[message.peer]).limit_Bps(bytes));
        }
        if (of.reduce)
            byte_s += static_cast<double>(of.receives.size()) * exchange_.gamma_s_per_B * exchange_.algorithm->slices();
        return byte_s;
    }

    const Exchange& exchange_;
    const std::span<const ProcessId> group_;
    const Wires& wires_;
    const Symmetry* symmetry_;
    const Lanes& lanes_;
    const bool alike_;                    // all pairs of members
    std::vector<Program> programs_;       // by place
    std::vector<std::vector<Run>> runs_;  // by place
};

}  // namespace

std::optional<RingLayout> ring_layout(const Exchange& exchange, std::span<const ProcessId> group, bool may_pad,
                                      const Wires& wires, const Symmetry* symmetry, const Lanes& lanes) {
    return Layout(exchange, group, wires, symmetry, lanes).run(may_pad);
}

}  // namespace syncline
