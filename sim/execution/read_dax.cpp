#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "sim/base/number.hpp"
#include "sim/base/utf8.hpp"
#include "sim/base/xml_reader.hpp"
#include "sim/execution/task_dag.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_readers.hpp"

namespace syncline {

namespace {

/// Reads jobs, the files that they use, and whose children they are.
class DaxReader : public XmlHandler {
public:
    DaxReader(TraceBuilder& builder, TaskDag& dag) : builder_(builder), dag_(dag) {}

    void open(const XmlTag& tag) override {
        if (tag.name == "job") {
            job_ = dag_.add(need(tag, "id"), 0, number(tag, "runtime", 1e9));
            in_job_ = true;
        } else if (tag.name == "uses" && in_job_) {
            const auto bytes = static_cast<std::uint64_t>(number(tag, "size", 9e18));
            File& file = files_.try_emplace(need(tag, "file"), File{bytes, {}, {}}).first->second;
            if (file.bytes != bytes) builder_.note("a file's other sizes than its first are left out");
            (need(tag, "link") == "input" ? file.readers : file.writers).push_back(job_);
        } else if (tag.name == "child") {
            child_ = job_of(tag);
        } else if (tag.name == "parent") {
            families_.emplace_back(job_of(tag), child_);
        }
    }

    void close(std::string_view name, std::string_view) override {
        if (name == "job") in_job_ = false;
    }

    /// As SimGrid's loader does: what no job writes is handed on by 'root', which is before all jobs, and what none
    /// reads goes to 'end', which is after them.
    void finish() {
        const std::uint32_t end = dag_.add("end", 0, 0);
        dag_.put_first(end);
        for (auto& [name, file] : files_) {
            if (file.writers.empty()) file.writers = {root_};
            if (file.readers.empty()) file.readers = {end};
            for (const std::uint32_t from : file.writers)
                for (const std::uint32_t to : file.readers)
                    if (from != to) dag_.connect(from, to, file.bytes);
        }
        for (const auto& [parent, child] : families_) dag_.connect(parent, child, 0);
        dag_.put_at_begin(root_);
        dag_.put_at_end(end);
    }

private:
    struct File {
        std::uint64_t bytes = 0;
        std::vector<std::uint32_t> readers, writers;
    };

    static std::string need(const XmlTag& tag, std::string_view name) {
        auto value = tag.attribute(name);
        if (!value) throw XmlError(tag.place, fmt::format("<{}> has no {}", tag.name, name));
        return std::move(*value);
    }

    static double number(const XmlTag& tag, std::string_view name, double most) {
        const std::string text = need(tag, name);
        const auto number = number_in<double>(text);
        if (!number || !(*number >= 0) || *number > most)
            throw XmlError(tag.place, fmt::format("{} must be a number from 0 to {:g}, not '{}'", name, most,
                                                  printable(text.substr(0, 40))));
        return *number;
    }

    std::uint32_t job_of(const XmlTag& tag) const {
        const std::string name = need(tag, "ref");
        const auto job = dag_.find(name);
        if (!job) throw XmlError(tag.place, fmt::format("there is no job '{}' before", printable(name.substr(0, 40))));
        return *job;
    }

    TraceBuilder& builder_;
    TaskDag& dag_;
    const std::uint32_t root_ = dag_.add("root", 0, 0);
    std::uint32_t job_ = 0, child_ = 0;
    bool in_job_ = false;
    std::map<std::string, File> files_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> families_;
};

}  // namespace

void read_dax(const std::vector<std::string>& files, const TraceOptions& options, TraceBuilder& builder) {
    const std::string& name = only_trace_file(files);
    in_trace_file(name, [&] {
        const TraceFile file = read_trace_text(name);
        TaskDag dag(builder);
        DaxReader reader(builder, dag);
        try {
            parse_xml(file.bytes, reader);
        } catch (const XmlError& error) {
            refuse_xml(name, file.bytes, error);
        }
        reader.finish();
        dag.place(options);
    });
}

}  // namespace syncline
