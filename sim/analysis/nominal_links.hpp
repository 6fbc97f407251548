#pragma once

#include <string>
#include <vector>

#include "sim/lowering/lowered.hpp"

/// Links that software rarely uses at their nominal rate, with the keys that would say so. Both make a prediction too
/// short:
///
/// - Between nodes: one port of more than 25 Gb/s and no transport. Without RDMA the kernel's TCP gives a node 10 to 20
///   Gb/s (horovod issue 2581: 10 of 100 on eight V100; platforms/transports/tcp.yaml: 20 of 40).
/// - Inside a node: PCIe, and computation that exchanges do not slow down. Without peer access they copy through the
///   host's memory, by kernels that take multiprocessors from computation (transformers issue 9371: two GPUs lost 29 %
///   of their speed with the NVLink bridge taken away, where links alone explain 3 %).
namespace syncline {

/// Returns a sentence without a full stop for each.
std::vector<std::string> nominal_link_notes(const Lowered& training);

}  // namespace syncline
