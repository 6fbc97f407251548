#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/number.hpp"
#include "sim/base/utf8.hpp"
#include "sim/execution/task_dag.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_readers.hpp"

namespace syncline {

namespace {

/// Reads the tasks and edges of a directed graph of Graphviz, without subgraphs.
class DagDotReader {
public:
    DagDotReader(const TraceFile& file, TraceBuilder& builder, TaskDag& dag)
        : file_(file), text_(file.bytes), builder_(builder), dag_(dag) {}

    void read() {
        next();
        if (word_ == "strict") next();
        if (word_ != "digraph") refuse_word("a directed graph begins with 'digraph'");
        next();
        if (word_ != "{") next();
        need("{");
        while (!(word_ == "}" && !quoted_)) statement();
        add_all();
    }

private:
    struct Task {
        std::string name;
        double size = 0;
        bool stated = false;
    };
    struct Edge {
        std::size_t from, to;  ///< of tasks_
        double size;
    };

    [[noreturn]] void refuse_word(const std::string& message) const { refuse(file_, word_begin_, message); }

    /// Goes to the next word: a sign, a name or number, or what is in quotes.
    void next() {
        skip();
        word_begin_ = next_;
        quoted_ = false;
        word_.clear();
        if (next_ >= text_.size()) return;
        if (text_[next_] == '"') {
            quoted_ = true;
            for (++next_; next_ < text_.size() && text_[next_] != '"'; ++next_) {
                if (text_[next_] == '\\' && next_ + 1 < text_.size() && text_[next_ + 1] == '"') ++next_;
                word_ += text_[next_];
            }
            if (next_ == text_.size()) refuse_word("these quotes do not end");
            ++next_;
            return;
        }
        std::size_t end = next_;
        if (text_.substr(next_, 2) == "->")
            end += 2;
        else
            while (end < text_.size() && is_of_name(text_[end])) ++end;
        word_ = text_.substr(next_, std::max<std::size_t>(end - next_, 1));
        next_ += word_.size();
    }

    static bool is_of_name(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
               (static_cast<unsigned char>(c) & 0x80) != 0;
    }

    void skip() {
        while (next_ < text_.size()) {
            next_ = std::min(text_.find_first_not_of(" \t\r\n", next_), text_.size());
            const std::string_view rest = text_.substr(next_);
            if (rest.starts_with("//") || rest.starts_with('#'))
                next_ = std::min(text_.find('\n', next_), text_.size());
            else if (rest.starts_with("/*"))
                next_ = std::min(text_.find("*/", next_ + 2), text_.size() - 2) + 2;
            else
                return;
        }
    }

    void need(std::string_view sign) {
        if (word_ != sign || quoted_) refuse_word(fmt::format("'{}' should be here", sign));
        next();
    }

    std::string name() {
        if (word_.empty() && !quoted_) refuse_word("the graph does not end");
        if (!quoted_ && !is_of_name(word_.front())) refuse_word("the name of a task should be here");
        if (!quoted_ && word_ == "subgraph") refuse_word("subgraphs of tasks cannot be read");
        std::string name = word_;
        next();
        return name;
    }

    void statement() {
        if (word_ == ";" && !quoted_) return next();
        const bool is_default = !quoted_ && (word_ == "node" || word_ == "edge" || word_ == "graph");
        std::vector<std::string> chain{name()};
        if (word_ == "=" && !quoted_) {
            next();
            name();
            return;
        }
        while (word_ == "->" && !quoted_) {
            next();
            chain.push_back(name());
        }
        const double size = attributes();
        if (is_default) {
            builder_.note("attributes of all nodes, edges or the graph are left out");
        } else if (chain.size() == 1) {
            Task& task = tasks_[task_of(chain.front())];
            if (std::exchange(task.stated, true))
                throw TraceError(fmt::format("task '{}' is there twice", printable(task.name.substr(0, 100))));
            task.size = size;
        } else {
            for (std::size_t i = 1; i < chain.size(); ++i) {
                if (edges_.size() == most_trace_nodes)
                    throw TraceError(fmt::format("it has more than {} edges", most_trace_nodes));
                const std::size_t from = task_of(chain[i - 1]);
                edges_.push_back({from, task_of(chain[i]), size});
            }
        }
    }

    /// Returns `size`, 0 if there is none or it is negative.
    double attributes() {
        double size = 0;
        while (word_ == "[" && !quoted_) {
            next();
            while (!(word_ == "]" && !quoted_)) {
                const std::string key = name();
                need("=");
                const std::string value = (word_ == "-" && !quoted_) ? (next(), "-" + name()) : name();
                if (key == "size") {
                    const auto number = number_in<double>(value);
                    if (!number || !std::isfinite(*number) || *number > 9e18) refuse_word("a size must be a number");
                    size = std::max(*number, 0.0);
                }
                if ((word_ == "," || word_ == ";") && !quoted_) next();
            }
            next();
        }
        return size;
    }

    /// Tasks are in the order in which they are named first, as Graphviz has them.
    std::size_t task_of(const std::string& name) {
        const auto [found, added] = numbers_.try_emplace(name, tasks_.size());
        if (added && tasks_.size() == most_trace_nodes)
            throw TraceError(fmt::format("it has more than {} nodes", most_trace_nodes));
        if (added) tasks_.push_back({name});
        return found->second;
    }

    /// As SimGrid's loader and its example do: 'root' is before all others, and 'end' after them, both on the first
    /// rank.
    void add_all() {
        const std::size_t root = task_of("root"), end = task_of("end");
        std::vector<std::uint32_t> added(tasks_.size());
        const auto add = [&](std::size_t task) { added[task] = dag_.add(tasks_[task].name, tasks_[task].size, 0); };
        add(root);
        for (std::size_t task = 0; task < tasks_.size(); ++task)
            if (task != root && task != end) add(task);
        add(end);
        dag_.put_first(added[end]);
        std::set<std::pair<std::size_t, std::size_t>> handed;
        for (const Edge& edge : edges_) {
            const auto bytes = static_cast<std::uint64_t>(std::llround(edge.size));
            if (bytes == 0 || handed.emplace(edge.from, edge.to).second)
                dag_.connect(added[edge.from], added[edge.to], bytes);
            else
                builder_.note("what a task hands on to the same one again is left out");
        }
        dag_.put_at_begin(added[root]);
        dag_.put_at_end(added[end]);
    }

    const TraceFile& file_;
    std::string_view text_;
    TraceBuilder& builder_;
    TaskDag& dag_;
    std::size_t next_ = 0, word_begin_ = 0;
    std::string word_;
    bool quoted_ = false;
    std::vector<Task> tasks_;
    std::map<std::string, std::size_t> numbers_;
    std::vector<Edge> edges_;
};

}  // namespace

void read_dag_dot(const std::vector<std::string>& files, const TraceOptions& options, TraceBuilder& builder) {
    const std::string& name = only_trace_file(files);
    in_trace_file(name, [&] {
        const TraceFile file = read_trace_text(name);
        TaskDag dag(builder);
        DagDotReader(file, builder, dag).read();
        dag.place(options);
    });
}

}  // namespace syncline
