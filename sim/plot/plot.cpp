#include "sim/plot/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "sim/base/utf8.hpp"
#include "sim/plot/curves.hpp"
#include "sim/plot/palette.hpp"
#include "sim/plot/plot_axis.hpp"

namespace syncline::batch {

namespace {

/// gnuplot's numbers of circle, square, triangle, diamond, and triangle on its tip.
constexpr std::array marks{7, 5, 9, 13, 11};
constexpr std::array dashes{"solid", "(12,4)", "(3,4)", "(12,4,3,4)"};

template <class Cycle>
auto in_turn(const Cycle& cycle, std::size_t i) {
    return cycle[i % cycle.size()];
}

/// Returns `text` as a literal of gnuplot. In single quotes, only these have a meaning.
std::string literal(const std::string& text) {
    std::string result = "'";
    for (const char letter : printable(text)) {
        if (letter != '\'')
            result += letter;
        else  // gnuplot 5.4 does not read '' after a quote
            result += result.ends_with('\'') ? R"(' . "'" . ')" : "''";
    }
    return result + "'";
}

/// Returns the text of a tick, which is also a format.
std::string tick_text(const std::string& text) {
    std::string result;
    for (const char letter : text) result += letter == '%' ? "%%" : std::string(1, letter);
    return literal(result);
}

/// Returns the number of letters of an axis's ticks beside one another.
std::size_t letters_of(const PlotAxis& axis) {
    std::size_t letters = 0;
    for (const Tick& tick : axis.ticks) letters += count_characters(tick.text) + 2;
    return letters;
}

std::size_t longest_tick(const PlotAxis& axis) {
    std::size_t longest = 5;  // those that gnuplot chooses
    for (const Tick& tick : axis.ticks) longest = std::max(longest, count_characters(tick.text));
    return longest;
}

/// Returns whether the ticks of a horizontal axis of that length must be turned.
bool turned(const PlotAxis& axis, double length_px) {
    return static_cast<double>(letters_of(axis)) > length_px / 9;
}

/// `turn`: the texts of ticks are turned.
std::string axis_lines(const std::string& name, const PlotAxis& axis, bool turn) {
    std::string lines =
        fmt::format("set {}label {}\nset {}range [{}:{}]\n", name, literal(axis.label), name, axis.low, axis.high);
    if (axis.logarithmic) lines += fmt::format("set logscale {}\n", name);
    if (axis.ticks.empty()) return lines;
    std::vector<std::string> ticks;
    for (const Tick& tick : axis.ticks) ticks.push_back(fmt::format("{} {}", tick_text(tick.text), tick.at));
    return lines + fmt::format("set {}tics{} ({})\n", name, turn ? " rotate by 30 right" : "", fmt::join(ticks, ", "));
}

/// Returns `text` broken at spaces into lines of at most `width` letters.
std::vector<std::string> in_lines(std::string text, std::size_t width) {
    std::vector<std::string> lines;
    while (text.size() > width) {
        const std::size_t space = text.rfind(' ', width);
        if (space == std::string::npos) break;
        lines.push_back(text.substr(0, space));
        text.erase(0, space + 1);
    }
    lines.push_back(text);
    return lines;
}

/// Returns the lines of the title: what is drawn, of what, and what is averaged.
std::vector<std::string> title_lines(const PlotOptions& options, const Curves& curves, const std::string& x,
                                     const std::string& y) {
    const auto width = static_cast<std::size_t>(options.width_px / 10.6);
    std::vector<std::string> lines{options.title};
    if (options.title.empty()) {
        lines = {fmt::format("{} by {}", y, x)};
        if (lines[0][0] >= 'a' && lines[0][0] <= 'z') lines[0][0] = static_cast<char>(lines[0][0] - 'a' + 'A');
        std::string of = curves.study;
        if (!options.where.empty()) of += fmt::format("{}{}", of.empty() ? "" : ": ", fmt::join(options.where, ", "));
        if (!of.empty())
            for (const std::string& line : in_lines(of, width)) lines.push_back(line);
    }
    if (!curves.averaged_over.empty())
        for (const std::string& line : in_lines("means over " + curves.averaged_over, width)) lines.push_back(line);
    return lines;
}

/// Returns lines as an expression, since a text in single quotes has one line.
std::string joined(const std::vector<std::string>& lines) {
    std::vector<std::string> literals;
    for (const std::string& line : lines) literals.push_back(literal(line));
    return fmt::format("{}", fmt::join(literals, R"( . "\n" . )"));
}

constexpr double line_px = 20;

/// The legend: beside the curves, or below them if its entries are so long that they would leave no room, or if there
/// are panels. It has one line per curve, and makes the picture as high as they need.
class Key {
public:
    Key(const Table& table, const PlotOptions& options, const Curves& curves) : width_px_(options.width_px) {
        std::vector<std::string> columns;
        for (const std::string& column : options.series) columns.push_back(spoken(table, column).name);
        title_ = fmt::format("{}", fmt::join(columns, ", "));
        std::size_t longest = count_characters(title_);
        for (const Curve& curve : curves.curves) {
            longest = std::max(longest, count_characters(curve.name));
            const auto same = [&](const Curve& known) {
                return known.colour == curve.colour && known.dash == curve.dash;
            };
            if (std::none_of(entries_.begin(), entries_.end(), same)) entries_.push_back(curve);
        }
        const double most_beside = options.width_px / 30;  // letters, about a third of the picture's width
        below_ = static_cast<double>(longest) > most_beside || curves.panels.size() > 1;
        const double entry_px = 60 + 8 * static_cast<double>(longest);
        in_a_line_ = std::max<std::size_t>(1, static_cast<std::size_t>(0.95 * options.width_px / entry_px));
    }

    bool shown() const { return !title_.empty(); }
    const std::vector<Curve>& entries() const { return entries_; }

    std::string script() const {
        if (!shown()) return "unset key\n";
        return fmt::format("set key outside {} vertical maxcols 1 Left reverse title {} left\n",
                           below_ ? "below center" : "right top", literal(title_));
    }

    /// Returns the legend below panels, a plot of its own with these entries.
    std::string below_panels(const std::vector<std::string>& entries, double top) const {
        if (!shown()) return "";
        return fmt::format(
            "unset title\nunset xlabel\nunset ylabel\nunset tics\nunset border\nunset grid\nunset logscale\nset xrange "
            "[0:1]\nset yrange [0:1]\nset margins screen 0, screen 1, screen 0, screen {:.4f}\nset key center center "
            "horizontal maxcols {} Left reverse\nplot 2 notitle, {}\n",
            top, in_a_line_, fmt::join(entries, ", "));
    }
    double below_panels_px() const {
        return shown() ? line_px * std::ceil(static_cast<double>(entries_.size()) / static_cast<double>(in_a_line_))
                       : 0;
    }

    /// Returns the height of a picture with one panel.
    double height_px(std::size_t title_lines) const {
        constexpr double curves_px = 190, axis_px = 52;
        const double least =
            std::max(width_px_ * 9 / 16, curves_px + axis_px + line_px * static_cast<double>(title_lines));
        const double lines = static_cast<double>(entries_.size());
        return below_ ? least + line_px * (lines + 2) : std::max(least, line_px * (lines + 6));
    }

private:
    std::vector<Curve> entries_;  ///< one of each colour and dash
    std::string title_;
    double width_px_;
    bool below_ = false;
    std::size_t in_a_line_ = 1;
};

/// The style of curves: lines with marks; over categories, bars side by side, or only marks on a logarithmic axis,
/// where the lengths of bars have no meaning.
class Style {
public:
    Style(const Curves& curves, bool logarithmic)
        : categories_(curves.categories),
          bars_(curves.categories && !logarithmic),
          spread_(curves.averaged()),
          width_(0.8 / static_cast<double>(curves.most_in_a_panel())),
          count_(curves.most_in_a_panel()) {}

    /// Returns the horizontal shift of the i-th curve of a panel over categories.
    double shift(std::size_t i) const {
        return categories_ ? (static_cast<double>(i) - static_cast<double>(count_ - 1) / 2) * width_ : 0;
    }

    /// Returns what draws a curve from the data block with this number.
    std::string plot(std::size_t block, const Curve& curve, const std::string& title) const {
        std::string what;
        if (bars_)
            what = fmt::format("using 1:2:({}) with boxes", width_ * 0.92);
        else if (categories_)
            what = "using 1:2 with points";
        else
            what = "using 1:2 with linespoints";
        std::string all = fmt::format("$curve{} {}{} {}", block, what, look(curve), title);
        if (!spread_) return all;
        // Boxes cover what is drawn before them, and error bars cover the marks of a curve.
        const std::string spread =
            fmt::format("$curve{} using 1:2:3:4 with yerrorbars pointtype 0 linecolor '{}' notitle", block,
                        bars_ ? "#000000" : in_turn(palette, curve.colour));
        return bars_ ? all + ", " + spread : spread + ", " + all;
    }

    /// Returns an entry of the legend.
    std::string entry(const Curve& curve) const {
        return fmt::format("keyentry with {}{} title {}",
                           bars_         ? "boxes"
                           : categories_ ? "points"
                                         : "linespoints",
                           look(curve), literal(curve.name));
    }

private:
    std::string look(const Curve& curve) const {
        const std::string points = fmt::format(" pointtype {} pointsize 0.9", in_turn(marks, curve.dash));
        const bool hatched = curve.dash != curve.colour ? curve.dash % 2 == 1 : curve.colour >= palette.size();
        std::string look = points;
        if (bars_)
            look = fmt::format(" fillstyle {}", hatched ? "pattern 4" : "solid 0.8 noborder");
        else if (!categories_)
            look = fmt::format(" linewidth 2 dashtype {}", in_turn(dashes, curve.dash)) + points;
        return look + fmt::format(" linecolor '{}'", in_turn(palette, curve.colour));
    }

    bool categories_, bars_, spread_;
    double width_;
    std::size_t count_;
};

std::string terminal(Picture picture, double width_px, double height_px) {
    const auto whole = [](double px) { return static_cast<std::int64_t>(std::lround(px)); };
    std::string script = "set terminal ";
    if (picture == Picture::svg)
        script += fmt::format("svg size {},{} font 'sans-serif,13'", whole(width_px), whole(height_px));
    else if (picture == Picture::png)
        script += fmt::format("pngcairo size {},{} fontscale 2 linewidth 2 pointscale 2 font 'sans-serif,10'",
                              2 * whole(width_px), 2 * whole(height_px));
    else  // Pango reckons with 96 dots to the inch, and a PDF has 72: 0.75 gives texts their size
        script += fmt::format(
            "pdfcairo size {:.4f}in,{:.4f}in fontscale 0.75 linewidth 1 pointscale 0.7 font 'sans-serif,9.75'",
            width_px / 96, height_px / 96);
    return script + " noenhanced background '#ffffff'\n";
}

/// The arrangement of panels: as many columns as have room.
struct Panels {
    Panels(std::size_t count, double width_px) {
        const std::size_t room = width_px >= 620 ? 3 : width_px >= 330 ? 2 : 1;
        columns = count == 4 ? std::min<std::size_t>(2, room) : std::min(count, room);
        rows = (count + columns - 1) / columns;
    }
    std::size_t columns = 1, rows = 1;
};

/// Returns an axis without its label and the texts of its ticks, which another panel has.
std::string bare_axis(const char* name, const PlotAxis& axis) {
    PlotAxis bare = axis;
    bare.label.clear();
    for (Tick& tick : bare.ticks) tick.text.clear();
    return axis_lines(name, bare, false) + (axis.ticks.empty() ? fmt::format("set format {} ''\n", name) : "");
}

/// What is drawn: the curves with their axes and texts.
struct Drawing {
    const PlotOptions& options;
    const Curves& curves;
    const PlotAxis &x, &y;
    const Key& key;
    const Style& style;
    std::vector<std::string> title;
    std::vector<std::vector<std::string>> plots;  ///< by panel
};

std::string one_panel(const Drawing& drawing) {
    return fmt::format("set title {}\n", joined(drawing.title)) +
           axis_lines("x", drawing.x, turned(drawing.x, drawing.options.width_px * 0.75)) +
           axis_lines("y", drawing.y, false) + drawing.key.script() +
           fmt::format("plot {}\n", fmt::join(drawing.plots.front(), ", \\\n     "));
}

/// Returns panels with the same axes, and the height of their picture.
std::pair<std::string, double> several_panels(const Drawing& drawing) {
    const double width_px = drawing.options.width_px;
    const Panels panels(drawing.plots.size(), width_px);
    const double left_px = 48 + 8 * static_cast<double>(longest_tick(drawing.y)), right_px = 18, gap_px = 20;
    const auto columns = static_cast<double>(panels.columns), rows = static_cast<double>(panels.rows);
    const double panel_px = (width_px - left_px - right_px - (columns - 1) * gap_px) / columns;
    const bool turn = turned(drawing.x, panel_px);
    const double ticks_px = turn ? 22 + 4.5 * static_cast<double>(longest_tick(drawing.x)) : 32;
    constexpr double name_px = 28, label_px = 26;
    const double top_px = line_px * static_cast<double>(drawing.title.size()) + 14;
    const double legend_px = drawing.key.below_panels_px() + 8;
    const double around_px = top_px + legend_px + label_px + rows * (name_px + ticks_px);
    const double height_px =
        drawing.options.height_px > 0 ? drawing.options.height_px : around_px + rows * std::max(130.0, 0.68 * panel_px);
    const double panel_height_px = (height_px - around_px) / rows;

    std::string script = fmt::format("set multiplot title {}\n", joined(drawing.title));
    for (std::size_t i = 0; i < drawing.plots.size(); ++i) {
        const std::size_t column = i % panels.columns, row = i / panels.columns;
        const double from_px = left_px + static_cast<double>(column) * (panel_px + gap_px);
        const double upper_px =
            height_px - top_px - name_px - static_cast<double>(row) * (panel_height_px + name_px + ticks_px);
        script += fmt::format("set title {}\nset margins screen {:.4f}, screen {:.4f}, screen {:.4f}, screen {:.4f}\n",
                              literal(drawing.curves.panels[i]), from_px / width_px, (from_px + panel_px) / width_px,
                              (upper_px - panel_height_px) / height_px, upper_px / height_px);
        script += axis_lines("x", drawing.x, turn);
        if (i + panels.columns < drawing.plots.size()) script += "unset xlabel\n";
        script += column == 0 ? "set format y\n" + axis_lines("y", drawing.y, false) : bare_axis("y", drawing.y);
        script += fmt::format("unset key\nplot {}\n", fmt::join(drawing.plots[i], ", \\\n     "));
    }
    std::vector<std::string> entries;
    for (const Curve& curve : drawing.key.entries()) entries.push_back(drawing.style.entry(curve));
    return {script + drawing.key.below_panels(entries, legend_px / height_px) + "unset multiplot\n", height_px};
}

}  // namespace

PlotScript plot_script(Table& table, const PlotOptions& options, Picture picture, std::vector<std::string>& notes) {
    const Curves curves = read_curves(table, options, notes);
    const Spoken of_x = spoken(table, options.x).called(options.x_label);
    const Spoken of_y = spoken(table, options.y).called(options.y_label);
    const PlotAxis x = x_axis(of_x, curves, options.log_x), y = y_axis(of_y, curves, options.log_y);
    const Key key(table, options, curves);
    const Style style(curves, options.log_y);
    Drawing drawing{options, curves, x, y, key, style, title_lines(options, curves, of_x.name, of_y.name), {}};

    std::string data;
    drawing.plots.resize(curves.panels.size());
    for (std::size_t i = 0; i < curves.curves.size(); ++i) {
        const Curve& curve = curves.curves[i];
        std::vector<std::string>& beside = drawing.plots[curve.panel];
        data += fmt::format("$curve{} << END\n", i);
        for (const Knot& knot : curve.knots)
            data += fmt::format("{} {} {} {}\n", curves.xs[knot.x].at / x.unit + style.shift(beside.size()),
                                knot.mean / y.unit, knot.least / y.unit, knot.most / y.unit);
        data += "END\n";
        const bool named = options.facet.empty() && !options.series.empty();
        beside.push_back(style.plot(i, curve, named ? "title " + literal(curve.name) : "notitle"));
    }

    std::string panels;
    double height_px = options.height_px > 0 ? options.height_px : key.height_px(drawing.title.size());
    if (options.facet.empty())
        panels = one_panel(drawing);
    else
        std::tie(panels, height_px) = several_panels(drawing);
    const std::string script = "set encoding utf8\n" + terminal(picture, options.width_px, height_px) +
                               "set border 3\nset pointintervalbox 0\nset tics nomirror out\nset grid linetype 1 "
                               "linewidth 0.5 linecolor '#dddddd'\n" +
                               data + panels;
    return {script, curves.curves.size(), curves.points};
}

}  // namespace syncline::batch
