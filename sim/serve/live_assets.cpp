#include "sim/serve/live_assets.hpp"

#include <string>

#include "sim/report/embed.hpp"
#include "sim/report/html.hpp"

namespace {

SYNCLINE_EMBED(serve_html, SYNCLINE_LIVE_DIR "/live.html")
SYNCLINE_EMBED(serve_css, SYNCLINE_LIVE_BUILT "/live.css")
SYNCLINE_EMBED(serve_js, SYNCLINE_LIVE_BUILT "/live.js")

}  // namespace

namespace syncline::serve::assets {

std::string_view live_html() {
    return serve_html();
}

std::string_view live_css() {
    static const std::string all = std::string(syncline::assets::page_css()) + std::string(serve_css());
    return all;
}

std::string_view live_js() {
    static const std::string all =
        "\"use strict\";\n" + std::string(syncline::assets::page_pieces()) + std::string(serve_js());
    return all;
}

std::string_view chart_js() {
    // Without Path2D Chart.js draws lines step by step, so that they can be saved as SVG.
    static const std::string all = "delete window.Path2D;\n" + std::string(syncline::assets::chart_js());
    return all;
}

}  // namespace syncline::serve::assets
