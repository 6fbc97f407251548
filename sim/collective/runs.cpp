#include "sim/collective/runs.hpp"

#include <algorithm>

namespace syncline {

namespace {

bool alike(const std::vector<Message>& a, const std::vector<Message>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Message& x, const Message& y) {
        return x.peer == y.peer && x.turn == y.turn && x.count == y.count &&
               std::equal(x.more.begin(), x.more.end(), y.more.begin(), y.more.end(),
                          [](const Blocks& left, const Blocks& right) { return left.count == right.count; });
    });
}

bool alike(const Step& a, const Step& b) {
    return a.reduce == b.reduce && a.adds == b.adds && alike(a.sends, b.sends) && alike(a.receives, b.receives);
}

/// Returns true if all receivers turn by the same amount, and all senders by its opposite.
bool turns_as_one(const Step& step) {
    const std::int32_t turn = step.sends.empty() ? 0 : step.sends.front().turn;
    return std::all_of(step.sends.begin(), step.sends.end(), [&](const Message& sent) { return sent.turn == turn; }) &&
           std::all_of(step.receives.begin(), step.receives.end(),
                       [&](const Message& received) { return received.turn == -turn; });
}

}  // namespace

std::vector<Run> runs_of(const Program& program) {
    const std::vector<Step>& steps = program.steps;
    // Collects loops whose steps are alike, together with the following steps that equal them.
    std::vector<Run> stretches;
    for (std::uint32_t head = 0; head < steps.size();) {
        const std::uint32_t end = head + steps[head].body;
        const auto like_head = [&](const Step& step) { return alike(step, steps[head]); };
        const bool repeats =
            std::all_of(steps.begin() + head, steps.begin() + end, like_head) && turns_as_one(steps[head]);
        const std::uint32_t taken = steps[head].body * steps[head].repeat;
        Run* last = stretches.empty() ? nullptr : &stretches.back();
        const bool turns = std::any_of(steps[head].sends.begin(), steps[head].sends.end(),
                                       [](const Message& message) { return message.turn != 0; });
        if (repeats && !turns && last != nullptr && last->repeats && alike(steps[last->first], steps[head])) {
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

}  // namespace syncline
