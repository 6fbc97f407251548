#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sim/config/assembly.hpp"
#include "sim/config/compute.hpp"
#include "sim/config/files.hpp"

namespace syncline::config {

namespace {

namespace fs = std::filesystem;

/// The names of what is in `folder` that may be written bare.
std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error))
        if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

/// The file that `word` names, itself or as a bare name of one in `folder`. `what` it is to be is said where neither is
/// there.
Node load(Assembly& assembly, Node word, const char* what, const fs::path& folder) {
    std::error_code error;
    const std::string& name = word.scalar;
    const bool bare =
        !name.empty() && name.find('/') == std::string::npos && !name.ends_with(".yaml") && !name.ends_with(".yml");
    if (bare && !fs::is_regular_file(name, error)) {
        const fs::path file = folder / (name + ".yaml");
        if (!fs::exists(file, error)) {
            const std::vector<std::string> names = names_in(folder);
            const auto meant = closest(name, names);
            const std::string hint = names.empty()
                                         ? fmt::format("there is no folder {} here: name a file", folder.string())
                                         : fmt::format("{} has {}", folder.string(), fmt::join(names, ", "));
            throw ConfigError({{locate(word.mark), fmt::format("'{}' is neither a file nor a {}", name, what),
                                meant ? fmt::format("did you mean '{}'?", *meant) : hint}});
        }
        word.scalar = file.string();
    }
    assembly.library.expand(word);
    return word;
}

Node argument_node(Assembly& assembly, const std::string& argument) {
    Node node;
    node.kind = Node::Kind::scalar;
    node.mark = assembly.library.cite(argument, argument, "");
    node.scalar = argument;
    return node;
}

}  // namespace

WorkloadQuestion load_workload(const std::string& workload, const std::vector<Argument>& arguments) {
    Assembly assembly;
    WorkloadQuestion question;
    Node options;
    options.kind = Node::Kind::mapping;
    bool complete = true;  // both files were read
    const auto part = [&](Node word, const char* what, const fs::path& folder, auto& value) {
        Node document;
        assembly.attempt([&] { document = load(assembly, std::move(word), what, folder); });
        if (document.kind == Node::Kind::null) return void(complete = false);
        assembly.read(document, what, [&](Fields& fields) {
            describe(fields, value);
            complete = complete && fields.sound();
        });
    };
    part(argument_node(assembly, workload), "workload", "workloads", question.model);
    for (const Argument& argument : arguments) {
        Entry entry = option_entry(assembly.library, argument);
        if (argument.key == "device")
            part(std::move(entry.value), "device", "platforms/devices", question.device);
        else
            options.entries.push_back(std::move(entry));
    }
    assembly.read(options, "workload", [&](Fields& fields) {
        fields.integer({"batch", "Samples that the device computes at once."}, question.batch, 1, 1 << 24);
        describe_compute(fields, question.compute);
        if (complete) check_compute(fields, question.compute, question.model, question.device);
    });
    assembly.finish();
    return question;
}

}  // namespace syncline::config
