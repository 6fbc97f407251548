#pragma once

#include <cstdint>

#include "sim/document/document.hpp"

/// Keys by which one document means several simulations: sizes of a sweep, and `model: auto`.
namespace syncline::config {

/// Return whether a document gives several sizes, and whether it leaves a grid open.
bool gives_sweep(const Node& document);
bool gives_open_grid(const Node& document);

/// Settles all open grids of a document. `sequence`: whether positions can then be divided among rows.
void set_grid(Node& document, std::int64_t rows, bool sequence);

}  // namespace syncline::config
