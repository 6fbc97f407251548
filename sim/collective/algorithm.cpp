#include "sim/collective/algorithm.hpp"

#include <fmt/format.h>

#include <map>
#include <stdexcept>

#include "sim/collective/ring.hpp"

namespace syncline {

namespace {

const std::map<std::string, const CollectiveAlgorithm*>& allreduce_algorithms() {
    static const RingAllreduce ring;
    static const std::map<std::string, const CollectiveAlgorithm*> all{{"ring", &ring}};
    return all;
}

}  // namespace

std::vector<std::string> algorithm_names() {
    std::vector<std::string> names;
    for (const auto& [name, unused] : allreduce_algorithms()) names.push_back(name);
    return names;
}

const CollectiveAlgorithm& allreduce_algorithm(const std::string& name) {
    const auto found = allreduce_algorithms().find(name);
    if (found == allreduce_algorithms().end()) throw std::logic_error(fmt::format("no algorithm '{}'", name));
    return *found->second;
}

}  // namespace syncline
