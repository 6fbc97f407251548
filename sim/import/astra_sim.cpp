#include "sim/import/astra_sim.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "sim/base/number.hpp"
#include "sim/import/cable_list.hpp"
#include "sim/import/written.hpp"

/// Sources: common/NetworkFunction.cc, common/network-parser/NetworkParser.cc and
/// congestion_aware/multi-dim-topology/MultiDimTopology.cc of astra-sim/astra-network-analytical; astra-sim/system/
/// Sys.cc, MemBus.cc, PacketBundle.cc and astraccl/native_collectives of astra-sim/astra-sim.
namespace syncline::config {

namespace {

constexpr double gibi = 0x1p30;

/// A dimension of the network: groups of `npus` that a ring, a switch or cables between all of them join.
struct AstraDimension {
    std::string shape;
    std::int64_t npus = 0;
    double gibibytes_per_s = 0;  ///< in 2^30 B/s
    double latency_ns = 0;       ///< of a cable
    Mark mark;

    std::string bandwidth() const { return fmt::format("{} GiBps", gibibytes_per_s); }
    std::string latency() const { return config::latency_text(latency_ns * 1e-9); }
};

/// Returns the items of a list, or the only one.
std::vector<Node> items_of(ForeignKeys& keys, const char* name, std::size_t most) {
    const Node* const value = keys.find({name});
    if (value == nullptr) return {};
    if (value->kind != Node::Kind::sequence) return {*value};
    if (value->items.size() <= most) return value->items;
    keys.findings().fail(value->mark,
                         fmt::format("'{}' has {} entries, not at most {}", name, value->items.size(), most));
    return {};
}

double number_at(const Node& item, const char* name, double least, double most, Findings& findings) {
    const auto number = item.kind == Node::Kind::scalar ? number_in<double>(item.scalar) : std::nullopt;
    if (number && *number >= least && *number <= most) return *number;
    findings.fail(item.mark,
                  fmt::format("'{}': '{}' is not a number from {} to {}", name,
                              item.kind == Node::Kind::scalar ? item.scalar.substr(0, 40) : "a list", least, most));
    return least;
}

std::vector<AstraDimension> dimensions_of(ForeignKeys& keys) {
    constexpr std::size_t most_dimensions = 8;
    Findings& findings = keys.findings();
    const std::vector<Node> shapes = items_of(keys, "topology", most_dimensions);
    std::vector<AstraDimension> dimensions;
    for (const Node& shape : shapes) {
        dimensions.push_back({shape.scalar, 0, 0, 0, shape.mark});
        if (shape.scalar != "Ring" && shape.scalar != "Switch" && shape.scalar != "FullyConnected")
            findings.fail(shape.mark, fmt::format("'{}' is no topology of ASTRA-sim", shape.scalar.substr(0, 40)),
                          "Ring, Switch, FullyConnected");
    }
    const auto fill = [&](const char* name, const std::function<void(AstraDimension&, const Node&)>& set) {
        const std::vector<Node> values = items_of(keys, name, most_dimensions);
        if (values.size() != shapes.size())
            findings.fail(keys.mark(),
                          fmt::format("'{}' has {} entries, 'topology' {}", name, values.size(), shapes.size()),
                          "one for each dimension");
        for (std::size_t i = 0; i < std::min(values.size(), shapes.size()); ++i) set(dimensions[i], values[i]);
    };
    fill("npus_count", [&](AstraDimension& dimension, const Node& value) {
        const auto count = foreign_whole(value);
        if (!count || *count < 2 || *count > largest_given)
            findings.fail(value.mark, fmt::format("'npus_count' is not a whole number from 2 to {}", largest_given));
        else
            dimension.npus = *count;
    });
    fill("bandwidth", [&](AstraDimension& dimension, const Node& value) {
        dimension.gibibytes_per_s = number_at(value, "bandwidth", 1e-9, 1e8, findings);
    });
    fill("latency", [&](AstraDimension& dimension, const Node& value) {
        dimension.latency_ns = number_at(value, "latency", 0, 1e12, findings);
    });
    if (dimensions.empty()) findings.fail(keys.mark(), "'topology' has no dimension");
    return dimensions;
}

const char* fabric_shape(const AstraDimension& dimension) {
    return dimension.shape == "Ring" ? "ring" : dimension.shape == "Switch" ? "star" : "full-mesh";
}

Node list_of(const std::vector<AstraDimension>& dimensions,
             const std::function<std::string(const AstraDimension&)>& text) {
    Node list = empty_at(dimensions.front().mark, Node::Kind::sequence);
    for (const AstraDimension& dimension : dimensions) list.items.push_back(scalar_at(dimension.mark, text(dimension)));
    return list;
}

/// Returns all cables, as ASTRA-sim lays them: in every dimension one group for each position in the others.
Node graph_of(const std::vector<AstraDimension>& dimensions, std::int64_t npus, Findings& findings) {
    constexpr std::int64_t most_cables = 20'000;
    std::int64_t cables = 0;
    for (const AstraDimension& dimension : dimensions)
        cables += npus * (dimension.shape == "FullyConnected" ? dimension.npus / 2 : 1);
    const Mark& mark = dimensions.front().mark;
    if (cables > most_cables) {
        findings.fail(
            mark, fmt::format("these dimensions have {} cables, more than {}", cables, most_cables),
            "fewer NPUs; or rings in all of up to three dimensions, or two dimensions of which the second is a "
            "Switch");
        return {};
    }
    CableList list;
    for (std::int64_t npu = 0; npu < npus; ++npu) list.add_host(fmt::format("npu-{}", npu));
    std::int64_t stride = 1, switches = 0;
    for (const AstraDimension& dimension : dimensions) {
        const double bandwidth = dimension.gibibytes_per_s * gibi, latency = dimension.latency_ns * 1e-9;
        const auto member = [&](std::int64_t first, std::int64_t i) {
            return static_cast<CableList::Vertex>(first + i * stride);
        };
        for (std::int64_t first = 0; first < npus; ++first) {
            if (first / stride % dimension.npus != 0) continue;
            const auto cable = [&](CableList::Vertex a, CableList::Vertex b) {
                list.add_cable(a, b, bandwidth, latency, dimension.mark);
            };
            const bool is_switch = dimension.shape == "Switch", ring = dimension.shape == "Ring";
            const CableList::Vertex hub = is_switch ? list.add_switch(fmt::format("switch-{}", switches++)) : 0;
            for (std::int64_t i = 0; i < dimension.npus; ++i) {
                if (is_switch) cable(member(first, i), hub);
                if (ring && (i + 1 < dimension.npus || dimension.npus > 2))
                    cable(member(first, i), member(first, (i + 1) % dimension.npus));
                for (std::int64_t j = i + 1; !is_switch && !ring && j < dimension.npus; ++j)
                    cable(member(first, i), member(first, j));
            }
        }
        stride *= dimension.npus;
    }
    return list.fabric(mark, findings);
}

/// Adds nodes and fabric.
void lay_out(const std::vector<AstraDimension>& dimensions, std::int64_t npus, Written& platform, Findings& findings) {
    constexpr std::int64_t most_devices = 256;
    const AstraDimension &inner = dimensions.front(), &outer = dimensions.back();
    Written fabric(inner.mark);
    const auto bandwidths = [&] {
        return list_of(dimensions, [](const AstraDimension& one) { return one.bandwidth(); });
    };
    const auto latencies = [&] { return list_of(dimensions, [](const AstraDimension& one) { return one.latency(); }); };
    const bool rings = std::ranges::all_of(dimensions, [](const AstraDimension& one) { return one.shape == "Ring"; });
    if (dimensions.size() == 1) {
        platform.set("nodes", npus);
        fabric.set("topology", fabric_shape(inner)).set("hosts", npus);
        fabric.set("bandwidth", inner.bandwidth()).set("latency", inner.latency());
    } else if (rings && dimensions.size() <= 3) {
        platform.set("nodes", npus);
        fabric.set("topology", "torus");
        fabric.set("dimensions",
                   list_of(dimensions, [](const AstraDimension& one) { return std::to_string(one.npus); }));
        fabric.set("bandwidth", bandwidths()).set("latency", latencies());
    } else if (dimensions.size() == 2 && outer.shape == "Switch" && inner.npus <= most_devices) {
        platform.set("nodes", outer.npus);
        Written links(inner.mark);
        links.set("pattern", inner.shape == "Switch" ? "switch" : inner.shape == "Ring" ? "ring" : "all-to-all");
        links.set("bandwidth", inner.bandwidth()).set("latency", inner.latency());
        Written node(inner.mark);
        node.set("devices", inner.npus).set("links", links.take()).set("nics", inner.npus);
        platform.set("per_node", node.take());
        fabric.set("topology", "rails").set("rails", inner.npus).set("spines", std::int64_t{0});
        fabric.set("bandwidth", outer.bandwidth()).set("latency", outer.latency());
    } else {
        platform.set("nodes", npus);
        platform.set("fabric", graph_of(dimensions, npus, findings));
        return;
    }
    platform.set("fabric", fabric.take());
}

/// Returns our name of ASTRA-sim's algorithm for an operation.
std::string algorithm_of(const std::string& name, const std::string& operation) {
    const auto is = [&](const char* one, const char* other) { return name == one || name == other; };
    if (name.starts_with("direct") || name.starts_with("oneDirect")) return "direct";
    if (operation == "all-to-all") return is("ring", "oneRing") ? "pairwise" : "";
    if (is("ring", "oneRing")) return "ring";
    if (is("halvingDoubling", "oneHalvingDoubling"))
        return operation == "allreduce"   ? "rabenseifner"
               : operation == "allgather" ? "recursive-doubling"
                                          : "recursive-halving";
    return name == "doubleBinaryTree" && operation == "allreduce" ? "double-binary-tree" : "";
}

struct Implementation {
    const char *key, *operation;
};

constexpr Implementation implementations[] = {{"all-reduce-implementation", "allreduce"},
                                              {"reduce-scatter-implementation", "reduce-scatter"},
                                              {"all-gather-implementation", "allgather"},
                                              {"all-to-all-implementation", "all-to-all"}};

/// Returns the rows of a selection, and in `dimensions` the number of the network's.
std::vector<Node> rows_of(ForeignKeys& keys, std::size_t& dimensions) {
    constexpr std::size_t most = 8;
    Findings& findings = keys.findings();
    std::vector<Node> rows;
    for (const Implementation& one : implementations) {
        const char *const key = one.key, *const operation = one.operation;
        const Node* const value = keys.find({key});
        const std::vector<Node> names = items_of(keys, key, most);
        if (names.empty()) continue;
        dimensions = std::max(dimensions, names.size());
        const std::string& first = names.front().scalar;
        const std::string algorithm = algorithm_of(first, operation);
        if (algorithm.empty()) {
            findings.note(value->mark,
                          fmt::format("left out: '{}: {}'; the algorithm is our default", key, first.substr(0, 40)));
            continue;
        }
        if (algorithm == "pairwise")
            findings.note(value->mark,
                          "the all-to-all is 'pairwise': ASTRA-sim's ring passes each message from "
                          "neighbour to neighbour");
        const bool same = std::ranges::all_of(names, [&](const Node& name) { return name.scalar == first; });
        if (!same) findings.note(value->mark, fmt::format("'{}' is {} in all dimensions", key, first.substr(0, 40)));
        rows.push_back(Written(value->mark).set("operation", operation).set("algorithm", algorithm).take());
    }
    if (dimensions > 1)
        findings.note(keys.mark(), "a collective has all ranks at once; ASTRA-sim has a phase for each dimension");
    return rows;
}

Node device_of(ForeignKeys& keys) {
    const auto peak = keys.number({"peak-perf"}), memory = keys.number({"local-mem-bw"});
    Written device(keys.mark());
    device.set("name", "npu");
    const auto positive = [&](const char* key, const std::optional<double>& value, const char* unit, const char* ours,
                              const char* otherwise) {
        constexpr double most = 1e9;
        const bool given = value && *value > 0;
        if (value && (*value < 0 || *value > most))
            keys.findings().fail(keys.find({key})->mark, fmt::format("'{}' is not from 0 to {}", key, most));
        if (given)
            device.set(ours, fmt::format("{} {}", *value, unit));
        else if (otherwise != nullptr)
            device.set(ours, otherwise);
    };
    positive("peak-perf", peak, "Tflops", "flops", "1 Tflops");
    positive("local-mem-bw", memory, "GBps", "memory_bandwidth", "1 TBps");
    if (!peak || *peak == 0)
        keys.findings().note(keys.mark(),
                             "there is no 'peak-perf': 1 Tflops is chosen, for nodes in FLOP without a time");
    if (!memory || *memory == 0) {
        device.set("reduction_rate", "unlimited");
        keys.findings().note(keys.mark(), "there is no 'local-mem-bw': additions take no time");
    }
    return device.take();
}

/// Notes settings that say something only if another one is on.
void note_left_out(ForeignKeys& keys, bool bus) {
    const auto note = [&](const char* key, const char* what) {
        if (const Node* const value = keys.find({key}))
            keys.findings().note(value->mark, fmt::format("left out: '{}'{}", key, what));
    };
    if (const Node* const policy = keys.find({"scheduling-policy"}); policy && policy->scalar != "FIFO")
        keys.findings().note(
            policy->mark, fmt::format("left out: 'scheduling-policy: {}'; collectives of a group are in the order in "
                                      "which they are ready",
                                      policy->scalar.substr(0, 40)));
    for (const char* key : {"L", "o", "g", "G", "local-reduction-delay"}) {
        if (bus)
            note(key, ", of the bus to memory");
        else
            keys.find({key});
    }
    note("intra-dimension-scheduling", "");
    note("inter-dimension-scheduling", "");
    for (const Implementation& one : implementations)
        note((std::string(one.key) + "-custom").c_str(), ", a collective in files of its own");
    keys.ignore(
        "boost-mode collective-optimization local-mem-trace-filename replay-only trace-enabled track-local-mem");
}

}  // namespace

bool is_astra_network(const Node& document) {
    return document.find("npus_count") != nullptr && document.find("topology") != nullptr;
}

void read_astra_network(const Node& document, Imported& imported) {
    Findings& findings = imported.findings;
    ForeignKeys keys(document, findings);
    const std::vector<AstraDimension> dimensions = dimensions_of(keys);
    keys.report_others();
    if (!findings.errors.empty()) return;
    std::int64_t npus = 1;
    for (const AstraDimension& dimension : dimensions) {
        npus *= dimension.npus;
        if (npus > largest_given)
            return findings.fail(dimension.mark, fmt::format("there are more than {} NPUs", largest_given));
    }
    Written platform(document.mark);
    platform.set("name", "astra-sim");
    lay_out(dimensions, npus, platform, findings);
    const double first = dimensions.front().gibibytes_per_s;
    findings.note(
        keys.find({"bandwidth"})->mark,
        fmt::format("ASTRA-sim computes bandwidths with 2^30 B, though its documents say GB/s: {} are {:.4g} GB/s",
                    first, first * gibi / 1e9));
    if (dimensions.size() > 1)
        findings.note(document.mark, "routes are the shortest ones; ASTRA-sim goes through the dimensions in order");
    imported.platform = platform.take();
    imported.trace = Written(document.mark).set("ranks", npus).take();
}

bool is_astra_system(const Node& document) {
    return document.find("preferred-dataset-splits") || document.find("all-reduce-implementation") ||
           document.find("active-chunks-per-dimension") || document.find("endpoint-delay");
}

void read_astra_system(const Node& document, Imported& imported) {
    Findings& findings = imported.findings;
    ForeignKeys keys(document, findings);
    Written platform(document.mark), transport(document.mark), selection(document.mark);
    platform.set("device", device_of(keys));

    constexpr double default_delay_ns = 10, longest_delay_ns = 1e9;
    const double delay = keys.number({"endpoint-delay"}).value_or(default_delay_ns);
    if (delay < 0 || delay > longest_delay_ns)
        findings.fail(keys.find({"endpoint-delay"})->mark,
                      fmt::format("'endpoint-delay' is not from 0 to {}", longest_delay_ns));
    const std::string overhead = latency_text(delay * 1e-9);
    transport.set("launch", overhead).set("receive_overhead", overhead);
    Node rows = empty_at(document.mark, Node::Kind::sequence);
    std::size_t dimensions = 1;
    rows.items = rows_of(keys, dimensions);
    if (dimensions == 1) transport.set("channels", std::int64_t{1});  // a ring goes one way round
    if (!rows.items.empty()) transport.set("selection", selection.set("rows", std::move(rows)).take());
    platform.set("transport", transport.take());
    imported.platform = platform.take();

    constexpr std::int64_t most_pieces = 1024;
    const auto pieces = keys.whole({"preferred-dataset-splits"}, most_pieces);
    if (pieces && pieces->value > 1) imported.trace = Written(pieces->mark).set("pieces", *pieces).take();
    if (const auto active = keys.whole({"active-chunks-per-dimension"}, largest_given); active && active->value > 1)
        findings.note(active->mark,
                      fmt::format("left out: 'active-chunks-per-dimension: {}'; the pieces of a collective follow one "
                                  "another",
                                  active->value));
    if (const auto roofline = keys.whole({"roofline-enabled"}, 1, 0); roofline && roofline->value == 1)
        findings.note(roofline->mark, "work in FLOP takes its time at 'peak-perf', without a roofline");
    const auto bus = keys.whole({"model-shared-bus"}, 1, 0);
    if (bus && bus->value == 1) findings.note(bus->mark, "left out: 'model-shared-bus'");
    note_left_out(keys, bus && bus->value == 1);
    keys.report_others();
}

}  // namespace syncline::config
