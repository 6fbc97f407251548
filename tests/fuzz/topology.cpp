#include "sim/config/file_kinds.hpp"
#include "sim/topology/formats.hpp"
#include "tests/fuzz/reading.hpp"
#include "tests/fuzz/targets.hpp"

void syncline::fuzz::topology(std::string_view input) {
    const std::string file = file_with("topology.yaml", input);
    for (const Use use : {Use::fabric, Use::overlay})
        reading([&] {
            const config::TopologyQuestion read = config::load_topology(file, {}, use);
            if (read.topology.vertices() > 64) return;
            to_dot(read.topology);
            to_graphml(read.topology);
            to_svg(read.spec, read.topology);
        });
}
