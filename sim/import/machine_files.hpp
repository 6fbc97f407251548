#pragma once

#include "sim/import/foreign.hpp"

/// Files that describe one node: their readers set Imported::machine.
namespace syncline::config {

/// The matrix that `nvidia-smi topo -m` prints, anywhere in a text.
bool is_topology_matrix(const ForeignFile& file);
void read_topology_matrix(const ForeignFile& file, Imported& imported);

/// What NCCL writes to NCCL_TOPO_DUMP_FILE and reads from NCCL_TOPO_FILE: NVIDIA NCCL, src/graph/xml.cc and topo.cc.
bool is_nccl_topology(const ForeignFile& file);
void read_nccl_topology(const ForeignFile& file, Imported& imported);

/// What hwloc's `lstopo` writes as XML, in version 2 or 3: hwloc/hwloc2.dtd.
bool is_lstopo(const ForeignFile& file);
void read_lstopo(const ForeignFile& file, Imported& imported);

}  // namespace syncline::config
