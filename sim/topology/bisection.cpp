#include "sim/topology/bisection.hpp"

#include "sim/topology/cut.hpp"
#include "sim/topology/families.hpp"
#include "sim/topology/rooted_tree.hpp"

namespace syncline {

namespace {

constexpr std::uint32_t most_enumerated = 16;
constexpr std::uint32_t most_in_tree = 16'384;

}  // namespace

std::optional<double> common_weight(const Network& network) {
    if (network.vertices() > network.hosts() || network.one_way() || network.links(0).empty()) return std::nullopt;
    const double weight = network.links(0).front().out;
    for (std::uint32_t host = 0; host < network.hosts(); ++host)
        for (const Link& link : network.links(host))
            if (link.out != weight) return std::nullopt;
    return weight;
}

Bisection bisect(const TopologySpec& spec, const Topology& topology, const Network& network) {
    const std::uint32_t hosts = network.hosts();
    if (hosts == 1) return {0, true, "one host"};

    if (const auto formula = shapes::family_of(spec.shape).bisection)
        if (const auto cut = formula(spec, topology, network)) return *cut;
    if (is_tree(network) && hosts <= most_in_tree)
        return {bisect_tree(network), true, "minimum over all halves of a tree"};
    if (hosts <= most_enumerated) return {least_of_all_halves(network), true, "minimum over all halves"};
    return {least_of_some_halves(network), false, "upper bound: best cut found"};
}

}  // namespace syncline
