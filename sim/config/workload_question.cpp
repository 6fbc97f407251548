#include "sim/config/assembly.hpp"
#include "sim/config/file_kinds.hpp"
#include "sim/config/keys.hpp"
#include "sim/lowering/feasibility.hpp"

namespace syncline::config {

WorkloadQuestion load_workload(const std::string& workload, const std::vector<Argument>& arguments) {
    Assembly assembly;
    WorkloadQuestion question;
    Node options = mapping_at({});
    bool complete = true;  // both files were read
    const auto part = [&](Node word, const char* what, auto& value) {
        Node document;
        assembly.attempt([&] {
            if (what == std::string("workload"))
                word = assembly.workload_in(word);
            else
                assembly.library.expand(word, {what});
            document = std::move(word);
        });
        if (document.kind == Node::Kind::null) return void(complete = false);
        assembly.read(document, what, [&](Fields& fields) {
            describe(fields, value);
            complete = complete && fields.sound();
        });
    };
    part(assembly.library.argument(workload), "workload", question.model);
    for (const Argument& argument : arguments) {
        Entry entry = option_entry(assembly.library, argument);
        if (argument.key == "device")
            part(std::move(entry.value), "device", question.device);
        else
            options.entries.push_back(std::move(entry));
    }
    assembly.read(options, "workload", [&](Fields& fields) {
        fields.integer({"batch", "Number of samples that the device processes together."}, question.batch, 1, 1 << 24);
        describe_compute(fields, question.compute);
        if (complete) report(fields, judge(question.compute, question.model, question.device));
    });
    assembly.finish();
    return question;
}

}  // namespace syncline::config
