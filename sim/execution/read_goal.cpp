#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/base/number.hpp"
#include "sim/base/utf8.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_readers.hpp"

namespace syncline {

namespace {

/// The words of GOAL's text: names and numbers, and each sign by itself.
class GoalWords {
public:
    explicit GoalWords(const TraceFile& file) : file_(file), text_(file.bytes) { skip(); }

    /// Returns the next word, empty at the end.
    std::string_view peek() const {
        std::size_t end = next_;
        while (end < text_.size() && is_of_word(text_[end])) ++end;
        return text_.substr(next_, std::max<std::size_t>(end - next_, next_ < text_.size() ? 1 : 0));
    }

    std::string_view word() {
        const std::string_view found = peek();
        last_ = next_;
        next_ += found.size();
        skip();
        return found;
    }

    bool take(std::string_view wanted) {
        if (peek() != wanted) return false;
        word();
        return true;
    }

    void need(std::string_view wanted) {
        const std::string_view found = word();
        if (found != wanted) refuse(fmt::format("'{}' should be here, not '{}'", wanted, shown(found)));
    }

    std::uint64_t whole(std::string_view what, std::uint64_t most = std::numeric_limits<std::uint32_t>::max()) {
        const std::string_view found = word();
        const auto number = number_in<std::uint64_t>(found);
        if (found == "-1") refuse(fmt::format("any {} cannot be replayed: each message must be known", what));
        if (!number) refuse(fmt::format("the {} must be a whole number, not '{}'", what, shown(found)));
        if (*number > most) refuse(fmt::format("the {} must be at most {}", what, most));
        return *number;
    }

    /// Returns the byte of the word that was taken last.
    std::size_t last() const { return last_; }

    [[noreturn]] void refuse(const std::string& message) const { refuse(last_, message); }
    [[noreturn]] void refuse(std::size_t byte, const std::string& message) const {
        syncline::refuse(file_, byte, message);
    }

    static std::string shown(std::string_view word) {
        return word.empty() ? "the end of the file" : printable(word.substr(0, 40));
    }

private:
    static bool is_of_word(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    }

    void skip() {
        constexpr std::string_view space = " \t\r\n";
        while (next_ < text_.size()) {
            next_ = std::min(text_.find_first_not_of(space, next_), text_.size());
            const std::string_view rest = text_.substr(next_);
            if (rest.starts_with("//"))
                next_ = std::min(text_.find('\n', next_), text_.size());
            else if (rest.starts_with("/*"))
                next_ = std::min(text_.find("*/", next_ + 2), text_.size() - 2) + 2;
            else
                return;
        }
    }

    const TraceFile& file_;
    std::string_view text_;
    std::size_t next_ = 0, last_ = 0;
};

class GoalReader {
public:
    GoalReader(const TraceFile& file, TraceBuilder& builder) : words_(file), builder_(builder) {}

    void read() {
        words_.need("num_ranks");
        builder_.trace.ranks = static_cast<std::uint32_t>(words_.whole("number of ranks", most_trace_ranks));
        builder_.trace.eager_bytes = 65535;  // LogGOPSim's default of S
        std::vector<bool> seen(builder_.trace.ranks, false);
        while (!words_.peek().empty()) {
            words_.need("rank");
            const std::uint64_t rank = words_.whole("rank");
            if (rank >= seen.size()) words_.refuse(fmt::format("there are {} ranks", seen.size()));
            if (seen[rank]) words_.refuse(fmt::format("rank {} is there twice", rank));
            seen[rank] = true;
            words_.need("{");
            read_rank(static_cast<std::uint32_t>(rank));
        }
    }

private:
    struct Task {
        TraceNode node;
        std::vector<std::uint64_t> dependencies;
        std::size_t byte = 0;        ///< of the file
        bool start_matters = false;  ///< another one may begin when it does
    };

    static std::uint64_t end_of(std::size_t task) { return 2 * task + 1; }
    static std::uint64_t start_of(std::size_t task) { return 2 * task; }

    void read_rank(std::uint32_t rank) {
        tasks_.clear();
        labels_.clear();
        while (!words_.take("}")) {
            std::string_view label = words_.word();
            if (label == "calc" || label == "send" || label == "recv") {
                read_task(rank, label);
                continue;
            }
            const bool named = !label.empty() && number_in<std::uint64_t>(label.substr(0, 1)) == std::nullopt;
            if (!named || label == "{") words_.refuse(fmt::format("'{}' is no task", GoalWords::shown(label)));
            if (words_.take(":")) {
                if (!labels_.emplace(label, tasks_.size()).second)
                    words_.refuse(fmt::format("label '{}' is there twice", GoalWords::shown(label)));
                read_task(rank, words_.word());
                continue;
            }
            const std::size_t task = labelled(label);
            const std::string_view how = words_.word();
            const bool from_start = how == "irequires";
            if (!from_start && how != "requires")
                words_.refuse(fmt::format("'requires' or 'irequires' should be here, not '{}'", GoalWords::shown(how)));
            const std::size_t on = labelled(words_.word());
            tasks_[on].start_matters = tasks_[on].start_matters || from_start;
            tasks_[task].dependencies.push_back(from_start ? start_of(on) : end_of(on));
            if (++dependencies_ > most_trace_dependencies)
                throw TraceError(fmt::format("it has more than {} dependencies", most_trace_dependencies));
        }
        // Dependencies are those of one rank.
        UnsortedTrace nodes;
        for (std::size_t i = 0; i < tasks_.size(); ++i) add(i, nodes);
        try {
            nodes.sort_into(builder_.trace);
        } catch (const TraceCycle& cycle) {
            refuse_cycle(cycle);
        }
    }

    [[noreturn]] void refuse_cycle(const TraceCycle& cycle) const {
        std::vector<std::size_t> tasks;  // each once, though its start and its end may be nodes
        for (const std::uint64_t id : cycle.ids)
            if (tasks.empty() || tasks.back() != id / 2) tasks.push_back(id / 2);
        if (tasks.size() > 1 && tasks.front() == tasks.back()) tasks.pop_back();
        const auto label = [&](std::size_t task) {
            const auto found = std::ranges::find(labels_, task, [](const auto& known) { return known.second; });
            return GoalWords::shown(found->first);
        };
        std::string text = fmt::format("task '{}' waits for itself: ", label(tasks.front()));
        constexpr std::size_t most_named = 5;
        for (std::size_t i = 0; i < std::min(tasks.size(), most_named); ++i)
            text += fmt::format("{}{} requires {}", i == 0 ? "" : ", ", label(tasks[i]),
                                label(tasks[(i + 1) % tasks.size()]));
        words_.refuse(tasks_[tasks.front()].byte, text + (tasks.size() > most_named ? ", …" : ""));
    }

    /// A task whose start matters follows a node that has its dependencies, and takes no time.
    void add(std::size_t number, UnsortedTrace& nodes) {
        Task& task = tasks_[number];
        std::ranges::sort(task.dependencies);
        task.dependencies.erase(std::unique(task.dependencies.begin(), task.dependencies.end()),
                                task.dependencies.end());
        if (task.start_matters) {
            TraceNode start;
            start.rank = task.node.rank;
            start.name = builder_.name("start");
            builder_.count(task.dependencies.size());
            nodes.add(start, start_of(number), task.dependencies);
            task.dependencies = {start_of(number)};
        }
        builder_.count(task.dependencies.size());
        nodes.add(task.node, end_of(number), task.dependencies);
    }

    std::size_t labelled(std::string_view label) const {
        const auto found = labels_.find(label);
        if (found == labels_.end()) words_.refuse(fmt::format("there is no task '{}' before", GoalWords::shown(label)));
        return found->second;
    }

    void read_task(std::uint32_t rank, std::string_view what) {
        const std::size_t byte = words_.last();
        TraceNode node;
        node.rank = rank;
        node.name = builder_.name(what);
        if (what == "calc") {
            const std::uint64_t ns = words_.whole("time", std::numeric_limits<std::int64_t>::max());
            node.kind = ns > 0 ? NodeKind::compute : NodeKind::nothing;
            node.seconds = static_cast<double>(ns) * 1e-9;
            const auto cpu = static_cast<std::uint32_t>(words_.take("cpu") ? words_.whole("cpu", most_cpus) : 0);
            if (ns > 0) node.stream = cpu;
        } else if (what == "send" || what == "recv") {
            node.kind = what == "send" ? NodeKind::send : NodeKind::receive;
            std::string_view size = words_.word();
            const bool has_unit = size.ends_with('b');
            if (has_unit) size.remove_suffix(1);
            const auto bytes = number_in<std::uint64_t>(size);
            if (!bytes || !has_unit) words_.refuse("the size must be a whole number of bytes: 1024b");
            node.bytes = *bytes;
            words_.need(what == "send" ? "to" : "from");
            node.peer = static_cast<std::uint32_t>(words_.whole(what == "send" ? "destination" : "source"));
            if (words_.take("tag")) node.tag = static_cast<std::uint32_t>(words_.whole("tag"));
            bool placed = words_.take("cpu") && words_.whole("cpu") != 0;
            placed = (words_.take("nic") && words_.whole("nic") != 0) || placed;
            if (placed) builder_.note("processors and network cards of messages are left out");
        } else {
            words_.refuse(fmt::format("'calc', 'send' or 'recv' should be here, not '{}'", GoalWords::shown(what)));
        }
        if (tasks_.size() >= most_trace_nodes)
            throw TraceError(fmt::format("it has more than {} nodes", most_trace_nodes));
        tasks_.push_back({node, {}, byte, false});
    }

    static constexpr std::uint64_t most_cpus = 1 << 20;

    GoalWords words_;
    TraceBuilder& builder_;
    std::vector<Task> tasks_;  ///< of the rank that is read
    std::unordered_map<std::string_view, std::size_t> labels_;
    std::size_t dependencies_ = 0;
};

}  // namespace

void read_goal(const std::vector<std::string>& files, const TraceOptions&, TraceBuilder& builder) {
    const std::string& name = only_trace_file(files);
    in_trace_file(name, [&] {
        const TraceFile file = read_trace_text(name);
        GoalReader(file, builder).read();
    });
}

}  // namespace syncline
