#pragma once

#include <array>

/// Colours of lines, in turn: those of variants on pages (`--series-0` … in sim/report/page/page.css).
namespace syncline::batch {

inline constexpr std::array palette{"#332288", "#117733", "#882255", "#7a7a1e", "#2b8a80", "#aa44a0"};

}  // namespace syncline::batch
