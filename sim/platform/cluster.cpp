#include "sim/platform/cluster.hpp"

namespace syncline {

double Cluster::route_latency_s() const {
    return 2 * fabric.latency_s;
}

}  // namespace syncline
