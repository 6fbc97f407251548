#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/utf8.hpp"
#include "sim/execution/task_dag.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_readers.hpp"

namespace syncline {

namespace {

using Json = nlohmann::json;

/// A tree of JSON takes twenty times the text.
constexpr std::size_t largest_workflow = 16 << 20;

const Json& member(const Json& object, const char* name) {
    static const Json none;
    return object.is_object() && object.contains(name) ? object[name] : none;
}

/// Returns the first of the members that is a text, empty if none is.
std::string text_of(const Json& object, std::initializer_list<const char*> names) {
    for (const char* const name : names)
        if (member(object, name).is_string()) return member(object, name).get<std::string>();
    return {};
}

/// Returns the first of the members that is a number, nothing if none is.
std::optional<double> number_of(const Json& object, std::initializer_list<const char*> names) {
    for (const char* const name : names) {
        const Json& value = member(object, name);
        if (!value.is_number()) continue;
        const double number = value.get<double>();
        if (!(number >= 0) || number > 9e18) throw TraceError(fmt::format("a {} must be from 0 to 9e18", name));
        return number;
    }
    return std::nullopt;
}

/// Reads the tasks of WfCommons, in the form of its version 1.5 and in the earlier one that SimGrid reads.
class WfReader {
public:
    WfReader(const Json& workflow, TraceBuilder& builder, TaskDag& dag)
        : workflow_(workflow), builder_(builder), dag_(dag) {}

    void read() {
        const Json& specification = member(workflow_, "specification");
        const Json& tasks = member(specification.is_object() ? specification : workflow_, "tasks");
        if (!tasks.is_array()) throw TraceError("it has no list of tasks in \"workflow\"");
        for (const Json& file : member(specification, "files")) sizes_[text_of(file, {"id", "name"})] = bytes_of(file);
        for (const Json& run : member(member(workflow_, "execution"), "tasks"))
            if (const auto seconds = number_of(run, {"runtimeInSeconds"})) seconds_[text_of(run, {"id"})] = *seconds;
        for (const Json& task : tasks) add(task);
        for (const auto& [from, to] : families_) {
            const auto task = dag_.find(from);
            if (!task) throw TraceError(fmt::format("there is no task '{}'", printable(from.substr(0, 100))));
            dag_.connect(*task, to, 0);
        }
        for (const auto& [file, readers] : readers_) {
            const auto writer = writers_.find(file);
            if (writer == writers_.end()) builder_.note("files that no task writes are there at the start");
            if (writer == writers_.end()) continue;
            for (const std::uint32_t to : readers)
                if (to != writer->second) dag_.connect(writer->second, to, sizes_[file]);
        }
    }

private:
    static std::uint64_t bytes_of(const Json& object) {
        const auto bytes = number_of(object, {"sizeInBytes", "size", "writtenBytes", "bytesWritten"});
        return static_cast<std::uint64_t>(std::llround(bytes.value_or(0)));
    }

    void add(const Json& task) {
        const std::string id = text_of(task, {"id", "name"});
        if (id.empty()) throw TraceError("a task has neither an id nor a name");
        const std::string type = text_of(task, {"type"});
        const bool transfers = type == "transfer";
        if (!transfers && !type.empty() && type != "compute")
            builder_.note(fmt::format("tasks of type '{}' compute", printable(type.substr(0, 40))));
        auto seconds = number_of(task, {"runtimeInSeconds", "runtime"});
        if (const auto measured = seconds_.find(id); measured != seconds_.end()) seconds = measured->second;
        if (!seconds && !transfers) builder_.note("tasks without a run time take no time");
        const std::uint32_t number = dag_.add(id, 0, transfers ? 0 : seconds.value_or(0));
        if (transfers) dag_.make_transfer(number, bytes_of(task));
        if (const std::string machine = text_of(task, {"machine"}); !machine.empty()) dag_.set_machine(number, machine);
        for (const Json& parent : member(task, "parents"))
            if (parent.is_string()) families_.emplace_back(parent.get<std::string>(), number);
        for (const Json& file : member(task, "inputFiles"))
            if (file.is_string()) readers_[file.get<std::string>()].push_back(number);
        for (const Json& file : member(task, "outputFiles"))
            if (file.is_string()) writers_[file.get<std::string>()] = number;
        for (const Json& file : member(task, "files")) {
            const std::string name = text_of(file, {"id", "name"});
            sizes_[name] = bytes_of(file);
            if (text_of(file, {"link"}) == "input")
                readers_[name].push_back(number);
            else
                writers_[name] = number;
        }
    }

    const Json& workflow_;
    TraceBuilder& builder_;
    TaskDag& dag_;
    std::map<std::string, std::uint64_t> sizes_;
    std::map<std::string, double> seconds_;
    std::map<std::string, std::vector<std::uint32_t>> readers_;
    std::map<std::string, std::uint32_t> writers_;
    std::vector<std::pair<std::string, std::uint32_t>> families_;  ///< a parent's name, and its child
};

}  // namespace

void read_wfformat(const std::vector<std::string>& files, const TraceOptions& options, TraceBuilder& builder) {
    const std::string& name = only_trace_file(files);
    in_trace_file(name, [&] {
        const TraceFile file = read_trace_text(name);
        if (file.bytes.size() > largest_workflow)
            throw TraceError(fmt::format("it is larger than {} MiB", largest_workflow >> 20));
        Json tree;
        try {
            tree = Json::parse(file.bytes);
        } catch (const Json::parse_error& error) {
            refuse(file, error.byte == 0 ? 0 : error.byte - 1, "this is no JSON");
        }
        TaskDag dag(builder);
        WfReader(member(tree, "workflow"), builder, dag).read();
        dag.place(options);
    });
}

}  // namespace syncline
