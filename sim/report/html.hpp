#pragma once

#include <string>
#include <string_view>

#include "sim/output/field_units.hpp"
#include "sim/output/json_text.hpp"

namespace syncline {

/// Returns a page with `data`, style sheet and scripts. `title` is plain text; it is escaped here.
std::string html_page(const std::string& title, const Json& data);

/// Returns the name of a unit in the scripts (page/base.js).
const char* page_unit(Unit unit);

/// Returns JSON for a <script> element, in which names that contain "</script" or "<!--" are harmless.
std::string script_json(const Json& data);

}  // namespace syncline

/// Files that are part of every page, embedded at build time.
namespace syncline::assets {

std::string_view page_html();
std::string_view page_css();
std::string_view chart_js();  ///< Chart.js from Debian's libjs-chart.js
/// The page's own scripts, concatenated: functions that draw, and those with what a page runs at its end.
std::string_view page_pieces();
std::string_view page_js();

}  // namespace syncline::assets
