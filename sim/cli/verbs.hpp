#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <string>

/// One verb of the command line each: adds its options to the program; when it is chosen, what it does is put into
/// `action`.
namespace syncline::cli {

using Action = std::function<void()>;

void add_run(CLI::App& program, Action& action);
void add_workload(CLI::App& program, Action& action);
void add_check(CLI::App& program, Action& action);
void add_collective(CLI::App& program, Action& action);
void add_topology(CLI::App& program, Action& action);
void add_schema(CLI::App& program, Action& action);

enum class Format { table, json, csv };

/// The option `--format table|json|csv`.
void add_format(CLI::App& verb, Format& format);

/// The option `--seed N`.
void add_seed(CLI::App& verb, std::uint64_t& seed);

/// Writes `result` as `format` wants it to standard output and, if `directory` is not empty, as STEM.json, STEM.csv and
/// STEM.txt into it.
template <class Result>
void write_result(const Result& result, Format format, const std::string& directory, const std::string& stem);

}  // namespace syncline::cli
