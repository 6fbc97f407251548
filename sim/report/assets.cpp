#include "sim/report/html.hpp"

#include <string>

#include "sim/report/embed.hpp"

namespace {

SYNCLINE_EMBED(html, SYNCLINE_PAGE_DIR "/page.html")
SYNCLINE_EMBED(css, SYNCLINE_PAGE_DIR "/page.css")
SYNCLINE_EMBED(chart, SYNCLINE_CHART_JS)
SYNCLINE_EMBED(base, SYNCLINE_PAGE_DIR "/base.js")
SYNCLINE_EMBED(address, SYNCLINE_PAGE_DIR "/address.js")
SYNCLINE_EMBED(save, SYNCLINE_PAGE_DIR "/save.js")
SYNCLINE_EMBED(svg_pen, SYNCLINE_PAGE_DIR "/svg_pen.js")
SYNCLINE_EMBED(drawing, SYNCLINE_PAGE_DIR "/drawing.js")
SYNCLINE_EMBED(zoom, SYNCLINE_PAGE_DIR "/zoom.js")
SYNCLINE_EMBED(stages, SYNCLINE_PAGE_DIR "/stages.js")
SYNCLINE_EMBED(path, SYNCLINE_PAGE_DIR "/path.js")
SYNCLINE_EMBED(tornado, SYNCLINE_PAGE_DIR "/tornado.js")
SYNCLINE_EMBED(memory, SYNCLINE_PAGE_DIR "/memory.js")
SYNCLINE_EMBED(run, SYNCLINE_PAGE_DIR "/run.js")
SYNCLINE_EMBED(answer, SYNCLINE_PAGE_DIR "/answer.js")
SYNCLINE_EMBED(figure, SYNCLINE_PAGE_DIR "/figure.js")
SYNCLINE_EMBED(axes, SYNCLINE_PAGE_DIR "/axes.js")
SYNCLINE_EMBED(bands, SYNCLINE_PAGE_DIR "/bands.js")
SYNCLINE_EMBED(ranks, SYNCLINE_PAGE_DIR "/ranks.js")
SYNCLINE_EMBED(timeline, SYNCLINE_PAGE_DIR "/timeline.js")
SYNCLINE_EMBED(links, SYNCLINE_PAGE_DIR "/links.js")
SYNCLINE_EMBED(variant, SYNCLINE_PAGE_DIR "/variant.js")
SYNCLINE_EMBED(batch, SYNCLINE_PAGE_DIR "/batch.js")
SYNCLINE_EMBED(choices, SYNCLINE_PAGE_DIR "/choices.js")
SYNCLINE_EMBED(batch_chart, SYNCLINE_PAGE_DIR "/batch_chart.js")
SYNCLINE_EMBED(validation_charts, SYNCLINE_PAGE_DIR "/validation_charts.js")
SYNCLINE_EMBED(validation_tables, SYNCLINE_PAGE_DIR "/validation_tables.js")
SYNCLINE_EMBED(validation, SYNCLINE_PAGE_DIR "/validation.js")
SYNCLINE_EMBED(plan, SYNCLINE_PAGE_DIR "/plan.js")
SYNCLINE_EMBED(jobs, SYNCLINE_PAGE_DIR "/jobs.js")
SYNCLINE_EMBED(page, SYNCLINE_PAGE_DIR "/page.js")

}  // namespace

namespace syncline::assets {

std::string_view page_html() {
    return html();
}

std::string_view page_css() {
    return css();
}

std::string_view chart_js() {
    return chart();
}

std::string_view page_pieces() {
    static const std::string all = [] {
        std::string text;
        for (const std::string_view part : {base(),
                                            address(),
                                            bands(),
                                            axes(),
                                            save(),
                                            svg_pen(),
                                            figure(),
                                            drawing(),
                                            zoom(),
                                            ranks(),
                                            timeline(),
                                            stages(),
                                            path(),
                                            tornado(),
                                            memory(),
                                            links(),
                                            variant(),
                                            run(),
                                            answer(),
                                            choices(),
                                            batch_chart(),
                                            batch(),
                                            validation_charts(),
                                            validation_tables(),
                                            validation(),
                                            plan(),
                                            jobs()})
            text += part;
        return text;
    }();
    return all;
}

std::string_view page_js() {
    static const std::string all = std::string(page_pieces()) + std::string(page());
    return all;
}

}  // namespace syncline::assets
