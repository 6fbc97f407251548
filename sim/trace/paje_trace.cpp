#include "sim/trace/paje_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/trace/drawing.hpp"
#include "sim/trace/link_use.hpp"
#include "sim/trace/timeline_words.hpp"

namespace syncline {

namespace {

/// The events by their numbers, each with the fields that follow the number.
const std::vector<std::pair<const char*, std::vector<const char*>>> events{
    {"DefineContainerType", {"Alias string", "Type string", "Name string"}},
    {"DefineStateType", {"Alias string", "Type string", "Name string"}},
    {"DefineLinkType",
     {"Alias string", "Type string", "StartContainerType string", "EndContainerType string", "Name string"}},
    {"DefineVariableType", {"Alias string", "Type string", "Name string", "Color color"}},
    {"DefineEntityValue", {"Alias string", "Type string", "Name string", "Color color"}},
    {"CreateContainer", {"Time date", "Alias string", "Type string", "Container string", "Name string"}},
    {"DestroyContainer", {"Time date", "Type string", "Name string"}},
    {"PushState", {"Time date", "Type string", "Container string", "Value string", "What string", "Iteration int"}},
    {"PopState", {"Time date", "Type string", "Container string"}},
    {"StartLink",
     {"Time date", "Type string", "Container string", "Value string", "StartContainer string", "Key string",
      "Bytes int"}},
    {"EndLink", {"Time date", "Type string", "Container string", "Value string", "EndContainer string", "Key string"}},
    {"SetVariable", {"Time date", "Type string", "Container string", "Value double"}}};

/// The types of containers, states, links and variables.
constexpr std::string_view types = R"(0 CT 0 cluster
0 NT CT node
0 ST NT stream
0 LT CT link
1 TT ST task
2 MT CT ST ST message
3 UT LT use "0.2 0.4 0.7"
)";

std::string header() {
    std::string text;
    for (std::size_t number = 0; number < events.size(); ++number) {
        const auto& [name, fields] = events[number];
        text += fmt::format("%EventDef Paje{} {}\n", name, number);
        for (const char* field : fields) text += fmt::format("%  {}\n", field);
        text += "%EndEventDef\n";
    }
    return text.append(types);
}

std::string paje_quoted(std::string text) {
    for (char& c : text) {
        if (c == '"') c = '\'';
        if (static_cast<unsigned char>(c) < ' ') c = ' ';
    }
    return fmt::format("\"{}\"", text);
}

std::string seconds(std::int64_t ns) {
    return fmt::format("{}.{:09}", ns / 1'000'000'000, ns % 1'000'000'000);
}

/// Returns the i-th of `count` colours, evenly spaced on the colour circle; acts are paler than tasks.
std::string colour(std::size_t i, std::size_t count, bool pale) {
    const double turn = 6 * static_cast<double>(i) / static_cast<double>(count);
    const auto channel = [&](double offset) {
        const double at = std::abs(turn - offset) > 3 ? 6 - std::abs(turn - offset) : std::abs(turn - offset);
        const double full = std::clamp(2 - at, 0.0, 1.0);
        return pale ? 0.55 + 0.4 * full : 0.15 + 0.7 * full;
    };
    return fmt::format("\"{:.2f} {:.2f} {:.2f}\"", channel(0), channel(2), channel(4));
}

class PajeTrace {
public:
    PajeTrace(const Drawing& drawing, const LinkCurves& links, const Sink& sink)
        : drawing_(drawing), view_(drawing.view()), links_(links), sink_(sink), lanes_(drawing.lanes()) {
        for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
            if (!drawing.shows(view_.graph.streams()[drawing.stream(lane)].process)) continue;
            lanes_[lane] = drawing.lane(lane);
            add_events(lane);
        }
        for (std::uint32_t curve = 0; curve < links_.curves.size(); ++curve)
            for (std::uint32_t point = 0; point < links_.curves[curve].points.size(); ++point)
                events_.push_back({links_.curves[curve].points[point].at_ns, Kind::use, curve, point});
        // Pushes and pops at the same time keep the order of their stream; the start of a message precedes its end.
        std::ranges::stable_sort(events_, {}, [](const Event& event) {
            return std::tuple(event.at_ns, event.kind == Kind::start ? 0 : event.kind == Kind::end ? 2 : 1);
        });
    }

    void write(const std::string& title, const std::vector<std::string>& account) {
        for (const std::string& line : comments(title, account)) sink_(fmt::format("# {}\n", line));
        sink_(header());
        define_values();
        const std::string first = seconds(events_.empty() ? 0 : events_.front().at_ns);
        const std::string last = seconds(events_.empty() ? 0 : events_.back().at_ns);
        create_containers(first, title);
        for (const Event& event : events_) write(event);
        for (const auto& [type, name] : containers_) sink_(fmt::format("6 {} {} {}\n", last, type, name));
    }

private:
    enum class Kind : std::uint8_t { push, pop, start, end, use };
    struct Event {
        std::int64_t at_ns = 0;
        Kind kind = Kind::push;
        std::uint32_t lane = 0;   ///< or for `use` the curve
        std::uint32_t index = 0;  ///< index of the slice, arrow or point
    };
    struct Container {
        std::string type, name;
    };

    void add_events(std::uint32_t lane) {
        const std::vector<Slice>& slices = lanes_[lane].slices;
        std::vector<std::uint32_t> open;
        const auto close = [&] {
            events_.push_back({slices[open.back()].end_ns, Kind::pop, lane, open.back()});
            open.pop_back();
        };
        for (std::uint32_t i = 0; i < slices.size(); ++i) {
            // An act closes the previous act; a task also closes the previous task.
            while (open.size() > (slices[i].act == nullptr ? 0u : 1u)) close();
            events_.push_back({slices[i].start_ns, Kind::push, lane, i});
            open.push_back(i);
        }
        while (!open.empty()) close();
        const std::vector<ArrowEnd>& arrows = lanes_[lane].arrows;
        for (std::uint32_t i = 0; i < arrows.size(); ++i) {
            const MessageRecord& message = view_.timeline.trace.messages[arrows[i].message];
            const bool arrives = arrows[i].arrives;
            events_.push_back(
                {nanoseconds(arrives ? message.end_s() : message.put_s), arrives ? Kind::end : Kind::start, lane, i});
        }
    }

    std::vector<std::string> comments(const std::string& title, const std::vector<std::string>& account) const {
        std::vector<std::string> lines{
            title, fmt::format("measured, up to the end of iteration {}: {} s to {} s", view_.iteration,
                               seconds(nanoseconds(view_.window.start_s)), seconds(nanoseconds(view_.window.end_s)))};
        lines.insert(lines.end(), account.begin(), account.end());
        for (std::string& line : lines)
            for (char& c : line)
                if (static_cast<unsigned char>(c) < ' ') c = ' ';
        return lines;
    }

    void define_values() {
        const auto define = [this](const std::string& alias, const char* type, const char* name,
                                   const std::string& color) {
            sink_(fmt::format("4 {} {} {} {}\n", alias, type, paje_quoted(name), color));
        };
        for (std::size_t i = 0; i < std::size(all_phases); ++i) {
            const auto phase = static_cast<int>(all_phases[i]);
            define(fmt::format("T{}", phase), "TT", word(all_phases[i]), colour(i, std::size(all_phases), false));
            define(fmt::format("M{}", phase), "MT", word(all_phases[i]), colour(i, std::size(all_phases), false));
        }
        const auto occurs = [&](Phase phase) {
            return std::ranges::any_of(view_.graph.tasks(), [&](const Task& task) { return task.phase == phase; });
        };
        for (const std::span<const Phase> phases :
             {std::span<const Phase>(rare_phases), {offload_phases}, {load_phases}, {trace_phases}})
            for (std::size_t i = 0; i < phases.size(); ++i)
                if (occurs(phases[i]))
                    define(fmt::format("T{}", static_cast<int>(phases[i])), "TT", word(phases[i]),
                           colour(i, phases.size(), true));
        if (occurs(Phase::communication))
            define(fmt::format("M{}", static_cast<int>(Phase::communication)), "MT", word(Phase::communication),
                   colour(0, 1, true));
        for (std::size_t i = 0; i < std::size(core_phases); ++i)
            for (const auto& [alias, type] : {std::pair('T', "TT"), std::pair('M', "MT")})
                if (const Phase phase = core_phases[i]; occurs(phase))
                    define(fmt::format("{}{}", alias, static_cast<int>(phase)), type, word(phase),
                           colour(i, std::size(core_phases), false));
        for (std::size_t i = 0; i < std::size(all_acts); ++i)
            define(fmt::format("A{}", static_cast<int>(all_acts[i])), "TT", word(all_acts[i]),
                   colour(i, std::size(all_acts), true));
    }

    void create(const std::string& time, const char* type, const std::string& alias, const std::string& in,
                const std::string& name) {
        sink_(fmt::format("5 {} {} {} {} {}\n", time, alias, type, in, paje_quoted(name)));
        containers_.insert(containers_.begin(), {type, alias});  // inner ones are destroyed first
    }

    void create_containers(const std::string& time, const std::string& title) {
        create(time, "CT", "c", "0", title);
        const Cast& cast = drawing_.cast();
        for (const std::uint32_t node : cast.nodes()) {
            bool created = false;
            for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
                if (cast.node(drawing_.stream(lane)) != node || lanes_[lane].slices.empty()) continue;
                const std::string alias = fmt::format("n{}", node);
                if (!created) create(time, "NT", alias, "c", fmt::format("node {}", node));
                created = true;
                create(time, "ST", fmt::format("s{}", lane), alias, drawing_.name(lane));
            }
        }
        for (const LinkCurve& curve : links_.curves)
            create(time, "LT", fmt::format("l{}", curve.link), "c", view_.timeline.trace.links[curve.link].name);
    }

    void write(const Event& event) {
        const std::string time = seconds(event.at_ns);
        switch (event.kind) {
            case Kind::push: {
                const Slice& slice = lanes_[event.lane].slices[event.index];
                const Task& task = view_.graph.tasks()[slice.task];
                const std::string value = slice.act != nullptr ? fmt::format("A{}", static_cast<int>(slice.act->kind))
                                                               : fmt::format("T{}", static_cast<int>(task.phase));
                sink_(fmt::format("7 {} TT s{} {} {} {}\n", time, event.lane, value,
                                  paje_quoted(view_.names[slice.task]), slice.iteration));
                return;
            }
            case Kind::pop:
                return sink_(fmt::format("8 {} TT s{}\n", time, event.lane));
            case Kind::start:
            case Kind::end: {
                const MessageId id = lanes_[event.lane].arrows[event.index].message;
                const MessageRecord& message = view_.timeline.trace.messages[id];
                const Phase phase = view_.graph.tasks()[message.sender].phase;
                const std::string fields =
                    fmt::format("{} MT c M{} s{} m{}", time, static_cast<int>(phase), event.lane, id);
                if (event.kind == Kind::start) return sink_(fmt::format("9 {} {}\n", fields, message.bytes));
                return sink_(fmt::format("10 {}\n", fields));
            }
            case Kind::use: {
                const LinkCurve& curve = links_.curves[event.lane];
                sink_(fmt::format("11 {} UT l{} {:.2f}\n", time, curve.link, 100 * curve.points[event.index].share));
                return;
            }
        }
    }

    const Drawing& drawing_;
    const TimelineView& view_;
    const LinkCurves& links_;
    const Sink& sink_;
    std::vector<Lane> lanes_;  ///< empty if not shown
    std::vector<Event> events_;
    std::vector<Container> containers_;
};

}  // namespace

std::vector<std::string> write_paje_trace(const TimelineView& view, const TraceLimits& limits, const std::string& title,
                                          const Sink& sink) {
    const Drawing drawing(view, limits);
    const LinkCurves links = link_curves(drawing, limits.links);
    std::vector<std::string> lines = drawing.account();
    std::ranges::copy(account(links), std::back_inserter(lines));
    PajeTrace(drawing, links, sink).write(title, lines);
    return lines;
}

}  // namespace syncline
