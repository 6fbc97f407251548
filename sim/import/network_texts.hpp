#pragma once

#include "sim/import/foreign.hpp"

/// Networks that other simulators and tools describe in texts of words, as platforms without a device.
namespace syncline::config {

/// Topologies for ns-3: HPCC's and ASTRA-sim's begin with `<nodes> <switches> <links>`, SimAI's with `<nodes> <GPUs of
/// a server> <NVSwitches> <other switches> <links> <GPU>`.
bool is_ns3(const ForeignFile& file);
void read_ns3(const ForeignFile& file, Imported& imported);

/// htsim's fat trees: `Nodes`, `Tiers`, `Podsize`, and keys of each `Tier`.
bool is_htsim(const ForeignFile& file);
void read_htsim(const ForeignFile& file, Imported& imported);

/// What `ibnetdiscover` prints: the switches, adapters and cables of an InfiniBand network.
bool is_ibnetdiscover(const ForeignFile& file);
void read_ibnetdiscover(const ForeignFile& file, Imported& imported);

}  // namespace syncline::config
