#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"

/// Checks a file against the Trace Event Format, as strictly as viewers that do not sort.
namespace syncline::test {

struct ChromeSlice {
    std::string thread, name, category;
    std::int64_t start_ns = 0, end_ns = 0;
    nlohmann::json arguments;
};

struct ChromeFlow {
    std::int64_t start_ns = -1, end_ns = -1;
    std::size_t from = 0, to = 0;  ///< the slices that it is bound to
};

struct ChromeFile {
    std::map<std::int64_t, std::string> processes;
    std::vector<ChromeSlice> slices;
    std::map<std::int64_t, ChromeFlow> flows;                                      ///< by id
    std::map<std::string, std::vector<std::pair<std::int64_t, double>>> counters;  ///< by name: time in ns, value
    nlohmann::json about;

    std::vector<ChromeSlice> of(const std::string& thread) const {
        std::vector<ChromeSlice> found;
        for (const ChromeSlice& slice : slices)
            if (slice.thread == thread) found.push_back(slice);
        return found;
    }
};

inline std::int64_t chrome_ns(const nlohmann::json& microseconds) {
    const double ns = microseconds.get<double>() * 1000;
    REQUIRE(ns >= 0);
    REQUIRE(std::abs(ns - std::round(ns)) < 1e-3);
    return std::llround(ns);
}

/// Reads and checks a file: every event is complete, each thread's events are in the order of time with nested slices,
/// every flow has one start and one end, each within a slice of its thread, counters are in the order of time, and
/// everything has a name.
inline ChromeFile check_chrome_trace(const std::string& text) {
    using nlohmann::json;
    const json file = json::parse(text);
    ChromeFile result;
    result.about = file.at("otherData");
    struct Thread {
        std::string name;
        std::int64_t process = -1, last_ns = 0;
        std::vector<std::size_t> open;  ///< slices
    };
    std::map<std::int64_t, Thread> threads;
    std::set<std::int64_t> ids, used;
    for (const json& event : file.at("traceEvents")) {
        const std::string kind = event.at("ph"), name = event.at("name");
        const std::int64_t process = event.at("pid");
        if (kind == "M") {
            const json& given = event.at("args");
            if (name == "process_name") {
                REQUIRE(result.processes.try_emplace(process, given.at("name")).second);
            } else if (name == "thread_name") {
                REQUIRE(process != event.at("tid"));
                REQUIRE(threads.try_emplace(event.at("tid"), Thread{given.at("name"), process, 0, {}}).second);
            } else {
                REQUIRE((name == "process_sort_index" || name == "thread_sort_index"));
                REQUIRE(given.at("sort_index").is_number_integer());
            }
            continue;
        }
        used.insert(process);
        const std::int64_t at_ns = chrome_ns(event.at("ts"));
        if (kind == "C") {
            auto& points = result.counters[name];
            REQUIRE((points.empty() || points.back().first < at_ns));
            points.emplace_back(at_ns, event.at("args").at("%"));
            REQUIRE(points.back().second >= 0);
            continue;
        }
        CAPTURE(event.dump());
        Thread& thread = threads.at(event.at("tid"));
        REQUIRE(thread.process == process);
        REQUIRE(thread.last_ns <= at_ns);
        thread.last_ns = at_ns;
        if (kind == "X") {
            const std::int64_t end_ns = at_ns + chrome_ns(event.at("dur"));
            while (!thread.open.empty() && result.slices[thread.open.back()].end_ns <= at_ns) thread.open.pop_back();
            if (!thread.open.empty()) REQUIRE(end_ns <= result.slices[thread.open.back()].end_ns);
            thread.open.push_back(result.slices.size());
            result.slices.push_back({thread.name, name, event.at("cat"), at_ns, end_ns, event.at("args")});
            continue;
        }
        // A viewer with a stack binds it to the slice that was opened last and is still open.
        REQUIRE((kind == "s" || kind == "f"));
        REQUIRE(event.at("bp") == "e");
        while (!thread.open.empty() && result.slices[thread.open.back()].end_ns < at_ns) thread.open.pop_back();
        REQUIRE(!thread.open.empty());
        ChromeFlow& flow = result.flows[event.at("id")];
        std::int64_t& end = kind == "s" ? flow.start_ns : flow.end_ns;
        REQUIRE(end == -1);
        end = at_ns;
        (kind == "s" ? flow.from : flow.to) = thread.open.back();
    }
    for (const std::int64_t process : used) REQUIRE(result.processes.count(process) == 1);
    for (const auto& [id, flow] : result.flows) {
        CAPTURE(id);
        REQUIRE(flow.start_ns >= 0);
        REQUIRE(flow.end_ns >= flow.start_ns);
    }
    return result;
}

}  // namespace syncline::test
