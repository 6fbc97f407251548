#include <memory>

#include "sim/cli/table_options.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/config/file_kinds.hpp"
#include "sim/output/writers.hpp"
#include "sim/workload/layer_table.hpp"

namespace syncline::cli {

namespace {

struct WorkloadArguments {
    std::string workload;
    std::vector<config::Argument> arguments;
    Format format = Format::table;
    TableOptions tables;
    std::string directory;
};

void workload(const WorkloadArguments& options) {
    const config::WorkloadQuestion question = config::load_workload(options.workload, options.arguments);
    options.tables.check(table_columns(LayerTable{}), options.format);
    write_result(layer_table(question.model, question.device, question.batch, question.compute), options.format,
                 options.directory, "workload", options.tables);
}

}  // namespace

void add_workload(CLI::App& program, Action& action) {
    CLI::App* verb = add_verb(program, "workload", "syncline workload vgg-16 --device v100-sxm2 --batch 32",
                              "Print the parameters, operations and time of each layer of a model on a device");
    const auto options = std::make_shared<WorkloadArguments>();
    verb->add_option("NAME|FILE", options->workload,
                     "Workload file, a model's config.json, or the name of one in workloads/ (alexnet-tf)")
        ->required();
    const auto add = [&](const std::string& key, const std::string& shown, const std::string& description) {
        return add_argument(*verb, key, shown, description, options->arguments);
    };
    add("device", "NAME|FILE", "Device file, or the name of one in platforms/devices/ (required)")->required();
    add("batch", "N", "Number of samples per batch (required)")->required();
    add("compute", "KIND", "{key scenario.training.compute}");
    add_format(*verb, options->format);
    add_wide(*verb, options->tables);
    add_columns(*verb, options->tables);
    add_out(*verb, options->directory, "Also write the table to DIR as workload.json, .csv and .txt");
    verb->callback([options, &action] { action = [options] { workload(*options); }; });
}

}  // namespace syncline::cli
