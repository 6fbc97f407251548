#pragma once

#include "sim/config/scenario.hpp"
#include "sim/explain/trace_explanation.hpp"

namespace syncline::cli {

/// Explains a training or an execution trace.
inline Explanation explained(const config::Variant& variant, const ExplainOptions& options, TimelineView* view) {
    if (variant.trace) return explain_trace(variant.cluster, *variant.trace, options, view);
    return explain(variant.lowered(), options, view);
}

/// Returns null for a trace.
inline const Lowered* lowered_of(const config::Variant& variant) {
    return variant.trace ? nullptr : &variant.lowered();
}

}  // namespace syncline::cli
