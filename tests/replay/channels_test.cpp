#include <algorithm>
#include <map>
#include <tuple>

#include "sim/iteration/iteration.hpp"
#include "tests/catch.hpp"
#include "tests/replay/random_plans.hpp"

// Messages with the same tag between the same two processes are delivered in order. So what one process has in flight
// to another with one tag is of one stream: two streams of a tag would take each other's messages.

using namespace syncline;

TEST_CASE("channels: no two streams of a rank send to another rank with the same tag") {
    for (std::uint64_t seed = 6000; seed < 6300; ++seed) {
        const RandomPlan random = random_plan(seed);
        INFO(random.words());
        const TaskGraph graph = build_iteration(lower(random.cluster, random.model, random.plan));
        std::map<std::tuple<ProcessId, ProcessId, std::uint32_t>, StreamId> streams;
        bool apart = true;
        for (const Task& task : graph.tasks()) {
            if (task.exchange == Task::no_exchange) continue;
            const Exchange& exchange = graph.exchange(task.exchange);
            const std::span<const ProcessId> group = graph.group(exchange.group);
            const auto members = static_cast<std::uint32_t>(group.size());
            for (std::uint32_t lane = 0; lane < exchange.algorithm->lanes(); ++lane)
                for (const Step& step :
                     exchange.algorithm->lane_program(lane, task.member, members, exchange.bytes, 0).steps)
                    for (const Message& message : step.sends) {
                        const auto [found, added] = streams.try_emplace(
                            {graph.streams()[task.stream].process, group[message.peer], exchange.tag}, task.stream);
                        apart = apart && found->second == task.stream;
                    }
        }
        CHECK(apart);
    }
}
