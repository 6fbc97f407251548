#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/config/files.hpp"

/// One verb of the command line each: adds its options to the program; when it is chosen, what it does is put into
/// `action`.
namespace syncline::cli {

using Action = std::function<void()>;

void add_run(CLI::App& program, Action& action);
void add_workload(CLI::App& program, Action& action);
void add_check(CLI::App& program, Action& action);
void add_collective(CLI::App& program, Action& action);
void add_topology(CLI::App& program, Action& action);
void add_batch(CLI::App& program, Action& action);
void add_explore(CLI::App& program, Action& action);
void add_explain(CLI::App& program, Action& action);
void add_results(CLI::App& program, Action& action);
void add_plot(CLI::App& program, Action& action);
void add_lesson(CLI::App& program, Action& action);
void add_validate(CLI::App& program, Action& action);
void add_calibrate(CLI::App& program, Action& action);
void add_schema(CLI::App& program, Action& action);

enum class Format { table, json, csv };

/// The option `--format table|json|csv`.
void add_format(CLI::App& verb, Format& format);

/// An option `--KEY VALUE` whose value stays text, put into `arguments` (which outlives the parsing): the field tables
/// check it, with the same messages as for files. `shown` stands for the value in the help.
CLI::Option* add_argument(CLI::App& verb, const std::string& key, const std::string& shown,
                          const std::string& description, std::vector<config::Argument>& arguments);

/// The option `--out DIR`.
void add_out(CLI::App& verb, std::string& directory, const std::string& description);

/// The option `--seed N`.
void add_seed(CLI::App& verb, std::uint64_t& seed);

/// Writes `result` as `format` wants it to standard output and, if `directory` is not empty, as STEM.json, STEM.csv and
/// STEM.txt into it.
template <class Result>
void write_result(const Result& result, Format format, const std::string& directory, const std::string& stem);

}  // namespace syncline::cli
