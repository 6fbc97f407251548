#include "sim/trace/stage_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "sim/base/counted.hpp"
#include "sim/explain/stage_passes.hpp"
#include "sim/output/cells.hpp"
#include "sim/topology/xml_text.hpp"

namespace syncline {

namespace {

constexpr double width = 800, left = 72, right = width - 20, row_height = 34, row_gap = 6, letter = 7.2;
constexpr const char *ink = "#1b2530", *faint = "#5a6672", *empty = "#e8e6df", *gradients = "#b04a1e";

/// What a pass computes; the colours are those of reports.
struct PassKind {
    const char* name;
    const char* fill;
    double opacity;
};
constexpr std::array pass_kinds{PassKind{"forward pass", "#2b86c9", 1}, PassKind{"backward pass", "#1d4a94", 1},
                                PassKind{"gradients of inputs", "#1d4a94", 1},
                                PassKind{"gradients of weights", "#1d4a94", 0.6}};

std::size_t kind_of(const Slot& slot) {
    return slot.forward ? 0 : 1 + static_cast<std::size_t>(slot.gradients);
}

/// Returns the stages that have one of the ranks.
std::vector<std::uint32_t> chosen_stages(const Arrangement& arrangement, const TraceLimits& limits) {
    std::set<std::uint32_t> stages;
    if (limits.ranks)
        for (const std::uint32_t rank : *limits.ranks) stages.insert(rank / arrangement.stage_ranks);
    else
        for (std::uint32_t stage = 0; stage < arrangement.stages; ++stage) stages.insert(stage);
    std::erase_if(stages, [&](std::uint32_t stage) { return stage >= arrangement.stages; });
    return {stages.begin(), stages.end()};
}

/// Returns a step of 1, 2 or 5 times a power of ten that divides `length` into at most ten parts.
double step_of(double length) {
    const double least = length / 10, power = std::pow(10, std::floor(std::log10(least)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= least * (1 - 1e-9)) return factor * power;
    return 10 * power;
}

class Picture {
public:
    Picture(const TimelineView& view, const Lowered& training, const TraceLimits& limits)
        : view_(view),
          training_(training),
          stages_(chosen_stages(training.arrangement, limits)),
          time_(limits.time.value_or(Interval{0, view.window.end_s - view.window.start_s})) {}

    void write(const std::string& title, const Sink& sink) {
        const double top = 74, bottom = top + (row_height + row_gap) * static_cast<double>(stages_.size());
        std::string rows;
        for (std::size_t i = 0; i < stages_.size(); ++i)
            rows += row(stages_[i], top + (row_height + row_gap) * static_cast<double>(i));
        double last = bottom + 48;
        const std::string meanings = legend(last);
        const double height = last + 16;
        sink(
            fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1:.0f}\" width=\"{0}\" "
                        "height=\"{1:.0f}\" font-family=\"sans-serif\" font-size=\"13\">\n"
                        "<title>{2}</title>\n"
                        "<rect width=\"{0}\" height=\"{1:.0f}\" rx=\"6\" fill=\"#ffffff\"/>\n",
                        width, height, xml_escaped(title)));
        sink(text(left, 26, title, fmt::format("font-size=\"16\" font-weight=\"600\" fill=\"{}\"", ink)));
        sink(text(left, 46, subtitle(), fmt::format("fill=\"{}\"", faint)));
        sink(axis(top - 6, bottom) + rows + meanings + "</svg>\n");
    }

    std::vector<std::string> account() const {
        const std::size_t all = training_.arrangement.stages;
        const std::string some = stages_.size() < all ? fmt::format("{} of ", stages_.size()) : "";
        return {fmt::format("{}{}, {} passes", some, counted(all, "stage"), passes_)};
    }

private:
    double x(double time_s) const {
        const double share = (time_s - time_.start_s) / (time_.end_s - time_.start_s);
        return left + (right - left) * std::clamp(share, 0.0, 1.0);
    }
    bool shows(double start_s, double end_s) const { return end_s > time_.start_s && start_s < time_.end_s; }

    static std::string text(double at, double y, const std::string& content, const std::string& style) {
        return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", at, y, style, xml_escaped(content));
    }
    static std::string box(double at, double y, double wide, double high, const std::string& style) {
        return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" {}", at, y, wide, high,
                           style);
    }

    std::string subtitle() const {
        const Arrangement& a = training_.arrangement;
        std::string what = fmt::format("one iteration, {}", text::seconds(view_.window.end_s - view_.window.start_s));
        if (a.virtual_stages > 1) what += fmt::format("; {} virtual stages on each stage", a.virtual_stages);
        return what + fmt::format("; numbers are microbatches 1 to {}", a.micro_batches);
    }

    std::string row(std::uint32_t stage, double y) {
        std::string drawn = text(left - 10, y + row_height / 2 + 4.5, fmt::format("stage {}", stage),
                                 fmt::format("text-anchor=\"end\" fill=\"{}\"", ink));
        drawn += box(left, y, right - left, row_height, fmt::format("fill=\"{}\"/>\n", empty));
        const std::vector<Slot> order = slots(training_.plan.parallelism.pipeline, stage);
        for (const TimedPass& pass : stage_passes(view_, training_, stage))
            if (shows(pass.start_s, pass.end_s)) drawn += box_of(pass, order[pass.slot], y);
        const double resolution_s = (time_.end_s - time_.start_s) / (right - left);
        for (const Interval& time : gradient_times(view_, training_, stage, resolution_s)) {
            if (!shows(time.start_s, time.end_s)) continue;
            exchanges_ = true;
            const double from = x(time.start_s), high = row_height / 5;
            drawn += box(from, y + row_height - high, std::max(0.8, x(time.end_s) - from), high,
                         fmt::format("class=\"exchange\" fill=\"{}\"/>\n", gradients));
        }
        return drawn;
    }

    std::string box_of(const TimedPass& pass, const Slot& slot, double y) {
        ++passes_;
        const std::size_t kind = kind_of(slot);
        kinds_.insert(kind);
        const double from = x(pass.start_s), wide = std::max(0.5, x(pass.end_s) - from - 1);
        const auto chunks = static_cast<double>(training_.arrangement.virtual_stages);
        const double opacity = pass_kinds[kind].opacity * (1 - 0.5 * slot.virtual_rank / chunks);
        const std::string number = std::to_string(slot.micro_batch + 1);
        std::string drawn = box(from, y, wide, row_height,
                                fmt::format("rx=\"{}\" class=\"pass\" fill=\"{}\" fill-opacity=\"{:.2g}\"><title>{} of "
                                            "microbatch {}, {} to {}</title></rect>\n",
                                            wide > 8 ? 2 : 0, pass_kinds[kind].fill, opacity, pass_kinds[kind].name,
                                            number, text::seconds(pass.start_s), text::seconds(pass.end_s)));
        if (wide > letter * static_cast<double>(number.size()) + 2)
            drawn += text(from + wide / 2, y + row_height / 2 + 4, number,
                          "text-anchor=\"middle\" font-size=\"12\" font-weight=\"600\" fill=\"#ffffff\"");
        return drawn;
    }

    /// Returns lines at round times, and the times below, in ms.
    std::string axis(double top, double bottom) const {
        constexpr double milli = 1e3;
        const double from = milli * time_.start_s, to = milli * time_.end_s, step = step_of(to - from);
        const int digits = std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
        std::string drawn;
        for (auto i = std::llround(std::ceil(from / step - 1e-9)); static_cast<double>(i) * step <= to; ++i) {
            const double time = static_cast<double>(i) * step, at = x(time / milli);
            drawn += fmt::format("<path d=\"M{0:.1f} {1:.1f}V{2:.1f}\" stroke=\"#dcdad2\"/>\n", at, top, bottom);
            drawn += text(at, bottom + 15, i == 0 ? "0" : fmt::format("{:.{}f} ms", time, digits),
                          fmt::format("text-anchor=\"middle\" fill=\"{}\"", faint));
        }
        return drawn;
    }

    /// Returns the legend, and moves `y` from its first line to its last.
    std::string legend(double& y) const {
        std::string drawn;
        double at = left;
        const auto entry = [&](const char* fill, double opacity, const std::string& name) {
            const double wide = 18 + letter * static_cast<double>(name.size());
            if (at + wide > right) {
                at = left;
                y += 20;
            }
            drawn +=
                box(at, y - 10, 12, 12, fmt::format("rx=\"2\" fill=\"{}\" fill-opacity=\"{:.2g}\"/>\n", fill, opacity));
            drawn += text(at + 18, y, name, fmt::format("fill=\"{}\"", ink));
            at += wide + 16;
        };
        for (const std::size_t kind : kinds_)
            entry(pass_kinds[kind].fill, pass_kinds[kind].opacity, pass_kinds[kind].name);
        if (training_.arrangement.virtual_stages > 1) entry(pass_kinds[0].fill, 0.75, "later virtual stage");
        if (exchanges_) entry(gradients, 1, "gradients, weights");
        entry(empty, 1, training_.arrangement.stages > 1 ? "bubble" : "no pass runs");
        return drawn;
    }

    const TimelineView& view_;
    const Lowered& training_;
    std::vector<std::uint32_t> stages_;
    Interval time_;
    std::set<std::size_t> kinds_;  ///< that were drawn
    bool exchanges_ = false;
    std::size_t passes_ = 0;
};

}  // namespace

std::vector<std::string> write_stage_picture(const TimelineView& view, const Lowered& training,
                                             const TraceLimits& limits, const std::string& title, const Sink& sink) {
    Picture picture(view, training, limits);
    picture.write(title, sink);
    return picture.account();
}

}  // namespace syncline
