#include "sim/plot/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/utf8.hpp"
#include "sim/plot/curves.hpp"
#include "sim/plot/plot_axis.hpp"

namespace syncline::batch {

namespace {

/// M. Okabe, K. Ito, "Color universal design", 2008, without the yellow, which is hardly visible on white.
constexpr std::array colours{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"};
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

std::string axis_lines(const std::string& name, const PlotAxis& axis) {
    std::string lines =
        fmt::format("set {}label {}\nset {}range [{}:{}]\n", name, literal(axis.label), name, axis.low, axis.high);
    if (axis.logarithmic) lines += fmt::format("set logscale {}\n", name);
    if (axis.ticks.empty()) return lines;
    std::vector<std::string> ticks;
    std::size_t letters = 0;
    for (const Tick& tick : axis.ticks) {
        ticks.push_back(fmt::format("{} {}", tick_text(tick.text), tick.at));
        letters += count_characters(tick.text) + 2;
    }
    const char* turned = name == "x" && letters > 80 ? " rotate by 30 right" : "";
    return lines + fmt::format("set {}tics{} ({})\n", name, turned, fmt::join(ticks, ", "));
}

/// Returns `text` broken at spaces into lines that fit above a picture. The result is an expression, since a text in
/// single quotes has one line.
std::string in_lines(std::string text) {
    constexpr std::size_t width = 90;
    std::string lines;
    while (text.size() > width) {
        const std::size_t space = text.rfind(' ', width);
        if (space == std::string::npos) break;
        lines += literal(text.substr(0, space)) + R"( . "\n" . )";
        text.erase(0, space + 1);
    }
    return lines + literal(text);
}

std::string title_of(const PlotOptions& options, const Curves& curves) {
    std::string title = options.title.empty() ? curves.study : options.title;
    if (options.title.empty() && !options.where.empty())
        title += fmt::format("{}{}", title.empty() ? "" : ": ", fmt::join(options.where, ", "));
    if (curves.averaged_over.empty()) return literal(title);
    return fmt::format(R"({} . "\n" . {})", literal(title), in_lines("means over " + curves.averaged_over));
}

/// The legend: beside the curves, or below them if its entries are so long that they would leave no room. It has one
/// line per curve, and makes the picture as high as they need.
class Key {
public:
    Key(const Table& table, const std::vector<std::string>& series, const Curves& curves)
        : lines_(curves.curves.size()) {
        std::vector<std::string> names;
        for (const std::string& column : series) names.push_back(spoken(table, column).name);
        title_ = fmt::format("{}", fmt::join(names, ", "));
        std::size_t longest = count_characters(title_);
        for (const Curve& curve : curves.curves) longest = std::max(longest, count_characters(curve.name));
        constexpr std::size_t most_beside = 32;  // about a third of the picture's width
        below_ = longest > most_beside;
    }

    std::string script() const {
        if (title_.empty()) return "unset key\n";
        return fmt::format("set key outside {} vertical maxcols 1 Left reverse title {} left\n",
                           below_ ? "below center" : "right top", literal(title_));
    }

    /// Returns the height of a picture that is 960 wide.
    std::size_t height() const {
        constexpr std::size_t least = 540, line = 20;
        return below_ ? least + line * (lines_ + 2) : std::max(least, line * (lines_ + 6));
    }

private:
    std::size_t lines_;
    std::string title_;
    bool below_ = false;
};

/// The style of curves: lines with marks; over categories, bars side by side, or only marks on a logarithmic axis,
/// where the lengths of bars have no meaning.
class Style {
public:
    Style(const Curves& curves, bool logarithmic)
        : categories_(curves.categories),
          bars_(curves.categories && !logarithmic),
          spread_(curves.averaged()),
          width_(0.8 / static_cast<double>(curves.curves.size())),
          count_(curves.curves.size()) {}

    /// Returns the horizontal shift of the i-th curve over categories.
    double shift(std::size_t i) const {
        return categories_ ? (static_cast<double>(i) - static_cast<double>(count_ - 1) / 2) * width_ : 0;
    }

    std::string plot(std::size_t i, const std::string& title) const {
        const std::string colour = in_turn(colours, i);
        const std::string points = fmt::format("pointtype {} pointsize 0.9", in_turn(marks, i));
        std::string what;
        if (bars_)
            what = fmt::format("using 1:2:({}) with boxes fillstyle {}", width_ * 0.92,
                               i < colours.size() ? "solid 0.8 noborder" : "pattern 4");  // colours return, hatched
        else if (categories_)
            what = "using 1:2 with points " + points;
        else
            what = fmt::format("using 1:2 with linespoints linewidth 2 dashtype {} {}", in_turn(dashes, i), points);
        std::string curve = fmt::format("$curve{} {} linecolor '{}' {}", i, what, colour, title);
        if (!spread_) return curve;
        // Boxes cover what is drawn before them, and error bars cover the marks of a curve.
        const std::string spread = fmt::format(
            "$curve{} using 1:2:3:4 with yerrorbars pointtype 0 linecolor '{}' notitle", i, bars_ ? "#000000" : colour);
        return bars_ ? curve + ", " + spread : spread + ", " + curve;
    }

private:
    bool categories_, bars_, spread_;
    double width_;
    std::size_t count_;
};

}  // namespace

PlotScript plot_script(Table& table, const PlotOptions& options, Picture picture, std::vector<std::string>& notes) {
    const Curves curves = read_curves(table, options, notes);
    const PlotAxis x = x_axis(spoken(table, options.x).called(options.x_label), curves, options.log_x);
    const PlotAxis y = y_axis(spoken(table, options.y).called(options.y_label), curves, options.log_y);

    const Key key(table, options.series, curves);
    std::string script = "set encoding utf8\n";
    script += picture == Picture::svg
                  ? fmt::format("set terminal svg size 960,{} font 'sans-serif,13'", key.height())
                  : fmt::format(
                        "set terminal pngcairo size 1920,{} fontscale 2 linewidth 2 pointscale 2 font "
                        "'sans-serif,10'",
                        2 * key.height());
    script += " noenhanced background '#ffffff'\n";
    script += fmt::format("set title {}\n", title_of(options, curves));
    script += axis_lines("x", x) + axis_lines("y", y);
    script +=
        "set border 3\nset pointintervalbox 0\nset tics nomirror out\nset grid linetype 1 linewidth 0.5 linecolor "
        "'#dddddd'\n";
    script += key.script();

    const Style style(curves, options.log_y);
    std::vector<std::string> plots;
    for (std::size_t i = 0; i < curves.curves.size(); ++i) {
        script += fmt::format("$curve{} << END\n", i);
        for (const Knot& knot : curves.curves[i].knots)
            script += fmt::format("{} {} {} {}\n", curves.xs[knot.x].at / x.unit + style.shift(i), knot.mean / y.unit,
                                  knot.least / y.unit, knot.most / y.unit);
        script += "END\n";
        plots.push_back(style.plot(i, options.series.empty() ? "notitle" : "title " + literal(curves.curves[i].name)));
    }
    return {script + fmt::format("plot {}\n", fmt::join(plots, ", \\\n     ")), curves.curves.size(), curves.points};
}

}  // namespace syncline::batch
