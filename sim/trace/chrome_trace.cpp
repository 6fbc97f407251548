#include "sim/trace/chrome_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "sim/base/version.hpp"
#include "sim/output/json_text.hpp"
#include "sim/trace/drawing.hpp"
#include "sim/trace/link_use.hpp"
#include "sim/trace/timeline_words.hpp"

namespace syncline {

namespace {

/// Thread numbers start above all process numbers: Perfetto takes a thread with its process's number for the main
/// thread.
constexpr std::uint64_t iteration_process = 1, links_process = 2, first_node = 3;

std::string quoted(const std::string& text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string microseconds(std::int64_t ns) {
    return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

class ChromeTrace {
public:
    ChromeTrace(const Drawing& drawing, const LinkCurves& links, std::vector<std::string> account, const Sink& sink)
        : drawing_(drawing), view_(drawing.view()), links_(links), account_(std::move(account)), sink_(sink) {
        for (const Task& task : view_.graph.tasks()) micro_batches_ = micro_batches_ || task.micro_batch > 0;
    }

    void write(const std::string& title) {
        sink_(fmt::format("{{\"displayTimeUnit\":\"ms\",\n\"otherData\":{},\n\"traceEvents\":[\n", about(title)));
        iteration();
        const std::vector<std::uint32_t>& nodes = drawing_.cast().nodes();
        for (const std::uint32_t node : nodes) this->node(node);
        for (const LinkCurve& curve : links_.curves) counter(curve);
        if (!links_.curves.empty()) name_process(links_process, "links");
        sink_("\n]}\n");
    }

private:
    std::string about(const std::string& title) const {
        return Json{{"producer", std::string("Syncline ") + version},
                    {"title", title},
                    {"window_start_us", view_.window.start_s * 1e6},
                    {"window_end_us", view_.window.end_s * 1e6},
                    {"shown", account_}}
            .dump(-1, ' ', false, Json::error_handler_t::replace);
    }

    void event(const std::string& text) {
        sink_(first_ ? "" : ",\n");
        sink_(text);
        first_ = false;
    }

    void name_process(std::uint64_t process, const std::string& name) {
        event(
            fmt::format(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})", process, quoted(name)));
        event(
            fmt::format(R"({{"ph":"M","pid":{0},"name":"process_sort_index","args":{{"sort_index":{0}}}}})", process));
    }

    void name_thread(std::uint64_t process, std::uint64_t thread, const std::string& name) {
        event(fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})", process,
                          thread, quoted(name)));
        event(fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})",
                          process, thread, thread));
    }

    void slice(std::uint64_t process, std::uint64_t thread, std::int64_t start_ns, std::int64_t end_ns,
               const std::string& name, const char* category, const std::string& arguments) {
        event(fmt::format(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"cat":"{}","args":{{{}}}}})",
                          process, thread, microseconds(start_ns), microseconds(end_ns - start_ns), quoted(name),
                          category, arguments));
    }

    /// Writes the line at the top that shows the measured window.
    void iteration() {
        name_process(iteration_process, "iteration");
        name_thread(iteration_process, first_thread() - 1, "window");
        slice(iteration_process, first_thread() - 1, nanoseconds(view_.window.start_s), nanoseconds(view_.window.end_s),
              fmt::format("measured, up to the end of iteration {}", view_.iteration), "iteration",
              fmt::format("\"shown\":{}", quoted(fmt::format("{}", fmt::join(account_, "; ")))));
    }

    void node(std::uint32_t node) {
        const TaskGraph& graph = view_.graph;
        bool named = false;
        for (std::uint32_t row = 0; row < drawing_.lanes(); ++row) {
            const ProcessId process = graph.streams()[drawing_.stream(row)].process;
            if (graph.processes()[process].place.node != node || !drawing_.shows(process)) continue;
            const Lane lane = drawing_.lane(row);
            if (lane.slices.empty()) continue;
            if (!named) name_process(first_node + node, fmt::format("node {}", node));
            named = true;
            this->lane(first_node + node, first_thread() + row, drawing_.name(row), lane);
        }
    }

    void lane(std::uint64_t process, std::uint64_t thread, const std::string& name, const Lane& lane) {
        name_thread(process, thread, name);
        auto arrow = lane.arrows.begin();
        const auto arrows_before = [&](std::int64_t start_ns, std::uint32_t index) {
            for (; arrow != lane.arrows.end(); ++arrow) {
                // An arrow at the end of an earlier slice, where this slice starts, belongs to the earlier one.
                if (arrow->at_ns > start_ns || (arrow->at_ns == start_ns && arrow->slice >= index)) return;
                this->arrow(process, thread, *arrow);
            }
        };
        for (std::uint32_t i = 0; i < lane.slices.size(); ++i) {
            const Slice& shown = lane.slices[i];
            arrows_before(shown.start_ns, i);
            if (shown.act == nullptr)
                slice(process, thread, shown.start_ns, shown.end_ns, view_.names[shown.task],
                      word(view_.graph.tasks()[shown.task].phase), of_task(shown));
            else
                slice(process, thread, shown.start_ns, shown.end_ns, word(shown.act->kind), "act", of_act(*shown.act));
        }
        for (; arrow != lane.arrows.end(); ++arrow) this->arrow(process, thread, *arrow);
    }

    std::string of_task(const Slice& shown) const {
        const Task& task = view_.graph.tasks()[shown.task];
        std::string text = fmt::format("\"iteration\":{}", shown.iteration);
        if (micro_batches_) text += fmt::format(",\"micro_batch\":{}", task.micro_batch);
        if (task.exchange == Task::no_exchange) return text;
        const Exchange& exchange = view_.graph.exchange(task.exchange);
        return text +
               fmt::format(",\"bytes\":{},\"members\":{}", exchange.bytes, view_.graph.group(exchange.group).size());
    }

    /// Returns the arguments of an act: for a wait, the last message it waited for.
    std::string of_act(const Act& act) const {
        if (act.last == Act::no_message) return {};
        const MessageRecord& last = view_.timeline.trace.messages[act.last];
        const Cast& cast = drawing_.cast();
        return fmt::format("\"last\":\"{} -> {}\",\"bytes\":{}", cast.process(drawing_.sender(last)),
                           cast.process(drawing_.receiver(last)), last.bytes);
    }

    void arrow(std::uint64_t process, std::uint64_t thread, const ArrowEnd& end) {
        const MessageRecord& message = view_.timeline.trace.messages[end.message];
        event(fmt::format(R"({{"ph":"{}","bp":"e","pid":{},"tid":{},"ts":{},"id":{},"name":"message","cat":"message",)"
                          R"("args":{{"bytes":{}}}}})",
                          end.arrives ? 'f' : 's', process, thread, microseconds(end.at_ns), end.message,
                          message.bytes));
    }

    void counter(const LinkCurve& curve) {
        const std::string name = quoted(view_.timeline.trace.links[curve.link].name);
        for (const UsePoint& point : curve.points)
            event(fmt::format(R"({{"ph":"C","pid":{},"ts":{},"name":{},"args":{{"%":{:.2f}}}}})", links_process,
                              microseconds(point.at_ns), name, 100 * point.share));
    }

    std::uint64_t first_thread() const { return first_node + drawing_.cast().nodes().back() + 2; }

    const Drawing& drawing_;
    const TimelineView& view_;
    const LinkCurves& links_;
    const std::vector<std::string> account_;
    const Sink& sink_;
    bool first_ = true, micro_batches_ = false;
};

}  // namespace

std::vector<std::string> write_chrome_trace(const TimelineView& view, const TraceLimits& limits,
                                            const std::string& title, const Sink& sink) {
    const Drawing drawing(view, limits);
    const LinkCurves links = link_curves(drawing, limits.links);
    std::vector<std::string> lines = drawing.account();
    std::ranges::copy(account(links), std::back_inserter(lines));
    ChromeTrace(drawing, links, lines, sink).write(title);
    return lines;
}

}  // namespace syncline
