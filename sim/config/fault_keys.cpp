#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/did_you_mean.hpp"
#include "sim/config/platform_parts.hpp"
#include "sim/platform/faults.hpp"
#include "sim/platform/wiring.hpp"

namespace syncline::config {

namespace {

/// The names of links and switches that faults may give; the cluster is wired for the first fault that gives one.
class FaultyParts {
public:
    explicit FaultyParts(const Cluster& cluster) : cluster_(cluster) {}

    /// Rejects a fault whose link or switch is not there.
    void check(Fields& fields, const Fault& fault) {
        const bool link = fault.part == Fault::Part::link;
        // A star without a number of nodes has as many as needed: those that the name needs, too.
        std::uint32_t nodes = static_cast<std::uint32_t>(cluster_.fabric_nodes());
        if (nodes == 0) nodes = node_in(fault.name) + 1;
        if (nodes > nodes_) {
            wiring_.emplace(cluster_, nodes);
            nodes_ = nodes;
            links_.clear();
            switches_.clear();
        }
        std::vector<std::string>& known = link ? links_ : switches_;
        if (known.empty()) known = link ? all_link_names(*wiring_) : switch_names(*wiring_);
        if (std::ranges::binary_search(known, fault.name)) return;
        const std::vector<std::string> names = link ? link_names(*wiring_) : known;
        const std::string example = names.empty() ? "there is none" : fmt::format("for example `{}`", names.front());
        fields.reject(link ? "link" : "switch",
                      fmt::format("there is no {} '{}'", link ? "link" : "switch", fault.name),
                      did_you_mean(fault.name, names, example));
    }

private:
    /// Returns the largest number of a node or port in a name; no more than a star of nodes is built for.
    std::uint32_t node_in(const std::string& name) const {
        constexpr std::uint32_t most = 100'000;
        std::uint32_t largest = 1;
        for (const std::string_view part : {"host-", "node-"})
            for (std::size_t at = name.find(part); at != std::string::npos; at = name.find(part, at + 1)) {
                std::uint32_t number = 0;
                for (std::size_t i = at + part.size(); i < name.size() && name[i] >= '0' && name[i] <= '9'; ++i)
                    number = std::min(most, 10 * number + static_cast<std::uint32_t>(name[i] - '0'));
                largest = std::max(largest, number);
            }
        return largest;
    }

    const Cluster& cluster_;
    std::uint32_t nodes_ = 0;  ///< that are wired
    std::optional<Wiring> wiring_;
    std::vector<std::string> links_, switches_;  ///< sorted; empty: not asked for yet
};

/// Rejects what the network model cannot do with a fault.
void check_network(Fields& fields, const Fault& fault, const Cluster& cluster) {
    const bool of_links = fault.part == Fault::Part::link || fault.part == Fault::Part::fabric_switch;
    const char* const key = fault.part == Fault::Part::link ? "link" : "switch";
    if (cluster.network == NetworkModel::Constant && of_links)
        return fields.reject(key, "bytes take no time in the network model 'Constant'", "`network: {model: exact}`");
    if (latency_is_ours(cluster.network)) return;
    const bool down = fault.rate == 0 && fault.part != Fault::Part::device;
    if (down && std::isinf(fault.to_s))
        return fields.reject("to", "with SimGrid's network models a part that is down comes back", "write `to: 30 ms`");
    if (fault.rerouted)
        fields.reject("flows", "with SimGrid's network models messages keep their routes", "`flows: stalled`");
}

/// `known`: the cluster has no errors.
void describe_fault(Fields& fields, Fault& fault, const Cluster& cluster, FaultyParts& named, bool known) {
    std::string link, fabric_switch;
    std::int64_t node = -1, device = -1;
    constexpr std::int64_t most = 1 << 24;
    fields.text({"link",
                 "Link with the fault: one direction as results name it, `leaf-0->host-3`, or both, `leaf-0--host-3`; "
                 "in a node `node-2/device-0--device-1`."},
                link);
    fields.text({"switch", "Switch with the fault: its links have the rate."}, fabric_switch);
    fields.integer({"node", "Node with the fault: its devices and host have the rate; at 0 its links are down, too."},
                   node, 0, most);
    fields.integer({"device", "Device with the fault, numbered node by node: what it computes, adds and copies."},
                   device, 0, most * 256 - 1);
    fields.quantity({"from", "Simulated time at which the fault begins: `10 ms`. Default: the start."}, fault.from_s,
                    Dimension::seconds, {.zero = true});
    std::optional<double> to_s;
    fields.quantity({"to", "Simulated time at which it ends: `30 ms`. Default: never."}, to_s, Dimension::seconds,
                    {.zero = true});
    fields.number({"rate", "Part of its bandwidth or speed that the part has; 0: it is down."}, fault.rate, 0, 1);
    fields.one_of({"flows",
                   "Messages over a part that is down wait (`stalled`), or take other routes through the fabric as far "
                   "as there are any (`rerouted`)."},
                  fault.rerouted, {{"stalled", false}, {"rerouted", true}});
    if (!fields.sound()) return;
    fault.to_s = to_s.value_or(fault.to_s);
    const std::vector<std::pair<const char*, Fault::Part>> parts{{"link", Fault::Part::link},
                                                                 {"switch", Fault::Part::fabric_switch},
                                                                 {"node", Fault::Part::node},
                                                                 {"device", Fault::Part::device}};
    std::size_t given = 0;
    for (const auto& [key, part] : parts) {
        if (!fields.given(key)) continue;
        fault.part = part;
        if (++given > 1)
            fields.reject(key, fmt::format("'{}' beside another part", key), "write a fault for each part");
    }
    if (given != 1) {
        if (given == 0) fields.reject("", "which part has the fault?", "write `link`, `switch`, `node` or `device`");
        return;
    }
    fault.name = fault.part == Fault::Part::link ? link : fabric_switch;
    fault.number = static_cast<std::uint32_t>(std::max<std::int64_t>(0, std::max(node, device)));
    if (fault.to_s < fault.from_s)
        fields.reject("to", "the fault ends before it begins", "write a time after that of `from`");
    if (!known) return;
    const bool by_device = fault.part == Fault::Part::device;
    const std::int64_t count = cluster.fabric_nodes() * (by_device ? cluster.node.devices : 1);
    if ((by_device || fault.part == Fault::Part::node) && cluster.nodes > 0 && fault.number >= count)
        fields.reject(by_device ? "device" : "node",
                      fmt::format("there is no {} {}", by_device ? "device" : "node", fault.number),
                      fmt::format("there are {}: 0 to {}", count, count - 1));
    if (fault.rerouted && (fault.rate > 0 || by_device))
        fields.reject("flows", "messages avoid links that are down, not slow ones", "`flows: stalled`, or `rate: 0`");
    if (fault.rerouted && cluster.fabric.routing.policy == Routing::Policy::spray)
        fields.reject("flows", "with `routing.policy: spray` packets use all ways", "`flows: stalled`");
    check_network(fields, fault, cluster);
    if (!fields.sound()) return;
    if (fault.part == Fault::Part::link || fault.part == Fault::Part::fabric_switch) named.check(fields, fault);
}
}  // namespace

void describe_faults(Fields& fields, Cluster& cluster) {
    const bool known = fields.sound() && !fields.given("simgrid_xml");
    std::vector<Fault> faults;
    FaultyParts named(cluster);
    fields.each({"faults",
                 "Parts that are slow or down for a time of the simulation. Default: all are in order. For failures "
                 "that end a run see `failures`."},
                [&](Fields& inner) {
                    Fault& fault = faults.emplace_back();
                    describe_fault(inner, fault, cluster, named, known);
                });
    if (fields.given("simgrid_xml") && fields.given("faults"))
        fields.reject("faults", "'faults' has no effect with 'simgrid_xml'",
                      "give the links of that file a `bandwidth_file` or a `state_file`");
    if (fields.sound()) cluster.faults = std::move(faults);
}

}  // namespace syncline::config
