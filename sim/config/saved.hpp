#pragma once

#include "sim/document/fields.hpp"
#include "sim/workload/kept.hpp"

/// The key `saved` of a training.
namespace syncline::config {

void describe(Fields& fields, Saved& saved);

}  // namespace syncline::config
