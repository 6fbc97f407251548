#include "sim/explain/what_if.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "sim/base/did_you_mean.hpp"
#include "sim/lowering/device_memory.hpp"
#include "sim/workload/compute_model.hpp"

namespace syncline {

namespace {

struct Setting {
    Cluster cluster;
    Model model;
    Plan plan;
    std::string kept = {};  ///< what the change leaves as it is, for a reader: ", in microbatches of the same size"
};

/// Returns the time of all layers in the roofline model, in seconds.
double roofline_s(const Model& model, const Device& device, std::int64_t batch) {
    double sum_s = 0;
    for (const LayerTime& time : layer_times(model, device, batch, ComputeKind::roofline))
        sum_s += time.forward_s + time.backward_s();
    return sum_s;
}

/// Changes the devices of all kinds of nodes, and scales their calibrated throughputs by the ratio of the roofline
/// times.
void change_devices(Setting& setting, const std::function<void(Device&)>& change) {
    for (std::size_t kind = 0; kind < setting.cluster.kinds(); ++kind) {
        Device& device = setting.cluster.device_of(kind);
        const Device before = device;
        change(device);
        for (Calibration& one : device.calibration) {
            if (one.workload != setting.model.name) continue;
            one.samples_per_s *=
                roofline_s(setting.model, before, one.batch) / roofline_s(setting.model, device, one.batch);
        }
    }
}

void speed_up(Setting& setting, double factor) {
    change_devices(setting, [factor](Device& device) {
        device.flops_per_s *= factor;
        if (device.kernels) device.kernels->speed_up(factor);
        for (MeasuredLayers& measured : device.layer_times)
            for (MeasuredLayers::Layer& layer : measured.layers) {
                layer.forward_s /= factor;
                layer.backward_s /= factor;
            }
    });
}

void speed_up_memory(Setting& setting, double factor) {
    if (setting.plan.compute == ComputeKind::measured)
        throw std::invalid_argument("measured layer times do not depend on the memory bandwidth");
    change_devices(setting, [factor](Device& device) {
        // The default of the reduction rate follows, as if the key had been changed.
        if (device.reduction_Bps == device.memory_Bps / 3) device.reduction_Bps = device.memory_Bps * factor / 3;
        device.memory_Bps *= factor;
        if (device.kernels) device.kernels->speed_up_memory(factor);
    });
}

std::int64_t hosts_of(const Cluster& cluster) {
    return cluster.fabric_nodes() * cluster.node.nics;
}

bool has_second_level(TopologySpec fabric, std::int64_t hosts) {
    try {
        fabric.bandwidth_Bps.push_back(fabric.bandwidth_Bps.back());
        make_topology(fabric, Use::fabric, hosts);
        return true;
    } catch (const TopologyError&) {
        return false;
    }
}

/// Multiplies the bandwidths of the levels from `first` to before `last`.
void widen(TopologySpec& fabric, std::int64_t hosts, std::size_t first, std::size_t last, double factor) {
    if (!fabric.edges.empty()) {
        if (first > 0) throw std::invalid_argument("all cables of the fabric belong to link:nic");
        for (UserEdge& edge : fabric.edges) edge.wire.bandwidth_Bps *= factor;
    }
    std::vector<double>& levels = fabric.bandwidth_Bps;
    if (levels.empty()) return;
    if (fabric.shape == Shape::torus || fabric.shape == Shape::graph) {
        // A torus has a level per dimension, and all of them belong to link:nic; a graph's cables are one resource.
        if (first > 0) throw std::invalid_argument("all cables of the fabric belong to link:nic");
        last = levels.size();
    } else if (levels.size() == 1 && has_second_level(fabric, hosts)) {
        levels.push_back(levels.back());  // the last bandwidth applies to all higher levels, too
    }
    if (first >= levels.size()) throw std::invalid_argument("all cables of the fabric belong to link:nic");
    for (std::size_t level = first; level < std::min(levels.size(), last); ++level) levels[level] *= factor;
}

void require_own_links(const Setting& setting) {
    if (setting.cluster.native) throw std::invalid_argument("the links are defined in a SimGrid platform file");
}

void change_nic(Setting& setting, double factor) {
    require_own_links(setting);
    setting.cluster.node.nic_link.bandwidth_Bps *= factor;
    for (OtherNodes& other : setting.cluster.others)
        if (other.port_Bps) *other.port_Bps *= factor;
    widen(setting.cluster.fabric.topology, hosts_of(setting.cluster), 0, 1, factor);
}

void change_fabric(Setting& setting, double factor) {
    require_own_links(setting);
    if (is_flat(setting.cluster))
        throw std::invalid_argument("the fabric is one switch: all its cables belong to link:nic");
    widen(setting.cluster.fabric.topology, hosts_of(setting.cluster), 1, ~std::size_t{0}, factor);
}

void change_node(Setting& setting, double factor) {
    require_own_links(setting);
    if (setting.cluster.node.devices == 1) throw std::invalid_argument("each node has one device");
    setting.cluster.node.link.bandwidth_Bps *= factor;
    for (OtherNodes& other : setting.cluster.others)
        if (other.link_Bps) *other.link_Bps *= factor;
    if (setting.cluster.node.mesh_pcie) setting.cluster.node.mesh_pcie->bandwidth_Bps *= factor;
}

void change_latency(Setting& setting, double factor) {
    require_own_links(setting);
    Cluster& cluster = setting.cluster;
    for (double& latency_s : cluster.fabric.topology.latency_s) latency_s *= factor;
    for (UserEdge& edge : cluster.fabric.topology.edges) edge.wire.latency_s *= factor;
    for (double* latency_s : {&cluster.node.nic_link.latency_s, &cluster.node.link.latency_s,
                              &cluster.transport.between.latency_s, &cluster.transport.inside.latency_s})
        *latency_s *= factor;
    if (cluster.node.mesh_pcie) cluster.node.mesh_pcie->latency_s *= factor;
}

void change_transport(Setting& setting, double factor) {
    Transport& transport = setting.cluster.transport;
    if (is_plain(transport)) throw std::invalid_argument("the platform has no transport");
    for (MessageTerms* terms : {&transport.between, &transport.inside}) {
        terms->send_overhead_s *= factor;
        terms->receive_overhead_s *= factor;
    }
    for (double* seconds :
         {&transport.driver_query_s, &transport.launch_s, &transport.reduction.launch_s, &transport.staging.latency_s})
        *seconds *= factor;
    transport.host_Bps /= factor;
}

void change_batch(Setting& setting, double factor) {
    const double batch = std::round(static_cast<double>(setting.plan.batch_per_rank) * factor);
    if (batch < 1 || batch > 1e9)
        throw std::invalid_argument("the batch would have less than 1 or more than 1e9 samples per rank");
    setting.plan.batch_per_rank = static_cast<std::int64_t>(batch);
    Pipeline& pipeline = setting.plan.parallelism.pipeline;
    if (pipeline.micro_batches == 1 && pipeline.stages == 1) return;
    // The size of a microbatch is what fits into memory, and what kernels are tuned for: users change their number.
    const double number = static_cast<double>(pipeline.micro_batches) * factor;
    if (number == std::floor(number)) {
        pipeline.micro_batches = static_cast<std::int64_t>(number);
        setting.kept = fmt::format(", in {} microbatch{} of the same size", pipeline.micro_batches,
                                   pipeline.micro_batches == 1 ? "" : "es");
    } else {
        setting.kept =
            fmt::format(", in {} microbatches as before, each {} times as large", pipeline.micro_batches, factor);
    }
}

struct Resource {
    const char *name, *text;
    double better;  ///< factor that makes the resource twice as good
    void (*change)(Setting&, double factor);
};

constexpr std::array resources{
    Resource{"device", "the devices compute {} times as fast", 2, speed_up},
    Resource{"memory", "the devices' memory has {} times the bandwidth", 2, speed_up_memory},
    Resource{"link:nic", "links between nodes and fabric have {} times the bandwidth", 2, change_nic},
    Resource{"link:fabric", "links above the fabric's lowest level have {} times the bandwidth", 2, change_fabric},
    Resource{"link:node", "links inside a node have {} times the bandwidth", 2, change_node},
    Resource{"latency", "links have {} times the latency", 0.5, change_latency},
    Resource{"transport", "the transport's overheads are {} times as long", 0.5, change_transport},
    Resource{"batch", "each rank computes {} times the samples", 2, change_batch},
};

struct PlanChange {
    const char *name, *text;
    bool (*applies)(const Plan&);
    void (*change)(Plan&);
};

constexpr std::array plan_changes_known{
    PlanChange{"servers.placement sliced", "each tensor is sliced over all servers",
               [](const Plan& plan) {
                   return plan.exchange == ExchangeKind::parameter_server && plan.servers.count > 1 &&
                          plan.servers.assignment != ServerAssignment::sliced;
               },
               [](Plan& plan) { plan.servers.assignment = ServerAssignment::sliced; }},
    PlanChange{"overlap wait-free", "gradients are exchanged during the backward pass",
               [](const Plan& plan) { return plan.ranks > 1 && plan.overlap == Overlap::none; },
               [](Plan& plan) { plan.overlap = Overlap::wait_free; }},
};

const Resource& resource_of(const Change& change) {
    return *std::find_if(resources.begin(), resources.end(),
                         [&](const Resource& one) { return one.name == change.resource; });
}

}  // namespace

Change parse_change(const std::string& text) {
    std::vector<std::string> names;
    for (const Resource& resource : resources) names.emplace_back(resource.name);
    const std::size_t space = text.find_last_of(' ');
    const auto refuse = [&](const std::string& why) {
        throw std::invalid_argument(
            fmt::format("'{}' is not a change: {}; write RESOURCE xFACTOR, for example 'link:nic x2', with a "
                        "resource of {}",
                        text, why, fmt::join(names, ", ")));
    };
    if (space == std::string::npos) refuse("the factor is missing");
    const std::string number = text.substr(space + 1);
    Change change{text.substr(0, text.find_last_not_of(' ', space) + 1), 0};
    if (std::find(names.begin(), names.end(), change.resource) == names.end()) {
        const std::string meant = did_you_mean(change.resource, names);
        refuse(fmt::format("unknown resource '{}'{}{}", change.resource, meant.empty() ? "" : ", ", meant));
    }
    if (number.size() < 2 || number[0] != 'x') refuse("the factor is not 'x' and a number");
    const char* const end = number.data() + number.size();
    const auto [rest, error] = std::from_chars(number.data() + 1, end, change.factor);
    if (error != std::errc{} || rest != end || !(change.factor >= 1e-6 && change.factor <= 1e6))
        refuse("the factor is not 'x' and a number from 1e-6 to 1e6");
    return change;
}

std::string text_of(const Change& change) {
    return fmt::format("{} x{}", change.resource, change.factor);
}

std::string description_of(const Change& change) {
    return fmt::format(fmt::runtime(resource_of(change).text), change.factor);
}

Cluster changed_cluster(const Cluster& cluster, const Change& change) {
    Setting setting{cluster, {}, {}};
    resource_of(change).change(setting, change.factor);
    return setting.cluster;
}

std::vector<Change> every_change() {
    std::vector<Change> changes;
    for (const Resource& resource : resources) changes.push_back({resource.name, resource.better});
    return changes;
}

std::vector<std::string> plan_changes(const Plan& plan) {
    std::vector<std::string> names;
    for (const PlanChange& change : plan_changes_known)
        if (change.applies(plan)) names.emplace_back(change.name);
    return names;
}

std::vector<WhatIf> what_if(const Lowered& training, const Result& base, const std::vector<Change>& changes,
                            const std::vector<std::string>& of_plan, const Watch& watch) {
    std::vector<WhatIf> all;
    const auto simulate = [&](WhatIf answer, const std::function<void(Setting&)>& change) {
        try {
            Setting setting{training.cluster, training.model, training.plan};
            change(setting);
            answer.text += setting.kept;
            const Lowered changed = lower(setting.cluster, setting.model, setting.plan);
            if (base.memory.fits() && !memory_of(changed).fits())
                throw std::invalid_argument("the plan does not fit into the devices' memory");
            const double seconds = replay_representatives(changed, watch).time.iteration_s;
            answer.iteration_time_s = seconds;
            if (seconds > 0 && base.throughput_samples_per_s) {
                answer.throughput_samples_per_s = static_cast<double>(setting.plan.used_batch()) / seconds;
                answer.speed_up = *answer.throughput_samples_per_s / *base.throughput_samples_per_s;
            }
        } catch (const std::invalid_argument& error) {
            answer.problem = error.what();
        } catch (const ParallelismError& error) {
            answer.problem = error.what();
        } catch (const ReplayError& error) {
            answer.problem = error.what();
        }
        all.push_back(std::move(answer));
    };
    const auto named = [](std::string change, std::string text) {
        WhatIf answer;
        answer.change = std::move(change);
        answer.text = std::move(text);
        return answer;
    };
    for (const Change& change : changes)
        simulate(named(text_of(change), description_of(change)),
                 [&](Setting& setting) { resource_of(change).change(setting, change.factor); });
    for (const PlanChange& change : plan_changes_known)
        if (std::ranges::find(of_plan, change.name) != of_plan.end())
            simulate(named(change.name, change.text), [&](Setting& setting) { change.change(setting.plan); });
    std::stable_sort(all.begin(), all.end(), [](const WhatIf& a, const WhatIf& b) {
        return std::pair(a.problem.empty(), a.speed_up) > std::pair(b.problem.empty(), b.speed_up);
    });
    return all;
}

}  // namespace syncline
