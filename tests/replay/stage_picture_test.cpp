#include <regex>

#include "sim/explain/explain.hpp"
#include "sim/trace/stage_picture.hpp"
#include "tests/catch.hpp"
#include "tests/replay/split_worlds.hpp"

// The picture of stages over time: `--trace svg`.

using namespace syncline;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Two stages with one layer each and two microbatches; a forward pass takes 1 s, a backward pass 2 s, messages none.
struct Stages {
    Stages() : training(lowered()) { explain(training, {}, &view); }
    static Lowered lowered() {
        const Model model = plain_model(2, 0, 25);
        Plan plan;
        plan.ranks = 2;
        plan.batch_per_rank = 2;
        plan.compute = ComputeKind::measured;
        plan.iterations = 1;
        plan.algorithm.name = "ring";
        plan.parallelism.pipeline = {2, 2, 1, PipelineSchedule::one_f_one_b, {}};
        return lower(timed_star(2, 1e18, 0, model, {1, 1}, {2, 2}), model, plan);
    }
    std::string drawn(const TraceLimits& limits = {}) {
        std::string text;
        account =
            write_stage_picture(view, training, limits, "a < b", [&text](std::string_view piece) { text += piece; });
        return text;
    }
    Lowered training;
    TimelineView view;
    std::vector<std::string> account;
};

struct Box {
    double x, y, width;
    std::string number;  ///< that stands in it
};

/// Returns the boxes of passes, in the order drawn.
std::vector<Box> passes_in(const std::string& svg) {
    static const std::regex box(
        "<rect x=\"([0-9.]+)\" y=\"([0-9.]+)\" "
        "width=\"([0-9.]+)\"[^>]*class=\"pass\"[^>]*><title>[^<]*</title></rect>\n"
        "(?:<text [^>]*>([0-9]+)</text>)?");
    std::vector<Box> boxes;
    for (std::sregex_iterator at(svg.begin(), svg.end(), box), end; at != end; ++at)
        boxes.push_back({std::stod((*at)[1]), std::stod((*at)[2]), std::stod((*at)[3]), (*at)[4]});
    return boxes;
}

}  // namespace

TEST_CASE("stage picture: boxes have the times and the numbers of a pencil") {
    Stages stages;
    const std::string svg = stages.drawn();
    // 1F1B. Stage 0: 1 from 0 to 1 s, 2 to 2 s, 1 back from 4 to 6 s, 2 back from 7 to 9 s. Stage 1: 1 from 1 to 2 s,
    // back to 4 s; 2 to 5 s, back to 7 s. The 9 s have 780 - 72 = 708 of the 800 wide picture.
    struct Expected {
        int stage;
        double start_s, end_s;
        const char* number;
    };
    const std::vector<Expected> expected{{0, 0, 1, "1"}, {0, 1, 2, "2"}, {0, 4, 6, "1"}, {0, 7, 9, "2"},
                                         {1, 1, 2, "1"}, {1, 2, 4, "1"}, {1, 4, 5, "2"}, {1, 5, 7, "2"}};
    const std::vector<Box> boxes = passes_in(svg);
    REQUIRE(boxes.size() == expected.size());
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        const Expected& one = expected[i];
        CAPTURE(i);
        CHECK(boxes[i].x == Approx(72 + 708 * one.start_s / 9).margin(0.06));
        CHECK(boxes[i].y == 74 + 40 * one.stage);
        CHECK(boxes[i].width == Approx(708 * (one.end_s - one.start_s) / 9 - 1).margin(0.06));  // 1 between boxes
        CHECK(boxes[i].number == one.number);
    }
    CHECK_THAT(svg, ContainsSubstring(">0</text>") && ContainsSubstring(">9000 ms</text>") &&
                        ContainsSubstring(">a &lt; b</text>") && ContainsSubstring(">stage 1</text>") &&
                        ContainsSubstring("9 s; numbers are microbatches 1 to 2") && ContainsSubstring("#ffffff\"/>"));
    CHECK_THAT(svg, !ContainsSubstring("gradients"));  // nothing is exchanged
    CHECK(stages.account == std::vector<std::string>{"2 stages, 8 passes"});
}

TEST_CASE("stage picture: ranks choose stages, and the time a part") {
    Stages stages;
    TraceLimits limits;
    limits.ranks = {1};
    CHECK(passes_in(stages.drawn(limits)).size() == 4);
    CHECK(stages.account == std::vector<std::string>{"1 of 2 stages, 4 passes"});
    // From 4.5 to 9 s: of stage 0 the backward passes, of stage 1 the rest of the forward pass of 2, and its backward
    // pass.
    limits = {};
    limits.time = {4.5, 9};
    const std::vector<Box> boxes = passes_in(stages.drawn(limits));
    REQUIRE(boxes.size() == 4);
    CHECK(boxes[0].x == 72);
    CHECK(boxes[0].width == Approx(708 * 1.5 / 4.5 - 1).margin(0.06));
    CHECK(boxes[2].number == "2");
    CHECK(boxes[2].width == Approx(708 * 0.5 / 4.5 - 1).margin(0.06));
}
