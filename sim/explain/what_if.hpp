#pragma once

#include <string>
#include <vector>

#include "sim/explain/explanation.hpp"

/// The same training with one thing better or worse, simulated again.
///
/// A change is "RESOURCE xFACTOR": bandwidths, speeds and the batch are multiplied, and so are the times of `latency`
/// and `transport`: x0.5 halves them. Resources:
///   device      peak FLOP/s; measured layer times go with it
///   memory      the bandwidth of the devices' memory
///   link:nic    between a node and the fabric: its ports, and the cables of the fabric's lowest level
///   link:fabric the fabric's levels above that
///   link:node   inside a node
///   latency     of all links, and the transport's
///   transport   overheads of messages, launches, queries, staging's latencies; what a node sends in all is divided.
///               Not what one connection reaches by size, nor what protocols add
///   batch       samples of a rank
/// Where a device is calibrated, the factor by which it misses its roofline stays.
namespace syncline {

struct Change {
    std::string resource;
    double factor = 1;
};

/// "link:nic x2". Throws std::invalid_argument, saying what is wrong and what there is.
Change parse_change(const std::string& text);

/// "link:nic x2"; reads back as the same change.
std::string text_of(const Change& change);

/// What sensitivity asks of each resource: twice as good.
std::vector<Change> every_change();

/// Against `base`, the iteration without changes; the largest gain in throughput first.
std::vector<WhatIf> what_if(const Lowered& training, const Result& base, const std::vector<Change>& changes,
                            const Watch& watch = {});

}  // namespace syncline
