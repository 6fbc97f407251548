#pragma once

#include "sim/document/fields.hpp"
#include "sim/lowering/compressed.hpp"
#include "sim/workload/precision.hpp"

/// Keys for the bytes of a training's elements: in memory and in exchanges.
namespace syncline::config {

/// Describes the key `precision`.
void describe(Fields& fields, Precision& precision);

/// Describes the key `compression`.
void describe(Fields& fields, Compression& compression);

}  // namespace syncline::config
