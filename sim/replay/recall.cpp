#include "sim/replay/recall.hpp"

#include <algorithm>

namespace syncline {

Coroutine<Recall::Beginning> Recall::begin(LaneId lane, Key key, std::uint32_t place, const FoldLayout& layout,
                                           bool free) {
    std::unique_ptr<Execution>& found = executions_[key];
    if (!found) found = std::make_unique<Execution>(key, layout, simulator_.now_s());
    Execution& execution = *found;
    execution.come.push_back(lane);
    Beginning beginning;
    if (execution.come.size() == layout.lanes) {
        beginning.waited_s = simulator_.now_s() - execution.first_s;
        start(execution, free);
        for (const LaneId other : execution.come)
            if (other != lane) simulator_.unpark(other);
    }
    while (!execution.started) co_await simulator_.park(lane);
    if (execution.asleep) beginning.known_s = times_.at(&layout)[place];
    co_return beginning;
}

void Recall::start(Execution& execution, bool free) {
    execution.started = true;
    execution.alone = free;
    execution.start_s = simulator_.now_s();
    each_resource(execution.layout, [&](std::uint32_t resource) {
        execution.alone = execution.alone && owners_[resource] == nullptr && users_[resource] == 0;
    });
    if (!execution.alone) return;
    each_resource(execution.layout, [&](std::uint32_t resource) { owners_[resource] = &execution; });
    const auto known = times_.find(&execution.layout);
    execution.asleep = known != times_.end();
    if (execution.asleep) execution.longest_s = *std::max_element(known->second.begin(), known->second.end());
}

void Recall::end(Key key, std::uint32_t place) {
    Execution& execution = *executions_.at(key);
    execution.seconds[place] = simulator_.now_s() - execution.start_s;
    if (++execution.ended < execution.layout.lanes) return;
    each_resource(execution.layout, [&](std::uint32_t resource) {
        if (owners_[resource] == &execution) owners_[resource] = nullptr;
    });
    if (execution.alone && !execution.asleep) times_.try_emplace(&execution.layout, std::move(execution.seconds));
    executions_.erase(key);
}

bool Recall::disturbs(Execution& execution) const {
    execution.alone = false;
    const double left_s = execution.start_s + execution.longest_s - simulator_.now_s();
    return execution.asleep && left_s > 1e-9 * execution.longest_s;
}

std::optional<ExchangeId> Recall::used(const RingSection& section, Key by) {
    for (const std::uint32_t resource : section.uses) {
        Execution* owner = owners_[resource];
        if (owner != nullptr && owner->key != by && disturbs(*owner)) return owner->key.first;
    }
    if (!section.uses_all) return std::nullopt;
    for (const auto& [key, execution] : executions_)
        if (key != by && execution->started && disturbs(*execution)) return key.first;
    return std::nullopt;
}

}  // namespace syncline
