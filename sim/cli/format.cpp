#include <map>

#include "sim/cli/table_options.hpp"
#include "sim/cli/typed_words.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/explore/exploration.hpp"
#include "sim/output/explanation_output.hpp"
#include "sim/output/writers.hpp"
#include "sim/output/written_files.hpp"
#include "sim/validation/validation_text.hpp"

namespace syncline::cli {

void add_format(CLI::App& verb, Format& format) {
    static const std::map<std::string, Format> formats{
        {"table", Format::table}, {"json", Format::json}, {"csv", Format::csv}};
    verb.add_option_function<std::string>(
            "--format", [&format](const std::string& word) { format = formats.at(word); },
            "Output format: table (default), json or csv")
        ->check(one_of({"table", "json", "csv"}))
        ->option_text("table|json|csv");
}

void add_out(CLI::App& verb, std::string& directory, const std::string& description) {
    verb.add_option("--out", directory, description)->option_text("DIR")->check([](const std::string& given) {
        return given.empty() ? "is empty" : "";
    });
}

template <class Result>
void write_result(const Result& result, Format format, const std::string& directory, const std::string& stem,
                  const TableOptions& tables) {
    const std::string json = to_json(result), csv = to_csv(result);
    if (!directory.empty()) {
        const std::filesystem::path base = std::filesystem::path(directory) / stem;
        write_file(base.string() + ".json", json);
        write_file(base.string() + ".csv", csv);
        write_file(base.string() + ".txt", to_table(result, tables.in_files()));
    }
    write_stdout(format == Format::json ? json : format == Format::csv ? csv : to_table(result, tables.on_stdout()));
}

template void write_result(const Report&, Format, const std::string&, const std::string&, const TableOptions&);
template void write_result(const SweepReport&, Format, const std::string&, const std::string&, const TableOptions&);
template void write_result(const SweepResult&, Format, const std::string&, const std::string&, const TableOptions&);
template void write_result(const ExplainReport&, Format, const std::string&, const std::string&, const TableOptions&);
template void write_result(const DryRunReport&, Format, const std::string&, const std::string&, const TableOptions&);
template void write_result(const LayerTable&, Format, const std::string&, const std::string&, const TableOptions&);
template void write_result(const CollectiveResult&, Format, const std::string&, const std::string&,
                           const TableOptions&);
template void write_result(const batch::Exploration&, Format, const std::string&, const std::string&,
                           const TableOptions&);
template void write_result(const validation::Points&, Format, const std::string&, const std::string&,
                           const TableOptions&);
template void write_result(const validation::RowNames&, Format, const std::string&, const std::string&,
                           const TableOptions&);
template void write_result(const validation::Fitted&, Format, const std::string&, const std::string&,
                           const TableOptions&);

}  // namespace syncline::cli
