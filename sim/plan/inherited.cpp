#include "sim/plan/inherited.hpp"

#include <algorithm>
#include <utility>

#include "sim/plan/plan.hpp"

namespace syncline {

namespace {

/// Sets what a key says to what it is in another plan. The keys are those that settle() refuses in some plans.
using Copy = void (*)(Plan& to, const Plan& from);

const std::vector<std::pair<std::string, Copy>>& copies() {
    static const std::vector<std::pair<std::string, Copy>> all{
        {"overlap", [](Plan& to, const Plan& from) { to.overlap = from.overlap; }},
        {"schedule", [](Plan& to, const Plan& from) { to.schedule = from.schedule; }},
        {"fusion.cycle", [](Plan& to, const Plan& from) { to.fusion.cycle_s = from.fusion.cycle_s; }},
        {"fusion.negotiation", [](Plan& to, const Plan& from) { to.fusion.negotiation = from.fusion.negotiation; }},
        {"parallelism.sequence",
         [](Plan& to, const Plan& from) { to.parallelism.sequence = from.parallelism.sequence; }},
        {"parallelism.model_overlap",
         [](Plan& to, const Plan& from) {
             to.parallelism.model_overlap = from.parallelism.model_overlap;
             to.parallelism.model_chunks = from.parallelism.model_chunks;
         }},
        {"parallelism.gathering", [](Plan& to, const Plan& from) { to.parallelism.gather = from.parallelism.gather; }},
        {"parallelism.gradient_sync",
         [](Plan& to, const Plan& from) { to.parallelism.gradient_sync = from.parallelism.gradient_sync; }},
        {"parallelism.device_queues",
         [](Plan& to, const Plan& from) { to.parallelism.device_queues = from.parallelism.device_queues; }},
    };
    return all;
}

}  // namespace

bool inherits(const Plan& plan, const std::string& key) {
    return std::find(plan.inherited.begin(), plan.inherited.end(), key) != plan.inherited.end();
}

bool disinherit(Plan& plan, const std::string& key) {
    const auto copy = std::find_if(copies().begin(), copies().end(), [&](const auto& one) { return one.first == key; });
    if (copy == copies().end() || std::erase(plan.inherited, key) == 0) return false;
    copy->second(plan, Plan());
    return true;
}

}  // namespace syncline
