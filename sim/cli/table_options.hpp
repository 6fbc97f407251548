#pragma once

#include <CLI/CLI.hpp>

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

}  // namespace syncline::cli
