#include <memory>

#include "sim/cli/verbs.hpp"
#include "sim/config/files.hpp"
#include "sim/workload/layer_table.hpp"

namespace syncline::cli {

namespace {

struct Options {
    std::string workload;
    std::vector<config::Argument> arguments;
    Format format = Format::table;
    std::string directory;
};

void workload(const Options& options) {
    const config::WorkloadQuestion question = config::load_workload(options.workload, options.arguments);
    write_result(layer_table(question.model, question.device, question.batch, question.compute), options.format,
                 options.directory, "workload");
}

}  // namespace

void add_workload(CLI::App& program, Action& action) {
    CLI::App* verb = program.add_subcommand("workload", "Print what each layer of a model is, and takes on a device");
    const auto options = std::make_shared<Options>();
    verb->add_option("NAME|FILE", options->workload, "a workload file, or the name of one in workloads/ (alexnet-tf)")
        ->required();
    const auto add = [&](const std::string& key, const std::string& shown, const std::string& description) {
        return add_argument(*verb, key, shown, description, options->arguments);
    };
    add("device", "NAME|FILE", "a device file, or the name of one in platforms/devices/ (required)")->required();
    add("batch", "N", "samples that the device computes at once (required)")->required();
    add("compute", "KIND", "calibrated (default), roofline, im2col, efficiency or measured");
    add_format(*verb, options->format);
    add_out(*verb, options->directory, "also write workload.json, .csv and .txt into DIR");
    verb->callback([options, &action] { action = [options] { workload(*options); }; });
}

}  // namespace syncline::cli
