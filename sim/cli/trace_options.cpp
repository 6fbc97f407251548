#include "sim/cli/trace_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string_view>

#include "sim/base/diagnostics.hpp"
#include "sim/base/number.hpp"
#include "sim/base/units.hpp"
#include "sim/cli/typed_words.hpp"
#include "sim/output/written_files.hpp"
#include "sim/trace/chrome_trace.hpp"
#include "sim/trace/paje_trace.hpp"
#include "sim/trace/stage_picture.hpp"

namespace syncline::cli {

namespace {

const std::map<std::string, TraceFormat> trace_formats{
    {"chrome", TraceFormat::chrome}, {"paje", TraceFormat::paje}, {"svg", TraceFormat::svg}};

struct BadText : std::runtime_error {
    using std::runtime_error::runtime_error;
};

std::uint32_t parse_rank(std::string_view text, const std::string& all) {
    const auto rank = number_in<std::uint32_t>(text);
    constexpr std::uint32_t most = 10'000'000;
    if (!rank || *rank > most)
        throw BadText(fmt::format("'{}' in '{}' is not a rank; write for example 0,3-7 or 0-3,servers", text, all));
    return *rank;
}

/// Parses "0,3-7,servers".
void parse_ranks(const std::string& text, TraceLimits& limits) {
    limits.ranks.emplace();
    limits.servers = false;
    for (std::size_t start = 0; start <= text.size();) {
        const std::size_t end = std::min(text.find(',', start), text.size());
        const std::string_view part = std::string_view(text).substr(start, end - start);
        start = end + 1;
        if (part == "servers") {
            limits.servers = true;
            continue;
        }
        const std::size_t dash = std::min(part.find('-'), part.size());
        const std::uint32_t first = parse_rank(part.substr(0, dash), text);
        const std::uint32_t last = dash < part.size() ? parse_rank(part.substr(dash + 1), text) : first;
        if (last < first) throw BadText(fmt::format("the range '{}' in '{}' is descending", part, text));
        for (std::uint32_t rank = first; rank <= last; ++rank) limits.ranks->push_back(rank);
    }
    std::ranges::sort(*limits.ranks);
    limits.ranks->erase(std::unique(limits.ranks->begin(), limits.ranks->end()), limits.ranks->end());
}

double parse_moment(const std::string& text) {
    const Quantity time = parse_quantity(text, Dimension::seconds);
    if (!time.value) throw BadText(fmt::format("'{}': {}; {}", text, time.error, time.hint));
    return *time.value;
}

/// Parses "0ms..20ms".
void parse_time(const std::string& text, TraceLimits& limits) {
    const std::size_t dots = text.find("..");
    if (dots == std::string::npos)
        throw BadText(fmt::format("'{}' is not a time range; write for example 0ms..20ms", text));
    const Interval time{parse_moment(text.substr(0, dots)), parse_moment(text.substr(dots + 2))};
    if (time.end_s <= time.start_s) throw BadText(fmt::format("the time range '{}' ends before it begins", text));
    limits.time = time;
}

/// Adds an option that is parsed into `limits`.
CLI::Option* add_limit(CLI::App& verb, const std::string& name, const std::string& shown,
                       const std::string& description, TraceLimits& limits,
                       void (*parse)(const std::string&, TraceLimits&)) {
    return verb
        .add_option_function<std::string>(
            name, [&limits, parse](const std::string& text) { parse(text, limits); }, description)
        ->option_text(shown)
        ->check([parse](const std::string& text) -> std::string {
            try {
                TraceLimits unused;
                parse(text, unused);
            } catch (const BadText& bad) {
                return bad.what();
            }
            return {};
        });
}

void parse_level(const std::string& text, TraceLimits& limits) {
    static const std::map<std::string, TraceLevel> levels{
        {"tasks", TraceLevel::tasks}, {"acts", TraceLevel::acts}, {"messages", TraceLevel::messages}};
    const auto found = levels.find(text);
    if (found == levels.end()) throw BadText(fmt::format("'{}' is not tasks, acts or messages", text));
    limits.level = found->second;
}

/// Replaces the characters of a user's name that do not belong in a file name.
std::string file_part(std::string text) {
    for (char& c : text) {
        const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!plain && c != '.' && c != '-' && c != '_') c = '-';
    }
    return text;
}

void require_ranks(const config::Scenario& scenario, const TraceOptions& options) {
    if (!options.limits.ranks || options.limits.ranks->empty()) return;
    const std::uint32_t last = options.limits.ranks->back();
    std::int64_t most = 0;
    for (const config::Variant& variant : scenario.variants)
        most = std::max(most, variant.trace  ? variant.trace->ranks()
                              : variant.jobs ? variant.jobs->ranks()
                                             : variant.plan.ranks);
    if (last >= most)
        throw ConfigError({{{"--trace-ranks", 1, 1, ""},
                            fmt::format("no variant has rank {}", last),
                            fmt::format("the ranks are 0 to {}", most - 1)}});
}

}  // namespace

CLI::Option* add_trace_options(CLI::App& verb, TraceOptions& options) {
    CLI::Option* const trace =
        verb.add_option_function<std::string>(
                "--trace", [&options](const std::string& text) { options.format = trace_formats.at(text); },
                "Write the timeline of the measured iteration: svg (a picture of the stages with numbered "
                "microbatches), "
                "chrome (for Perfetto and chrome://tracing) or paje (for pj_dump and ViTE); recording messages for the "
                "last two disables folding")
            ->option_text("svg|chrome|paje")
            ->check(one_of({"svg", "chrome", "paje"}));
    verb.add_option("--trace-file", options.file,
                    "Timeline file (default: SCENARIO-VARIANT.svg, .trace.json or .paje, in the directory of --out); "
                    "with several "
                    "variants, the variant's name is added")
        ->option_text("FILE")
        ->check(not_empty)
        ->needs(trace);
    add_limit(verb, "--trace-ranks", "RANKS", "Ranks and servers to draw: 0,3-7 or 0-3,servers (default: all)",
              options.limits, parse_ranks)
        ->needs(trace);
    add_limit(verb, "--trace-time", "FROM..TO",
              "Time range to draw, relative to the start of the measured iteration: 0ms..20ms (default: the whole "
              "iteration)",
              options.limits, parse_time)
        ->needs(trace);
    add_limit(verb, "--trace-level", "tasks|acts|messages",
              "Level of detail: tasks; acts, which adds the streams' activities within exchanges; messages (default), "
              "which adds messages and link utilisation",
              options.limits, parse_level)
        ->needs(trace);
    return trace;
}

std::vector<std::filesystem::path> trace_files(const config::Scenario& scenario, const TraceOptions& options,
                                               const std::string& directory) {
    if (scenario.variants.front().collective)
        throw ConfigError({{{"--trace", 1, 1, ""},
                            "a collective operation has no timeline",
                            "use a training scenario, with `workload` and `training`"}});
    if (scenario.variants.front().trace && options.format == TraceFormat::svg)
        throw ConfigError({{{"--trace", 1, 1, "svg"},
                            "an execution trace has no stages to draw",
                            "use `--trace chrome` or `paje`, or a report"}});
    require_ranks(scenario, options);
    const bool several = scenario.variants.size() > 1;
    std::filesystem::path base = options.file;
    std::string extension = base.extension();
    if (base.empty()) {
        base = (std::filesystem::path(directory) / file_part(scenario.name)).lexically_normal();
        extension = options.format == TraceFormat::paje  ? ".paje"
                    : options.format == TraceFormat::svg ? ".svg"
                                                         : ".trace.json";
    } else {
        base.replace_extension();
    }
    std::vector<std::filesystem::path> files;
    for (const config::Variant& variant : scenario.variants) {
        const std::string stem = several ? base.string() + "-" + file_part(variant.name) : base.string();
        std::filesystem::path file = stem + extension;
        // Different names may give the same file name.
        for (int copy = 2; std::ranges::count(files, file) > 0; ++copy)
            file = fmt::format("{}-{}{}", stem, copy, extension);
        files.push_back(std::move(file));
    }
    return files;
}

void write_trace(const TimelineView& view, const Lowered* training, const TraceOptions& options,
                 const std::filesystem::path& file, const std::string& title, const std::string& reason) {
    std::vector<std::string> account;
    write_file(file, [&](const Sink& sink) {
        account = options.format == TraceFormat::svg ? write_stage_picture(view, *training, options.limits, title, sink)
                  : options.format == TraceFormat::paje ? write_paje_trace(view, options.limits, title, sink)
                                                        : write_chrome_trace(view, options.limits, title, sink);
    });
    say("note: {}: {}\n", file.string(), fmt::join(account, "; "));
    if (view.timeline.trace.empty() && !options.only_tasks()) say("note: {}: {}\n", file.string(), reason);
}

}  // namespace syncline::cli
