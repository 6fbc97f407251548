#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

#include "sim/cli/verbs.hpp"
#include "sim/output/columns.hpp"

/// The options of verbs that print tables.
namespace syncline::cli {

struct TableOptions {
    std::vector<std::string> columns = {};
    bool wide = false;

    /// Return the layout of tables on standard output and in files.
    text::TableLayout on_stdout() const;
    text::TableLayout in_files() const;

    /// Throws UsageError unless `known` has all chosen columns, and if there are some although `format` has no tables.
    void check(const std::vector<text::Column>& known, Format format) const;
};

/// Adds the option `--wide`.
void add_wide(CLI::App& verb, TableOptions& options);
/// Adds the option `--columns NAME,...`.
CLI::Option* add_columns(CLI::App& verb, TableOptions& options);

/// A result in all formats.
struct Formatted {
    std::string json, csv;
    std::function<std::string(const text::TableLayout&)> table;
};

/// Writes `result` in the given format to standard output and, if `directory` is not empty, to STEM.json, STEM.csv and
/// STEM.txt in it.
void write_formatted(const Formatted& result, Format format, const std::string& directory, const std::string& stem,
                     const TableOptions& tables);

/// Does the same with a result for which there are to_json(), to_csv() and to_table().
template <class Result>
void write_result(const Result& result, Format format, const std::string& directory, const std::string& stem,
                  const TableOptions& tables) {
    const auto table = [&](const text::TableLayout& layout) { return to_table(result, layout); };
    write_formatted({to_json(result), to_csv(result), table}, format, directory, stem, tables);
}

}  // namespace syncline::cli
