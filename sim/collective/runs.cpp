#include "sim/collective/runs.hpp"

#include <algorithm>

namespace syncline {

namespace {

bool alike(const std::vector<Message>& a, const std::vector<Message>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Message& x, const Message& y) {
        return x.peer == y.peer && x.count == y.count &&
               std::equal(x.more.begin(), x.more.end(), y.more.begin(), y.more.end(),
                          [](const Blocks& left, const Blocks& right) { return left.count == right.count; });
    });
}

bool alike(const Step& a, const Step& b) {
    return a.reduce == b.reduce && alike(a.sends, b.sends) && alike(a.receives, b.receives);
}

}  // namespace

std::vector<Run> runs_of(const Program& program) {
    const std::vector<Step>& steps = program.steps;
    // Loops whose steps are alike, together with those behind them that are like these, too.
    std::vector<Run> stretches;
    for (std::uint32_t head = 0; head < steps.size();) {
        const std::uint32_t end = head + steps[head].body;
        const auto like_head = [&](const Step& step) { return alike(step, steps[head]); };
        const bool repeats = std::all_of(steps.begin() + head, steps.begin() + end, like_head);
        const std::uint32_t taken = steps[head].body * steps[head].repeat;
        Run* last = stretches.empty() ? nullptr : &stretches.back();
        if (repeats && last != nullptr && last->repeats && alike(steps[last->first], steps[head])) {
            last->end = end;
            last->taken += taken;
        } else {
            stretches.push_back({head, end, taken, repeats});
        }
        head = end;
    }
    std::vector<Run> runs;
    for (const Run& stretch : stretches) {
        const bool repeats = stretch.repeats && stretch.taken >= least_repeats;
        if (repeats || runs.empty() || runs.back().repeats) {
            runs.push_back({stretch.first, stretch.end, stretch.taken, repeats});
        } else {
            runs.back().end = stretch.end;
            runs.back().taken += stretch.taken;
        }
    }
    return runs;
}

bool relays(const Step& step, std::uint32_t blocks) {
    if (step.sends.size() != 1 || step.receives.size() != 1) return false;
    const Message &sent = step.sends.front(), &received = step.receives.front();
    return sent.more.empty() && received.more.empty() && sent.count == received.count &&
           shifted(sent.block, step, 1, blocks) == received.block;
}

}  // namespace syncline
