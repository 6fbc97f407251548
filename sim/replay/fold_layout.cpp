#include "sim/replay/fold_layout.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "sim/collective/runs.hpp"

namespace syncline {

namespace {

constexpr std::uint32_t none = ~std::uint32_t{0};

/// The lanes of an exchange's members, each of which is a place (FoldLayout::sections).
struct Places {
    std::span<const ProcessId> group;
    const Exchange& exchange;
    const Lanes& lanes;
    std::uint32_t each = exchange.algorithm->lanes();

    std::uint32_t count() const { return static_cast<std::uint32_t>(group.size()) * each; }
    std::uint32_t lane(std::uint32_t place) const { return place % each; }
    std::uint32_t member(std::uint32_t place) const { return place / each; }
    ProcessId process(std::uint32_t place) const { return group[member(place)]; }
    /// Returns the place of the same lane of another member.
    std::uint32_t beside(std::uint32_t place, std::uint32_t peer) const { return peer * each + lane(place); }
    std::uint32_t channel(const Program& program) const { return lanes.channel(exchange, program); }
};

/// A repeating run of a lane of a member.
struct Repeating {
    std::uint32_t section = 0;
    std::uint32_t taken = 0;
    bool keeps_largest = false;
    std::int32_t turn = 0;    ///< of the peers it sends to; the opposite for the peers it receives from
    std::uint64_t bytes = 0;  ///< of its largest message
    double byte_s = 0;        ///< time of one more byte, apart from the links
    std::vector<std::uint32_t> sends, receives;
};

/// The parts of one program that matter here.
struct Outline {
    std::uint32_t channel = 0;
    std::vector<Repeating> runs;
    bool nothing_else = true;
};

/// Disjoint sets of connected members.
class Sets {
public:
    explicit Sets(std::size_t members) : parent_(members) { std::iota(parent_.begin(), parent_.end(), 0u); }
    std::uint32_t of(std::uint32_t member) {
        while (parent_[member] != member) member = parent_[member] = parent_[parent_[member]];
        return member;
    }
    void join(std::uint32_t a, std::uint32_t b) { parent_[of(b)] = of(a); }

private:
    std::vector<std::uint32_t> parent_;
};

const Repeating* run_of(const std::vector<Outline>& all, std::uint32_t member, std::size_t number) {
    return number < all[member].runs.size() ? &all[member].runs[number] : nullptr;
}

/// Returns true if each member's sends in its run match its peers' receives in theirs. If peers turn, steps are equal
/// only if all pairs of members are `alike`.
bool closed(const std::vector<Outline>& all, std::size_t number, bool alike) {
    const auto times = [](const std::vector<std::uint32_t>& peers, std::uint32_t peer) {
        return std::count(peers.begin(), peers.end(), peer);
    };
    for (std::uint32_t member = 0; member < all.size(); ++member) {
        const Repeating* run = run_of(all, member, number);
        if (run == nullptr) continue;
        if (run->turn != 0 && !alike) return false;
        const auto matches = [&](std::uint32_t peer, const auto& mine, auto theirs) {
            const Repeating* other = run_of(all, peer, number);
            return other != nullptr && other->taken == run->taken && other->turn == run->turn &&
                   times(other->*theirs, member) == times(mine, peer);
        };
        for (const std::uint32_t peer : run->sends)
            if (!matches(peer, run->sends, &Repeating::receives)) return false;
        for (const std::uint32_t peer : run->receives)
            if (!matches(peer, run->receives, &Repeating::sends)) return false;
    }
    return true;
}

RingSection section_of(const Program& program, const Run& run, const Places& places, std::uint32_t place, bool alike,
                       Wires& wires) {
    const ProcessId process = places.process(place);
    RingSection section;
    section.taken = run.taken;
    for (std::uint32_t i = run.first; i < run.end; ++i) {
        for (const Message& message : program.steps[i].sends) {
            // If pairs are alike, what this member uses in other repetitions is used by other members in this one.
            section.uses_all = section.uses_all || (message.turn != 0 && !alike);
            wires.append_shared(process, places.group[message.peer], places.channel(program), section.uses);
        }
        if (run.repeats) break;
    }
    for (std::uint32_t i = run.first; i < run.end; ++i)
        if (!program.steps[i].receives.empty() && wires.copies_messages(process))
            section.uses.push_back(wires.copy_engines(process));
    std::sort(section.uses.begin(), section.uses.end());
    section.uses.erase(std::unique(section.uses.begin(), section.uses.end()), section.uses.end());
    if (section.uses_all) section.uses.clear();
    return section;
}

Outline outline_of(const Program& program, const std::vector<Run>& runs, const Places& places, std::uint32_t place,
                   const Wires& wires) {
    const Exchange& exchange = places.exchange;
    Outline outline;
    outline.channel = places.channel(program);
    for (std::uint32_t i = 0; i < runs.size(); ++i) {
        if (!runs[i].repeats) {
            outline.nothing_else = false;
            continue;
        }
        const Step& step = program.steps[runs[i].first];
        Repeating run{i,
                      runs[i].taken,
                      keeps_largest(program, runs[i], static_cast<std::uint32_t>(places.group.size())),
                      0,
                      0,
                      0,
                      {},
                      {}};
        for (const Message& message : step.sends) {
            const std::uint64_t bytes = largest_bytes(program.partition, message);
            const MessageTerms& terms = wires.terms(places.process(place), places.group[message.peer]);
            run.bytes = std::max(run.bytes, bytes);
            run.byte_s = std::max(run.byte_s, 1 / terms.limit_Bps(static_cast<double>(bytes)));
            run.sends.push_back(places.beside(place, message.peer));
            run.turn = message.turn;
        }
        if (step.reduce)
            run.byte_s +=
                static_cast<double>(step.receives.size()) * exchange.gamma_s_per_B * exchange.algorithm->parts();
        for (const Message& message : step.receives) run.receives.push_back(places.beside(place, message.peer));
        outline.runs.push_back(std::move(run));
    }
    return outline;
}

/// Returns true if all members' programs consist of the same runs, and of nothing else.
bool in_step(const std::vector<Outline>& all) {
    return std::all_of(all.begin(), all.end(), [&](const Outline& outline) {
        return outline.nothing_else &&
               std::equal(outline.runs.begin(), outline.runs.end(), all.front().runs.begin(), all.front().runs.end(),
                          [](const Repeating& a, const Repeating& b) { return a.taken == b.taken; });
    });
}

/// Rate and latency of a message of a ring.
struct Terms {
    double rate_Bps = 0;  ///< minimum
    double latency_s = 0;
    std::uint64_t bytes = 0;
    bool inside_node = false;
    bool operator==(const Terms&) const = default;
};

/// A run of a member.
struct Part {
    std::uint32_t member = 0, run = 0;
};

/// Returns true if at its end every member has waited for every other.
bool passes_on(const FoldedRing& ring) {
    return ring.joined && ring.steps + 1 >= ring.members;
}

/// Fills in the values that depend on the number of a step's messages on each link. `loads`: for all links, 0 before
/// and after.
void weigh(FoldedRing& ring, const std::vector<Part>& parts, const FoldLayout& layout, const Places& places,
           const std::vector<Outline>& outlines, Wires& wires, std::vector<std::uint32_t>& loads) {
    const Exchange& exchange = places.exchange;
    const auto run_in = [&](const Part& part) -> const Repeating& { return outlines[part.member].runs[part.run]; };
    const auto each_link = [&](auto&& act) {
        for (const Part& part : parts)
            for (const std::uint32_t link : layout.sections[part.member][run_in(part).section].uses) act(link);
    };
    each_link([&](std::uint32_t link) { ++loads[link]; });
    double link_byte_s = 0, own_byte_s = 0;
    each_link([&](std::uint32_t link) {
        ring.lone = ring.lone && loads[link] == 1 && !wires.stands_for_several(link);
        link_byte_s = std::max(link_byte_s, loads[link] / wires.bandwidth_Bps(link));
    });
    std::optional<Terms> first;
    for (const Part& part : parts) {
        const Repeating& run = run_in(part);
        own_byte_s = std::max(own_byte_s, run.byte_s);
        const ProcessId from = places.process(part.member);
        for (const std::uint32_t peer : run.sends) {
            const ProcessId to = places.process(peer);
            const Protocol& protocol = exchange.protocol;
            const bool inside = wires.inside_node(from, to);
            Terms terms{wires.terms(from, to).limit_Bps(static_cast<double>(run.bytes)),
                        wires.latency_s(from, to) + (inside ? protocol.inside_latency_s : protocol.between_latency_s),
                        run.bytes, inside};
            for (const std::uint32_t link : wires.route_numbers(from, to, outlines[part.member].channel))
                terms.rate_Bps = std::min(terms.rate_Bps, wires.bandwidth_Bps(link) / std::max(loads[link], 1u));
            if (!first) first = terms;
            ring.uniform = ring.uniform && terms == *first;
            ring.overtakes = ring.overtakes || (wires.latency_travels() && terms.latency_s > 0);
        }
    }
    // On the wires a byte may count more, and is rounded.
    const double factor = exchange.protocol.bandwidth_factor;
    ring.byte_s = link_byte_s * (factor == 1 ? 1 : 1 / factor + 1) + own_byte_s;
    each_link([&](std::uint32_t link) { loads[link] = 0; });
}

}  // namespace

FoldLayout fold_layout(const Exchange& exchange, std::span<const ProcessId> group, std::uint32_t iteration,
                       Surroundings around, Wires& wires, const Symmetry* symmetry, const Lanes& lanes) {
    const Places places{group, exchange, lanes};
    const std::uint32_t members = places.count();
    FoldLayout layout;
    std::vector<Outline> outlines;
    bool filled = true, even = true, empty = false, waits = false;
    const bool alike = wires.pairs_alike(group);
    const auto simulated = [&](std::uint32_t place) {
        return symmetry == nullptr || symmetry->simulated(places.process(place));
    };
    for (std::uint32_t member = 0; member < members; ++member) {
        const Program program =
            exchange.algorithm->lane_program(places.lane(member), places.member(member),
                                             static_cast<std::uint32_t>(group.size()), exchange.bytes, iteration);
        const std::vector<Run> runs = runs_of(program);
        outlines.push_back(outline_of(program, runs, places, member, wires));
        std::vector<RingSection>& sections = layout.sections.emplace_back();
        if (simulated(member))
            for (const Run& run : runs) sections.push_back(section_of(program, run, places, member, alike, wires));
        // If fewer ranks contribute than there are blocks, some blocks are empty.
        filled = filled && (program.partition.filled == 0 || program.partition.filled == program.partition.blocks);
        even = even && program.partition.even();
        // Steps that wait for another lane of the member do not follow from those of the ring alone.
        waits = waits || std::any_of(program.steps.begin(), program.steps.end(),
                                     [](const Step& step) { return step.after_lane != Step::no_lane; });
        empty = empty || program.partition.bytes < program.partition.blocks;
    }
    if (waits || !filled || (!even && group.size() <= exact_members)) return layout;

    const bool together = in_step(outlines);
    // The rings of one lane share links with those of others, unless all are one.
    around.sole = around.sole && (places.each == 1 || together);
    std::size_t most_runs = 0;
    for (const Outline& outline : outlines) most_runs = std::max(most_runs, outline.runs.size());
    std::vector<std::uint32_t> represented;  // by place, with a symmetry: the place that is simulated for it
    if (symmetry != nullptr) {
        std::unordered_map<ProcessId, std::uint32_t> member_of;
        for (std::uint32_t member = 0; member < group.size(); ++member) member_of[group[member]] = member;
        for (std::uint32_t place = 0; place < members; ++place)
            represented.push_back(places.beside(place, member_of.at(symmetry->representative(places.process(place)))));
    }
    std::vector<std::vector<Part>> parts;  // by ring
    std::vector<std::uint32_t> first;      // by ring: a member
    for (std::uint32_t number = 0; number < most_runs; ++number) {
        if (!closed(outlines, number, alike)) continue;
        Sets sets(members);
        for (std::uint32_t member = 0; member < members; ++member)
            if (const Repeating* run = run_of(outlines, member, number))
                for (const std::uint32_t peer : run->sends) sets.join(member, peer);
        std::vector<std::uint32_t> ring_of_set(members, none), ring_of(members, none);
        for (std::uint32_t member = 0; member < members; ++member) {
            const Repeating* run = run_of(outlines, member, number);
            if (run == nullptr) continue;
            std::uint32_t& ring = ring_of_set[together ? 0 : sets.of(member)];
            if (ring == none) {
                ring = static_cast<std::uint32_t>(layout.rings.size());
                FoldedRing& made = layout.rings.emplace_back();
                made.steps = run->taken;
                made.padded = !even;
                parts.emplace_back();
                first.push_back(member);
            }
            FoldedRing& of = layout.rings[ring];
            ring_of[member] = ring;
            of.joined = of.joined && run->sends.size() == 1 && run->receives.size() == 1 &&
                        sets.of(member) == sets.of(first[ring]);
            of.keeps_largest = of.keeps_largest && run->keeps_largest;
            if (!simulated(member)) continue;
            ++of.members;
            parts[ring].push_back({member, number});
            layout.sections[member][run->section].ring = ring;
        }
        // The messages of members that are not simulated are their representatives', which must be in the same ring.
        for (std::uint32_t member = 0; symmetry != nullptr && member < members; ++member)
            if (ring_of[member] != none && ring_of[member] != ring_of[represented[member]])
                layout.rings[ring_of[member]].whole = false;
    }
    std::vector<std::uint32_t> loads(wires.resources(), 0);
    for (std::size_t ring = 0; ring < layout.rings.size(); ++ring)
        weigh(layout.rings[ring], parts[ring], layout, places, outlines, wires, loads);
    // Empty messages are neither copied nor reduced, so one byte would add more than its own time.
    const bool paddable = wires.transport().staging.unit != Staging::Unit::message &&
                          (!empty || wires.transport().reduction.launch_s == 0);
    // `exact`: gathering adds no time. `pads`: all blocks may count as the largest.
    const auto exact = [&](const FoldedRing& ring) { return ring.uniform && !ring.overtakes && passes_on(ring); };
    const auto pads = [&](const FoldedRing& ring) {
        return ring.lone && paddable && around.sole && (around.calm || (exact(ring) && ring.keeps_largest));
    };
    // By ring: the ring that all members come from; none if they come from different rings, or from other steps.
    std::vector<std::uint32_t> before(layout.rings.size(), none);
    std::vector<bool> seen(layout.rings.size(), false);
    for (std::vector<RingSection>& sections : layout.sections) {
        std::uint32_t last = none;
        for (RingSection& section : sections) {
            if (section.ring != RingSection::no_ring) {
                const FoldedRing& ring = layout.rings[section.ring];
                if (!ring.whole || (ring.padded && !pads(ring))) section.ring = RingSection::no_ring;
            }
            if (section.ring != RingSection::no_ring) {
                if (!seen[section.ring]) before[section.ring] = last;
                if (before[section.ring] != last) before[section.ring] = none;
                seen[section.ring] = true;
            }
            last = section.ring;
        }
    }
    for (std::size_t i = 0; i < layout.rings.size(); ++i) {
        FoldedRing& ring = layout.rings[i];
        // A ring with the same number of members, all from that ring, has the same members: they continue as they are.
        const bool goes_on = before[i] != none && layout.rings[before[i]].members == ring.members;
        ring.delays = !ring.uniform || ring.overtakes;
        ring.alike = alike;
        ring.gathers = !goes_on && around.sole && ring.lone && passes_on(ring) &&
                       (!ring.delays || (around.calm && members > exact_members));
    }
    return layout;
}

}  // namespace syncline
