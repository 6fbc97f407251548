#pragma once

namespace syncline {

/// Part of a layer's forward pass that is computed again before its backward pass: nothing, attention's core, every
/// second product of a transformer's block, or all of it. See segments.hpp.
enum class Recomputation { none, selective, operators, full };

}  // namespace syncline
