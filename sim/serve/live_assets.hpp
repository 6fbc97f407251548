#pragma once

#include <string_view>

/// Files of the live page, embedded at build time: those of a report's page (report/assets.cpp), and our own in
/// `page/`.
namespace syncline::serve::assets {

std::string_view live_html();
std::string_view live_css();
std::string_view live_js();
std::string_view chart_js();

}  // namespace syncline::serve::assets
