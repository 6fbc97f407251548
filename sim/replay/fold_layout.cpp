#include "sim/replay/fold_layout.hpp"

#include <algorithm>
#include <numeric>

#include "sim/collective/runs.hpp"

namespace syncline {

namespace {

constexpr std::uint32_t none = ~std::uint32_t{0};

/// A repeating run of a member.
struct Repeating {
    std::uint32_t section = 0;
    std::uint32_t taken = 0;
    bool relays = false;
    double byte_s = 0;  ///< what one byte more takes, beside the links
    std::vector<std::uint32_t> sends, receives;
};

/// What one member does, as far as it matters here.
struct Outline {
    std::vector<Repeating> runs;
    bool nothing_else = true;
};

/// The sets into which members fall that are joined.
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

/// Whether what each sends in its run is what its peers receive in theirs.
bool closed(const std::vector<Outline>& all, std::size_t number) {
    const auto times = [](const std::vector<std::uint32_t>& peers, std::uint32_t peer) {
        return std::count(peers.begin(), peers.end(), peer);
    };
    for (std::uint32_t member = 0; member < all.size(); ++member) {
        const Repeating* run = run_of(all, member, number);
        if (run == nullptr) continue;
        const auto matches = [&](std::uint32_t peer, const auto& mine, auto theirs) {
            const Repeating* other = run_of(all, peer, number);
            return other != nullptr && other->taken == run->taken && times(other->*theirs, member) == times(mine, peer);
        };
        for (const std::uint32_t peer : run->sends)
            if (!matches(peer, run->sends, &Repeating::receives)) return false;
        for (const std::uint32_t peer : run->receives)
            if (!matches(peer, run->receives, &Repeating::sends)) return false;
    }
    return true;
}

Section section_of(const Program& program, const Run& run, ProcessId process, std::span<const ProcessId> group,
                   Wires& wires) {
    Section section{run.taken, Section::no_ring, {}};
    for (std::uint32_t i = run.first; i < run.end; ++i) {
        for (const Message& message : program.steps[i].sends)
            wires.append_shared(process, group[message.peer], section.links);
        if (run.repeats) break;
    }
    std::sort(section.links.begin(), section.links.end());
    section.links.erase(std::unique(section.links.begin(), section.links.end()), section.links.end());
    return section;
}

Outline outline_of(const Exchange& exchange, const Program& program, const std::vector<Run>& runs, ProcessId process,
                   std::span<const ProcessId> group, const Wires& wires) {
    Outline outline;
    for (std::uint32_t i = 0; i < runs.size(); ++i) {
        if (!runs[i].repeats) {
            outline.nothing_else = false;
            continue;
        }
        const Step& step = program.steps[runs[i].first];
        Repeating run{i, runs[i].taken, relays(step, program.partition.blocks), 0, {}, {}};
        for (const Message& message : step.sends) {
            const auto bytes = static_cast<double>(largest_bytes(program.partition, message));
            const MessageTerms& terms = wires.terms(process, group[message.peer]);
            run.byte_s = std::max(run.byte_s, 1 / terms.limit_Bps(bytes));
            run.sends.push_back(message.peer);
        }
        if (step.reduce) run.byte_s += static_cast<double>(step.receives.size()) * exchange.gamma_s_per_B;
        for (const Message& message : step.receives) run.receives.push_back(message.peer);
        outline.runs.push_back(std::move(run));
    }
    return outline;
}

/// Whether all members' programs are the same runs, and nothing else.
bool in_step(const std::vector<Outline>& all) {
    return std::all_of(all.begin(), all.end(), [&](const Outline& outline) {
        return outline.nothing_else &&
               std::equal(outline.runs.begin(), outline.runs.end(), all.front().runs.begin(), all.front().runs.end(),
                          [](const Repeating& a, const Repeating& b) { return a.taken == b.taken; });
    });
}

/// A byte more in all messages of a step takes longest on the link that is the slowest for how many of them it has.
void note_byte_times(FoldLayout& layout, const Wires& wires) {
    std::vector<std::vector<std::uint32_t>> loads(layout.rings.size(), std::vector<std::uint32_t>(wires.links()));
    for (const std::vector<Section>& sections : layout.sections) {
        for (const Section& section : sections) {
            if (section.ring == Section::no_ring) continue;
            for (const std::uint32_t link : section.links) ++loads[section.ring][link];
        }
    }
    for (std::size_t ring = 0; ring < loads.size(); ++ring) {
        double longest_s = 0;
        for (std::size_t link = 0; link < loads[ring].size(); ++link)
            longest_s = std::max(longest_s, loads[ring][link] / wires.bandwidth_Bps(link));
        layout.rings[ring].byte_s += longest_s;
    }
}

}  // namespace

FoldLayout fold_layout(const Exchange& exchange, std::span<const ProcessId> group, std::uint32_t iteration,
                       Wires& wires) {
    const auto members = static_cast<std::uint32_t>(group.size());
    FoldLayout layout;
    std::vector<Outline> outlines;
    bool filled = true, even = true;
    for (std::uint32_t member = 0; member < members; ++member) {
        const Program program = exchange.algorithm->program(member, members, exchange.bytes, iteration);
        const std::vector<Run> runs = runs_of(program);
        outlines.push_back(outline_of(exchange, program, runs, group[member], group, wires));
        std::vector<Section>& sections = layout.sections.emplace_back();
        for (const Run& run : runs) sections.push_back(section_of(program, run, group[member], group, wires));
        // Where fewer ranks contribute than there are blocks, some are empty.
        filled = filled && (program.partition.filled == 0 || program.partition.filled == program.partition.blocks);
        even = even && program.partition.even();
    }
    if (!filled || (!even && members <= exact_members)) return layout;

    const bool together = in_step(outlines);
    std::size_t most_runs = 0;
    for (const Outline& outline : outlines) most_runs = std::max(most_runs, outline.runs.size());
    for (std::size_t number = 0; number < most_runs; ++number) {
        if (!closed(outlines, number)) continue;
        Sets sets(members);
        for (std::uint32_t member = 0; member < members; ++member)
            if (const Repeating* run = run_of(outlines, member, number))
                for (const std::uint32_t peer : run->sends) sets.join(member, peer);
        std::vector<std::uint32_t> size(members, 0), ring(members, none);
        for (std::uint32_t member = 0; member < members; ++member)
            if (run_of(outlines, member, number) != nullptr) ++size[sets.of(member)];
        const auto holds_up = [&](std::uint32_t member) {
            return 2 * run_of(outlines, member, number)->taken >= size[sets.of(member)];
        };
        bool all_hold_up = together;
        for (std::uint32_t member = 0; member < members && all_hold_up; ++member) all_hold_up = holds_up(member);
        for (std::uint32_t member = 0; member < members; ++member) {
            const Repeating* run = run_of(outlines, member, number);
            if (run == nullptr || (!all_hold_up && !holds_up(member))) continue;
            std::uint32_t& place = ring[all_hold_up ? 0 : sets.of(member)];
            if (place == none) {
                place = static_cast<std::uint32_t>(layout.rings.size());
                layout.rings.push_back({0, run->taken, !even, true, 0});
            }
            FoldedRing& of = layout.rings[place];
            ++of.members;
            of.relays = of.relays && run->relays;
            of.byte_s = std::max(of.byte_s, run->byte_s);
            layout.sections[member][run->section].ring = place;
        }
    }
    if (!even) note_byte_times(layout, wires);
    return layout;
}

}  // namespace syncline
