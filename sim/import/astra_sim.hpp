#pragma once

#include "sim/import/foreign.hpp"

namespace syncline::config {

/// ASTRA-sim's network file of its analytical backend (YAML: `topology`, `npus_count`, `bandwidth`, `latency`), as a
/// platform without a device. Bandwidths in "GB/s" are 2^30 B/s, as ASTRA-sim computes them.
bool is_astra_network(const Node& document);
void read_astra_network(const Node& document, Imported& imported);

/// ASTRA-sim's system file (JSON), as the platform's device and transport, and the pieces of a trace's collectives.
bool is_astra_system(const Node& document);
void read_astra_system(const Node& document, Imported& imported);

}  // namespace syncline::config
