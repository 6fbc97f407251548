#include "sim/measured/measured_same.hpp"

#include <algorithm>
#include <utility>

namespace syncline::config {

namespace {

/// Removes names and sources, and mappings that are then empty, such as a transport with only a name.
void forget_texts(Node& mapping) {
    std::erase_if(mapping.entries, [](Entry& entry) {
        if (entry.value.kind == Node::Kind::scalar) return entry.key == "name" || entry.key == "source";
        if (entry.value.entries.empty()) return false;
        forget_texts(entry.value);
        return entry.value.entries.empty();
    });
}

/// Removes calibrations of other workloads. Must be called before names are removed, because a workload's name selects
/// its calibration.
void forget_other_calibrations(Node& document) {
    Node* platform = document.find("platform");
    Node* device = platform ? platform->find("device") : nullptr;
    Node* calibrations = device ? device->find("calibration") : nullptr;
    if (!calibrations) return;
    const Node* workload = document.find("workload");
    const Node* name = workload ? workload->find("name") : nullptr;
    Node own;
    if (const Node* found = name ? calibrations->find(name->scalar) : nullptr) own = *found;
    *calibrations = std::move(own);
}

}  // namespace

void forget_names(Node& document) {
    forget_other_calibrations(document);
    forget_texts(document);
}

}  // namespace syncline::config
