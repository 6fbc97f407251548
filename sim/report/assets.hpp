#pragma once

#include <string_view>

/// Files that are part of every page, embedded at build time.
namespace syncline::assets {

std::string_view page_html();
std::string_view page_css();
std::string_view chart_js();  ///< Chart.js from Debian's libjs-chart.js
std::string_view page_js();   ///< the page's own scripts, concatenated

}  // namespace syncline::assets
