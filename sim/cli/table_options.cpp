#include "sim/cli/table_options.hpp"

#include <unistd.h>

#include <filesystem>
#include <stdexcept>

#include "sim/cli/guard.hpp"
#include "sim/cli/terminal.hpp"
#include "sim/output/written_files.hpp"

namespace syncline::cli {

text::TableLayout TableOptions::on_stdout() const {
    return {wide ? 0 : width_of(STDOUT_FILENO), columns, columns.empty() && shows_bars()};
}

text::TableLayout TableOptions::in_files() const {
    return {wide ? 0 : text::TableLayout{}.width, columns};
}

void TableOptions::check(const std::vector<text::Column>& known, Format format) const {
    if (columns.empty()) return;
    if (format != Format::table)
        throw UsageError("--columns chooses the columns of a table; CSV and JSON have all fields");
    try {
        require_columns(known, columns);
    } catch (const std::invalid_argument& error) {
        throw UsageError(std::string("--columns: ") + error.what());
    }
}

void add_wide(CLI::App& verb, TableOptions& options) {
    verb.add_flag("--wide", options.wide,
                  "Print each table as one, however wide (default: as wide as the terminal, or 80 characters)");
}

CLI::Option* add_columns(CLI::App& verb, TableOptions& options) {
    return verb
        .add_option("--columns", options.columns,
                    "Columns of the table, by heading or by the field's name in JSON (default: those that say "
                    "something)")
        ->option_text("NAME,...")
        ->delimiter(',')
        ->allow_extra_args(false);
}

void write_formatted(const Formatted& result, Format format, const std::string& directory, const std::string& stem,
                     const TableOptions& tables) {
    if (!directory.empty()) {
        const std::filesystem::path base = std::filesystem::path(directory) / stem;
        write_file(base.string() + ".json", result.json);
        write_file(base.string() + ".csv", result.csv);
        write_file(base.string() + ".txt", result.table(tables.in_files()));
    }
    if (format == Format::table) return write_table(result.table(tables.on_stdout()));
    write_stdout(format == Format::json ? result.json : result.csv);
}

}  // namespace syncline::cli
