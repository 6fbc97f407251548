#include "sim/cli/typed_words.hpp"
#include "sim/plot/plot.hpp"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "sim/base/counted.hpp"
#include "sim/cli/guard.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/output/written_files.hpp"
#include "sim/store/store.hpp"

namespace syncline::cli {

namespace {

using namespace batch;

struct PlotArguments {
    std::string directory, study, file, series;
    PlotOptions plot;
};

Picture picture_for(const std::string& file) {
    const std::filesystem::path kind = std::filesystem::path(file).extension();
    return kind == ".png" ? Picture::png : kind == ".pdf" ? Picture::pdf : Picture::svg;
}

/// Returns a length in pixels, 96 to the inch; nothing for a text that is none.
std::optional<double> pixels(const std::string& text) {
    static const std::map<std::string, double> units{
        {"px", 1}, {"in", 96}, {"cm", 96 / 2.54}, {"mm", 96 / 25.4}, {"pt", 96.0 / 72}};
    char* rest = nullptr;
    const double number = std::strtod(text.c_str(), &rest);
    while (*rest == ' ') ++rest;
    const auto unit = units.find(rest);
    if (unit == units.end() || !(number * unit->second >= 100) || number * unit->second > 10'000) return std::nullopt;
    return number * unit->second;
}

void add_length(CLI::App& verb, const std::string& name, double& px, const std::string& description) {
    verb.add_option_function<std::string>(
            name, [&px](const std::string& text) { px = *pixels(text); }, description)
        ->option_text("LENGTH")
        ->check([](const std::string& text) {
            return pixels(text) ? ""
                                : "'" + text + "' is no length from 100 to 10000 px: 8.5cm, 85mm, 3.35in, 241pt, 800px";
        });
}

/// Runs each expression separately, so that an error names the option it comes from: on zero rows with the condition
/// "0", on all of them with "1", for errors of values.
void check(Table& table, const PlotOptions& options, const std::string& rows) {
    const auto selects = [&](const std::string& option, const std::string& text, const Query& query) {
        try {
            table.select(query);
        } catch (const SqlError& error) {
            throw located(error, {option, 1, 1, text});
        }
    };
    selects("--x", options.x, {{rows}, {}, {}, {options.x}});
    selects("--y", options.y, {{rows}, {}, {}, {options.y}});
    if (!options.facet.empty()) selects("--facet", options.facet, {{rows}, {}, {}, {options.facet}});
    for (const std::string& column : options.series) selects("--series", column, {{rows}, {}, {}, {column}});
    for (const std::string& condition : options.where)
        selects("--where", condition, {{rows, condition}, {}, {}, {"point"}});
}

void plot(const PlotArguments& options) {
    Store store(options.directory, Store::Mode::read);
    Table table(store, options.study);
    PlotOptions plot = options.plot;
    try {
        if (!options.series.empty()) plot.series = split_list(options.series);
    } catch (const SqlError& error) {
        throw located(error, {"--series", 1, 1, options.series});
    }
    check(table, plot, "0");
    std::vector<std::string> notes;
    PlotScript script;
    try {
        script = plot_script(table, plot, picture_for(options.file), notes);
    } catch (const NothingToDraw& error) {
        throw Failed(std::string("nothing to draw: ") + error.what());
    } catch (const SqlError& error) {
        check(table, plot, "1");
        throw located(error, {"--log", 1, 1, ""});
    }
    for (const std::string& note : notes) say("note: {}\n", note);
    const std::string picture = drawn(script.text);
    if (options.file.empty()) {
        write_stdout(picture);
        return;
    }
    write_file(options.file, picture);
    say("wrote {}: {} of {}\n", options.file, counted(script.lines, "line"), counted(script.points, "point"));
}

CLI::Option* add_text(CLI::App& verb, const std::string& name, std::string& text, const std::string& shown,
                      const std::string& description) {
    return verb.add_option(name, text, description)->option_text(shown)->check(not_empty);
}

}  // namespace

void add_plot(CLI::App& program, Action& action) {
    CLI::App* verb =
        add_verb(program, "plot", "syncline plot stored --x ranks --y throughput --series variant --out throughput.svg",
                 "Plot the results of a batch");
    const auto options = std::make_shared<PlotArguments>();
    add_text(*verb, "DIR", options->directory, "", "Results directory of `syncline batch`")->required();
    add_text(*verb, "--x", options->plot.x, "EXPR", "Horizontal axis: a setting, a result, or an expression over them")
        ->required();
    add_text(*verb, "--y", options->plot.y, "EXPR", "Vertical axis, for example throughput or iteration_time_s")
        ->required();
    add_text(*verb, "--series", options->series, "COLUMN,...",
             "Draw a line for each value of this column, or for each combination of values of several: the first has "
             "colours, the others dashes and marks");
    add_text(*verb, "--facet", options->plot.facet, "COLUMN", "Draw a panel for each value of this column");
    add_repeated(*verb, "--where", options->plot.where, "EXPR",
                 "Keep only points that satisfy the condition: bandwidth = '25 Gbps'");
    add_text(*verb, "--study", options->study, "NAME", "Keep only points of this study");
    verb->add_option_function<std::string>(
            "--log",
            [options](const std::string& axes) {
                options->plot.log_x = axes != "y";
                options->plot.log_y = axes != "x";
            },
            "Logarithmic axes")
        ->option_text("x|y|xy")
        ->check([](const std::string& axes) {
            return axes == "x" || axes == "y" || axes == "xy" ? "" : "'" + axes + "' is not x, y or xy";
        });
    add_text(*verb, "--xlabel", options->plot.x_label, "TEXT",
             "Label of the horizontal axis, which its unit follows (default: the name in --x)");
    add_text(*verb, "--ylabel", options->plot.y_label, "TEXT",
             "Label of the vertical axis, which its unit follows (default: the name in --y)");
    add_text(*verb, "--title", options->plot.title, "TEXT",
             "Title (default: what is drawn; then the study's name and --where)");
    add_length(*verb, "--width", options->plot.width_px,
               "Width in px, pt, mm, cm or in; a column of a paper has 8.5cm (default: 960px, 96 to the inch)");
    add_length(*verb, "--height", options->plot.height_px,
               "Height, in the same units (default: as width and legend need it)");
    add_text(*verb, "--out", options->file, "FILE", "Output file, .svg, .pdf or .png (default: SVG to standard output)")
        ->check([](const std::string& file) {
            const std::string kind = std::filesystem::path(file).extension();
            return kind == ".svg" || kind == ".png" || kind == ".pdf"
                       ? ""
                       : "'" + file + "' ends in none of .svg, .pdf and .png";
        });
    verb->callback([options, &action] { action = [options] { plot(*options); }; });
}

}  // namespace syncline::cli
