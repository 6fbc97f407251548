#include "sim/output/time_bars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/utf8.hpp"
#include "sim/output/cells.hpp"

namespace syncline::text {

const std::array<BarPart, 4> bar_parts{
    {{"compute", "█"}, {"exposed communication", "▓"}, {"waiting", "▒"}, {"idle", "░"}}};

namespace {

std::array<double, bar_parts.size()> parts_of(const Breakdown& time) {
    return {time.compute_s, time.exposed_communication_s, time.waiting_s, time.idle_s};
}

std::string repeated(const char* block, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += block;
    return text;
}

std::string padding(std::size_t width, const std::string& text) {
    return std::string(width - count_characters(text), ' ');
}

}  // namespace

std::string time_bars(const std::vector<const Result*>& results, const TableLayout& layout) {
    constexpr std::size_t least = 10, usual = 80;
    if (!layout.bars || results.empty()) return {};
    std::size_t names = 0, times = 0;
    double longest_s = 0;
    for (const Result* r : results) {
        names = std::max(names, count_characters(r->variant));
        times = std::max(times, count_characters(seconds(r->time.iteration_s)));
        longest_s = std::max(longest_s, r->time.iteration_s);
    }
    const std::size_t width = layout.width == 0 ? usual : layout.width, taken = names + times + 4;
    if (width < taken + least || longest_s <= 0) return {};
    const double scale = static_cast<double>(width - taken) / longest_s;
    std::string text;
    std::array<bool, bar_parts.size()> seen{};
    for (const Result* r : results) {
        text += r->variant + padding(names, r->variant) + "  ";
        const auto parts = parts_of(r->time);
        double end_s = 0;
        std::size_t drawn = 0;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            end_s += parts[i];
            const auto end = std::min(static_cast<std::size_t>(std::llround(end_s * scale)), width - taken);
            text += repeated(bar_parts[i].block, end - drawn);
            seen[i] = seen[i] || end > drawn;
            drawn = end;
        }
        const std::string time = seconds(r->time.iteration_s);
        text += std::string(width - taken - drawn, ' ') + "  " + padding(times, time) + time + "\n";
    }
    std::string meaning;
    for (std::size_t i = 0; i < bar_parts.size(); ++i)
        if (seen[i])
            meaning += fmt::format("{}{} {}", meaning.empty() ? "" : "  ", bar_parts[i].block, bar_parts[i].name);
    return text + fmt::format("{}\n", fmt::join(broken(meaning, width), "\n"));
}

}  // namespace syncline::text
