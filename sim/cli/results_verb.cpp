#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <tuple>

#include "sim/cli/guard.hpp"
#include "sim/cli/report_option.hpp"
#include "sim/cli/table_options.hpp"
#include "sim/cli/typed_words.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/output/written_files.hpp"
#include "sim/query/derived.hpp"
#include "sim/query/row_text.hpp"
#include "sim/query/table.hpp"
#include "sim/report/report.hpp"
#include "sim/store/store.hpp"

namespace syncline::cli {

namespace {

struct ResultsArguments {
    std::string directory, study, sort, group, columns, report;
    std::optional<std::string> format;  ///< by default a table, or nothing beside a report
    std::vector<std::string> where;
    std::optional<std::size_t> limit;
    TableOptions tables;
};

/// Runs `work` on the text of `option`, so that an error in the SQL names the option.
template <class Work>
auto of_option(const std::string& option, const std::string& text, const Work& work) {
    try {
        return work();
    } catch (const batch::SqlError& error) {
        throw batch::located(error, {option, 1, 1, text});
    }
}

std::vector<std::string> list(const std::string& option, const std::string& text) {
    if (text.empty()) return {};
    return of_option(option, text, [&] { return batch::split_list(text); });
}

/// Runs each part separately, so that an error names the option it comes from: on zero rows with the condition "0", on
/// all of them with "1", for errors of values.
void check(batch::Table& table, const batch::Query& query, const ResultsArguments& options, const std::string& rows) {
    const auto selects = [&](const batch::Query& part, const std::string& option, const std::string& text) {
        of_option(option, text, [&] { table.select(part); });
    };
    for (const std::string& condition : query.where)
        selects({{rows, condition}, {}, {}, {"point"}}, "--where", condition);
    if (!query.columns.empty()) selects({{rows}, {}, {}, query.columns}, "--columns", options.columns);
    if (!query.group.empty()) selects({{rows}, {}, query.group, {"point"}}, "--group", options.group);
    batch::Query sorted = query;
    sorted.where = {rows};
    selects(sorted, "--sort", options.sort);
}

std::string lines_of(batch::Store& store, const std::string& study, const batch::Rows& points) {
    std::map<std::tuple<std::string, std::int64_t, std::int64_t>, std::string> lines;
    for (batch::PointLine& line : batch::point_lines(store, study))
        lines.emplace(std::tuple{line.study, line.number, line.repeat}, std::move(line.json));
    std::string text;
    for (const std::vector<batch::Value>& row : points.rows)
        text +=
            lines.at({std::get<std::string>(row[0]), std::get<std::int64_t>(row[1]), std::get<std::int64_t>(row[2])});
    return text;
}

/// Returns the study's name or, without one, the directory's.
std::string title_of(const ResultsArguments& options) {
    if (!options.study.empty()) return options.study;
    const std::filesystem::path directory = std::filesystem::weakly_canonical(options.directory);
    return (directory.filename().empty() ? directory.parent_path() : directory).filename().string();
}

/// Selects what a page shows: the columns of a table, whose number is in `listed`, and every other result, for charts.
batch::Rows with_all_figures(batch::Table& table, batch::Query query, std::size_t& listed) {
    batch::Rows rows = table.select(query);
    listed = rows.columns.size();
    constexpr std::size_t most_values = 200'000;  // 3 MB of a page
    if (!query.columns.empty() || !query.group.empty() || rows.rows.size() * table.columns().size() > most_values)
        return rows;
    query.columns = rows.columns;
    const std::vector<std::string>& settings = table.settings();
    for (const std::string& column : table.columns()) {
        const auto has = [&](const std::vector<std::string>& names) {
            return std::find(names.begin(), names.end(), column) != names.end();
        };
        if (!has(query.columns) && !has(settings)) query.columns.push_back(column);
    }
    return table.select(query);
}

void show(const ResultsArguments& options) {
    const std::string format = options.format.value_or("table");
    batch::Store store(options.directory, batch::Store::Mode::read);
    batch::Table table(store, options.study);
    batch::Query query{options.where, list("--sort", options.sort), list("--group", options.group),
                       list("--columns", options.columns)};
    check(table, query, options, "0");
    const batch::Query for_people = query;
    const bool whole_lines = format == "jsonl" && query.columns.empty() && query.group.empty();
    if (whole_lines)
        query.columns = {"study", "point", "repeat"};
    else if (query.columns.empty() && query.group.empty() && format != "table")
        query.columns = table.columns();
    batch::Rows rows, shown;
    std::size_t listed = 0;
    try {
        rows = table.select(query);
        if (!options.report.empty()) shown = with_all_figures(table, for_people, listed);
    } catch (const batch::SqlError& error) {
        check(table, for_people, options, "1");
        throw batch::located(error, {"--where", 1, 1, ""});
    }
    if (rows.rows.empty()) say("no points in {} match\n", store.file().string());
    if (options.limit && *options.limit < rows.rows.size()) rows.rows.resize(*options.limit);
    if (!options.report.empty()) {
        shown.rows.resize(rows.rows.size());
        write_file(options.report, report_page(title_of(options), table, shown, listed));
        say("{}: a report of {} rows\n", options.report, shown.rows.size());
        if (!options.format) return;
    }
    write_stdout(whole_lines         ? lines_of(store, options.study, rows)
                 : format == "csv"   ? batch::to_csv(rows)
                 : format == "json"  ? batch::to_json(rows)
                 : format == "jsonl" ? batch::to_json_lines(rows)
                                     : batch::to_table(rows, options.tables.on_stdout()));
}

struct MergeArguments {
    std::vector<std::string> from;
    std::string to;
    bool partial = false;
};

void merge(const MergeArguments& options) {
    const std::string& to = options.to;
    const std::vector<std::string> missing =
        batch::merge_stores({options.from.begin(), options.from.end()}, to, options.partial);
    if (!missing.empty() && !options.partial)
        throw Failed(
            fmt::format("{}; nothing has been written\n  hint: name the directories of all shards, or merge what is "
                        "there with --partial",
                        fmt::join(missing, "; ")));
    for (const std::string& one : missing) say("note: {}\n", one);
    batch::Store merged(to, batch::Store::Mode::read);
    batch::write_derived(merged);
    const std::string count =
        "SELECT count(*), count(CASE runs.status WHEN 'done' THEN 1 END) FROM points JOIN runs USING (run_id)";
    batch::Statement counted = merged.database().prepare(count);
    counted.step();
    say("{}: {} points from {} directories, {} done\n", merged.file().string(), counted.integer(0), options.from.size(),
        counted.integer(1));
}

void add_merge(CLI::App& results, Action& action) {
    CLI::App* verb =
        add_verb(results, "merge", "syncline results merge shards/shard-1-of-2 shards/shard-2-of-2 --out merged",
                 "Merge several result directories");
    const auto options = std::make_shared<MergeArguments>();
    verb->add_option("DIR", options->from,
                     "Batch directories (or their results.db), for example the shards of one study")
        ->required();
    verb->add_option("-o,--out", options->to, "New directory of the merged results")->option_text("DIR")->required();
    verb->add_flag("--partial", options->partial, "Merge although shards of a study are missing");
    verb->callback([options, &action] { action = [options] { merge(*options); }; });
}

}  // namespace

void add_results(CLI::App& program, Action& action) {
    CLI::App* verb =
        add_verb(program, "results", "syncline results stored --where 'ranks > 8' --sort 'throughput desc'",
                 "Show, filter, sort and group the results of a batch");
    const auto options = std::make_shared<ResultsArguments>();
    verb->add_option("DIR", options->directory,
                     "Results directory of `syncline batch` (write ./merge for a directory named merge)");
    add_repeated(*verb, "--where", options->where, "EXPR",
                 "Keep only points that satisfy the SQL condition: \"ranks > 8 and algorithm = 'ring'\", \"bandwidth "
                 ">= '25 Gbps'\", \"status = 'failed'\"; repeated conditions are combined with AND");
    verb->add_option("--sort", options->sort,
                     "Sort by these expressions, each optionally with desc: \"ranks, throughput desc\"")
        ->option_text("EXPR,...");
    verb->add_option(
            "--group", options->group,
            "Show one row for each combination of these columns: number of points, and mean, minimum, maximum and "
            "standard deviation of --columns")
        ->option_text("COLUMN,...");
    verb->add_option(
            "--columns", options->columns,
            "Columns or expressions to show (default: varying settings and main results in a table, all columns in "
            "other formats)")
        ->option_text("EXPR,...");
    verb->add_option("--study", options->study, "Keep only points of this study")->option_text("NAME");
    verb->add_option("--limit", options->limit, "Maximum number of rows")
        ->option_text("N")
        ->check([](const std::string& text) {
            const bool whole = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
            return whole ? "" : fmt::format("'{}' is not a whole number from 0", text);
        });
    verb->add_option("--format", options->format, "Output format (default: table)")
        ->option_text("table|json|csv|jsonl")
        ->check(one_of({"table", "json", "csv", "jsonl"}));
    add_wide(*verb, options->tables);
    add_report(*verb, options->report,
               "Write the selected points as a single HTML page with charts; print them only with --format");
    add_merge(*verb, action);
    verb->callback([verb, options, &action] {
        if (!verb->get_subcommands().empty()) return;
        if (options->directory.empty()) throw CLI::RequiredError("DIR");
        action = [options] { show(*options); };
    });
}

}  // namespace syncline::cli
