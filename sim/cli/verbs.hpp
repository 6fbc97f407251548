#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/config/file_kinds.hpp"

/// The verbs of the command line. Each function adds a verb and its options to the program; parsing the verb stores
/// what it does in `action`.
namespace syncline::cli {

using Action = std::function<void()>;

void add_run(CLI::App& program, Action& action);
void add_plan(CLI::App& program, Action& action);
void add_workload(CLI::App& program, Action& action);
void add_import(CLI::App& program, Action& action);
void add_check(CLI::App& program, Action& action);
void add_collective(CLI::App& program, Action& action);
void add_topology(CLI::App& program, Action& action);
void add_batch(CLI::App& program, Action& action);
void add_explore(CLI::App& program, Action& action);
void add_explain(CLI::App& program, Action& action);
void add_export(CLI::App& program, Action& action);
void add_results(CLI::App& program, Action& action);
void add_plot(CLI::App& program, Action& action);
void add_lesson(CLI::App& program, Action& action);
void add_serve(CLI::App& program, Action& action);
void add_validate(CLI::App& program, Action& action);
void add_calibrate(CLI::App& program, Action& action);
void add_list(CLI::App& program, Action& action);
void add_where(CLI::App& program, Action& action);
void add_schema(CLI::App& program, Action& action);
/// The script is made of the verbs that the program has when it runs.
void add_completion(CLI::App& program, Action& action);

/// Adds a verb, whose help shows a command as an example.
CLI::App* add_verb(CLI::App& program, const std::string& name, const std::string& example,
                   const std::string& description);

/// Puts the description of a key where the description of an option, of any verb that is added later, refers to it:
/// `{key scenario.training.ranks}`, with the kind of file first. The schemas are made only when help is printed.
/// Must be called before add_verb().
void describe_keys(CLI::App& program);

enum class Format { table, json, csv };

/// Adds the option `--format table|json|csv`.
void add_format(CLI::App& verb, Format& format);

/// Adds an option `--KEY VALUE` whose value is stored as text in `arguments`, which must outlive the parsing: the field
/// tables check it with the same messages as for files. `shown` is the placeholder of the value in the help, and
/// `description` may refer to keys.
CLI::Option* add_argument(CLI::App& verb, const std::string& key, const std::string& shown,
                          const std::string& description, std::vector<config::Argument>& arguments);

/// Adds the option `--out DIR`.
void add_out(CLI::App& verb, std::string& directory, const std::string& description);

/// Adds an option that may be repeated, once for each value; `shown` is the placeholder of a value.
CLI::Option* add_repeated(CLI::App& verb, const std::string& name, std::vector<std::string>& values,
                          const std::string& shown, const std::string& description);

/// Adds the option `--set KEY.PATH=VALUE`, which may be repeated.
void add_set(CLI::App& verb, std::vector<std::string>& assignments, const std::string& description);

/// Adds the option `--variant NAME`, which may be repeated.
void add_variant(CLI::App& verb, std::vector<std::string>& names);

/// Adds the option `--seed N`.
void add_seed(CLI::App& verb, std::uint64_t& seed);

/// Throws UsageError if the output file `out`, which may be empty, is the input file.
void refuse_same_file(const std::string& out, const std::string& input);

}  // namespace syncline::cli
