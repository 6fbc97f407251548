#pragma once

#include <string_view>

/// Files that are part of every page, as they were when the program was built.
namespace syncline::assets {

std::string_view page_html();
std::string_view page_css();
std::string_view chart_js();  ///< Chart.js, of Debian's libjs-chart.js
std::string_view page_js();   ///< the page's own scripts, one behind the other

}  // namespace syncline::assets
