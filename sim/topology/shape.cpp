#include "sim/topology/shape.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/topology/builder.hpp"

namespace syncline {

namespace {

void require_range(const char* key, std::int64_t value, std::int64_t least) {
    if (value < least)
        throw TopologyError(key, fmt::format("'{}' is {}, less than the minimum of {}", key, value, least));
    if (value > shapes::most_vertices) shapes::refuse_so_many(key);
}

/// After these checks, the product of two numbers does not overflow. Zero or -1 means "not given", if it is the
/// default.
void require_ranges(const TopologySpec& spec) {
    const TopologySpec standard;
    require_range("hosts", spec.hosts, 0);
    for (const shapes::Family* family : shapes::all) {
        for (const ShapeParameter& parameter : family->parameters) {
            if (const auto* number = std::get_if<std::int64_t TopologySpec::*>(&parameter.value))
                require_range(parameter.key, spec.**number, std::min<std::int64_t>(standard.**number, 1));
            if (const auto* list = std::get_if<std::vector<std::int64_t> TopologySpec::*>(&parameter.value))
                for (const std::int64_t number : spec.**list) require_range(parameter.key, number, 1);
        }
    }
    for (const HierarchyLevel& level : spec.levels) require_range("levels", level.size, 0);
}

void require_agreement(const shapes::Request& request) {
    const std::int64_t said = request.spec.hosts, needed = request.needed;
    if (needed < 0) throw std::logic_error("the number of hosts is negative");
    if (needed > shapes::most_vertices) shapes::refuse_so_many("hosts");
    if (said != 0 && (request.fabric() ? needed > said : needed != 0 && needed != said))
        throw TopologyError("hosts",
                            fmt::format("there are {} {}, but {} are needed", said, request.hosts_word(), needed));
}

}  // namespace

Topology make_topology(const TopologySpec& spec, Use use, std::int64_t hosts) {
    const shapes::Family& family = shapes::family_of(spec.shape);
    if (!family.overlay && use == Use::overlay)
        throw TopologyError("shape",
                            fmt::format("an overlay consists of ranks only, but {} has switches", family.name));
    if (spec.directed && spec.shape != Shape::exponential)
        throw TopologyError("directed", fmt::format("only the exponential graph can be directed, not {}", family.name));
    TopologySpec bare = spec;
    if (use == Use::overlay) {
        // Overlays ignore bandwidths, and may have fewer levels of cables than the fabric.
        bare.bandwidth_Bps.clear();
        bare.latency_s.clear();
    }
    const shapes::Request request{bare, use, hosts};
    require_ranges(spec);
    require_agreement(request);
    Topology topology = family.build != nullptr
                            ? family.build(request)
                            : shapes::build_hierarchy(request, std::array{HierarchyLevel{spec.shape, 0}});
    if (topology.parts == 1) require_connected(topology);
    if (family.factors != nullptr) topology.cycles = family.factors(bare, topology);
    return topology;
}

const shapes::Family& shapes::family_of(Shape shape) {
    for (const Family* family : all)
        if (family->shape == shape) return *family;
    throw std::logic_error("the shape is not in the table");
}

const char* shape_name(Shape shape) {
    return shapes::family_of(shape).name;
}

}  // namespace syncline
