#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "sim/trace/chrome_trace.hpp"
#include "sim/trace/paje_trace.hpp"
#include "tests/catch.hpp"
#include "tests/chrome_trace.hpp"

// Timelines as files: every slice, arrow and curve of a run that is small enough to be written by hand.

using namespace syncline;
using namespace syncline::test;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr double us = 1e-6;
constexpr TaskId exchange_0 = 1, exchange_1 = 3;  // behind a forward pass each

/// Two ranks on two nodes. In each of the iterations 4 and 5, which take 20 us, both compute, rank 0 for 10 us and rank
/// 1 for 12 us. Then rank 0 sends 3000 bytes to rank 1 over a link of 2 GB/s; they flow for 3 us, at half of that rate,
/// and have a latency of 1 us. Then rank 1 reduces for 2 us.
TimelineView two_ranks() {
    TimelineView view;
    for (std::uint32_t node = 0; node < 2; ++node) view.graph.add_process({{node, 0}});
    const GroupId group = view.graph.add_group({0, 1});
    Exchange exchange;
    exchange.group = group;
    exchange.bytes = 3000;
    const ExchangeId id = view.graph.add_exchange(exchange);
    for (ProcessId rank = 0; rank < 2; ++rank) {
        view.graph.add_task({view.graph.add_stream(rank, StreamKind::compute), Phase::forward});
        Task task{view.graph.add_stream(rank, StreamKind::exchange), Phase::exchange};
        task.exchange = id;
        task.member = rank;
        view.graph.add_task(task);
    }
    view.graph.seal();
    view.names = {"forward of \"conv\"", "bucket 0", "forward of \"conv\"", "bucket 0"};
    view.timeline.trace.acts.resize(4);
    view.timeline.trace.stream_of_lane = {0, 1, 2, 3};
    for (const std::uint32_t iteration : {4u, 5u}) {
        const double at_s = iteration * 20 * us;
        view.timeline.recorded.push_back({{at_s, at_s + 10 * us},
                                          {at_s + 10 * us, at_s + 16 * us},
                                          {at_s, at_s + 12 * us},
                                          {at_s + 12 * us, at_s + 18 * us}});
        Trace& trace = view.timeline.trace;
        const auto message = static_cast<MessageId>(trace.messages.size());
        trace.messages.push_back(
            {exchange_0, exchange_1, iteration, 0, 3000, at_s + 10 * us, at_s + 12 * us, at_s + 15 * us, 1 * us, 1, 3});
        trace.acts[1].push_back({at_s + 10 * us, at_s + 16 * us, exchange_0, iteration, message, ActKind::messages});
        trace.acts[3].push_back({at_s + 12 * us, at_s + 16 * us, exchange_1, iteration, message, ActKind::messages});
        trace.acts[3].push_back(
            {at_s + 16 * us, at_s + 18 * us, exchange_1, iteration, Act::no_message, ActKind::reduction});
    }
    view.timeline.trace.links = {{"unused", 1e9, true}, {"up", 2e9, true}, {"down", 4e9, true}};
    view.timeline.trace.routes = {{1, 2}};
    view.window = {100 * us, 118 * us};
    view.iteration = 5;
    return view;
}

template <class Write>
std::string written(const Write& write, const TimelineView& view, const TraceLimits& limits = {}) {
    std::string text;
    write(view, limits, "two: base", [&text](std::string_view piece) { text += piece; });
    return text;
}

ChromeFile chrome(const TimelineView& view, const TraceLimits& limits = {}) {
    return check_chrome_trace(written(write_chrome_trace, view, limits));
}

std::string shown(const ChromeFile& file) {
    std::string text;
    for (const nlohmann::json& line : file.about.at("shown")) text += line.get<std::string>() + "\n";
    return text;
}

/// Returns "name start end", in microseconds, of a thread's slices.
std::vector<std::string> lines_of(const ChromeFile& file, const std::string& thread) {
    std::vector<std::string> lines;
    for (const ChromeSlice& slice : file.of(thread))
        lines.push_back(fmt::format("{} {} {}", slice.name, static_cast<double>(slice.start_ns) / 1000,
                                    static_cast<double>(slice.end_ns) / 1000));
    return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a Chrome trace has nodes as processes, streams as threads, and acts within tasks", "[memory]") {
    const ChromeFile file = chrome(two_ranks());
    std::vector<std::string> names;
    for (const auto& [id, name] : file.processes) names.push_back(name);
    CHECK(names == Lines{"iteration", "links", "node 0", "node 1"});
    CHECK(lines_of(file, "window") == Lines{"measured, up to the end of iteration 5 100 118"});
    CHECK(lines_of(file, "rank 0 compute") == Lines{"forward of \"conv\" 100 110"});
    CHECK(lines_of(file, "rank 0 exchange") == Lines{"bucket 0 110 116", "messages 110 116"});
    CHECK(lines_of(file, "rank 1 compute") == Lines{"forward of \"conv\" 100 112"});
    CHECK(lines_of(file, "rank 1 exchange") == Lines{"bucket 0 112 118", "messages 112 116", "reduction 116 118"});
    const ChromeSlice wait = file.of("rank 1 exchange").at(1);
    CHECK(wait.arguments == nlohmann::json{{"last", "rank 0 -> rank 1"}, {"bytes", 3000}});
    const ChromeSlice task = file.of("rank 1 exchange").at(0);
    CHECK(task.arguments == nlohmann::json{{"iteration", 5}, {"bytes", 3000}, {"members", 2}});
    CHECK(file.about.at("title") == "two: base");
}

TEST_CASE("a Chrome trace's arrows go from the sending slice to the receiving one", "[memory]") {
    const ChromeFile file = chrome(two_ranks());
    REQUIRE(file.flows.size() == 1);
    const ChromeFlow& flow = file.flows.begin()->second;
    CHECK(flow.start_ns == 110'000);
    CHECK(flow.end_ns == 116'000 - 1);  // within the wait, not where the reduction begins
    CHECK(file.slices[flow.from].thread == "rank 0 exchange");
    CHECK(file.slices[flow.from].name == "messages");
    CHECK(file.slices[flow.to].thread == "rank 1 exchange");
    CHECK(file.slices[flow.to].name == "messages");
}

TEST_CASE("a message that takes no time has an arrow, too", "[memory]") {
    TimelineView view = two_ranks();
    MessageRecord& message = view.timeline.trace.messages.at(1);
    message.put_s = message.got_s = message.through_s = 112 * us;
    message.latency_s = 0;
    const ChromeFile file = chrome(view);
    REQUIRE(file.flows.size() == 1);
    const ChromeFlow& flow = file.flows.begin()->second;
    CHECK(flow.start_ns == 112'000);
    CHECK(flow.end_ns == 112'000);
    CHECK(file.slices[flow.to].thread == "rank 1 exchange");
}

TEST_CASE("links count bytes while they flow, and the busiest is first", "[memory]") {
    const ChromeFile file = chrome(two_ranks());
    using Points = std::vector<std::pair<std::int64_t, double>>;
    REQUIRE(file.counters.size() == 2);
    CHECK(file.counters.at("up") == Points{{112'000, 50}, {115'000, 0}});
    CHECK(file.counters.at("down") == Points{{112'000, 25}, {115'000, 0}});
    TraceLimits limits;
    limits.links = 1;
    const ChromeFile less = chrome(two_ranks(), limits);
    CHECK(less.counters.count("up") == 1);
    CHECK(less.counters.size() == 1);
    CHECK_THAT(shown(less), ContainsSubstring("left out: 1 of 2 links"));
}

TEST_CASE("flows that share a link add up, and flows that continue are cut to the shown time", "[memory]") {
    TimelineView view = two_ranks();
    Trace& trace = view.timeline.trace;
    trace.messages.push_back({exchange_0, exchange_1, 5, 0, 2000, 110 * us, 114 * us, 118 * us, 0, 1, 3});
    TraceLimits limits;
    limits.time = Interval{13 * us, 17 * us};
    using Points = std::vector<std::pair<std::int64_t, double>>;
    CHECK(chrome(view, limits).counters.at("up") == Points{{113'000, 50}, {114'000, 75}, {115'000, 25}, {117'000, 0}});
}

TEST_CASE("a trace of some ranks omits the others, and messages with them", "[memory]") {
    TraceLimits limits;
    limits.ranks = {1};
    const ChromeFile file = chrome(two_ranks(), limits);
    CHECK(file.of("rank 0 compute").empty());
    CHECK(file.of("rank 1 exchange").size() == 3);
    CHECK(file.flows.empty());
    CHECK(file.counters.size() == 2);  // of the links that rank 1 uses
    CHECK_THAT(shown(file), ContainsSubstring("left out: 1 of 2 ranks: 4 tasks, 2 acts, 2 messages\n"));
    CHECK_THAT(shown(file), ContainsSubstring("left out: other iterations: 2 tasks, 2 acts\n"));
}

TEST_CASE("a trace of some time has whole events that reach into it, also of other iterations", "[memory]") {
    TraceLimits limits;
    limits.time = Interval{-8 * us, 3 * us};  // 92 us to 103 us
    const ChromeFile file = chrome(two_ranks(), limits);
    CHECK(lines_of(file, "rank 0 compute") == Lines{"forward of \"conv\" 100 110"});
    CHECK(lines_of(file, "rank 0 exchange") == Lines{"bucket 0 90 96", "messages 90 96"});
    CHECK(lines_of(file, "rank 1 exchange") == Lines{"bucket 0 92 98", "messages 92 96", "reduction 96 98"});
    CHECK(file.flows.size() == 1);
    CHECK_THAT(shown(file), ContainsSubstring("left out: outside the time range: 4 tasks, 3 acts, 1 message\n"));
    limits.time = Interval{17 * us, 18 * us};  // the reduction alone, and the task that it is in
    CHECK(lines_of(chrome(two_ranks(), limits), "rank 1 exchange") == Lines{"bucket 0 112 118", "reduction 116 118"});
}

TEST_CASE("a trace of a level has nothing below it", "[memory]") {
    TraceLimits limits;
    limits.level = TraceLevel::acts;
    const ChromeFile acts = chrome(two_ranks(), limits);
    CHECK(acts.of("rank 1 exchange").size() == 3);
    CHECK(acts.flows.empty());
    CHECK(acts.counters.empty());
    CHECK_THAT(shown(acts), ContainsSubstring("below the level 'acts': 1 message\n"));
    limits.level = TraceLevel::tasks;
    const ChromeFile tasks = chrome(two_ranks(), limits);
    CHECK(tasks.of("rank 1 exchange").size() == 1);
    CHECK_THAT(shown(tasks), ContainsSubstring("below the level 'tasks': 3 acts, 1 message\n"));
}

TEST_CASE("if messages were not recorded, a trace has tasks, and says so", "[memory]") {
    TimelineView view = two_ranks();
    view.timeline.trace = {};
    const ChromeFile file = chrome(view);
    CHECK(lines_of(file, "rank 0 exchange") == Lines{"bucket 0 110 116"});
    CHECK_THAT(shown(file), ContainsSubstring("not recorded"));
    CHECK_THAT(written(write_paje_trace, view), ContainsSubstring("not recorded"));
}

TEST_CASE("names may have any characters: a Chrome trace stays JSON, a Paje trace has no double quotes within texts",
          "[memory]") {
    TimelineView view = two_ranks();
    view.names.assign(4, "a \"b\"\\\n\x01 \xff");
    CHECK(chrome(view).of("rank 0 compute").size() == 1);
    CHECK_THAT(written(write_paje_trace, view), ContainsSubstring("\"a 'b'\\   \xff\" 5\n"));
}

TEST_CASE("a Paje trace pushes and pops states, starts and ends links, in the order of time", "[memory]") {
    const std::string text = written(write_paje_trace, two_ranks());
    Lines events;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        if (std::string("0123456789").find(line.front()) != std::string::npos && line.size() > 10 &&
            std::stoi(line) >= 7)
            events.push_back(line);
    const auto phase = [](Phase value) { return static_cast<int>(value); };
    const auto act = [](ActKind value) { return static_cast<int>(value); };
    const std::string forward = fmt::format("T{} \"forward of 'conv'\" 5", phase(Phase::forward));
    const std::string exchange = fmt::format("T{} \"bucket 0\" 5", phase(Phase::exchange));
    const std::string messages = fmt::format("A{} \"bucket 0\" 5", act(ActKind::messages));
    const std::string reduction = fmt::format("A{} \"bucket 0\" 5", act(ActKind::reduction));
    const std::string link = fmt::format("M{}", phase(Phase::exchange));
    CHECK(events == Lines{
                        "7 0.000100000 TT s0 " + forward,
                        "7 0.000100000 TT s2 " + forward,
                        "9 0.000110000 MT c " + link + " s1 m1 3000",
                        "8 0.000110000 TT s0",
                        "7 0.000110000 TT s1 " + exchange,
                        "7 0.000110000 TT s1 " + messages,
                        "8 0.000112000 TT s2",
                        "7 0.000112000 TT s3 " + exchange,
                        "7 0.000112000 TT s3 " + messages,
                        "11 0.000112000 UT l1 50.00",
                        "11 0.000112000 UT l2 25.00",
                        "11 0.000115000 UT l1 0.00",
                        "11 0.000115000 UT l2 0.00",
                        "8 0.000116000 TT s1",
                        "8 0.000116000 TT s1",
                        "8 0.000116000 TT s3",
                        "7 0.000116000 TT s3 " + reduction,
                        "10 0.000116000 MT c " + link + " s3 m1",
                        "8 0.000118000 TT s3",
                        "8 0.000118000 TT s3",
                    });
}
