#include "sim/explore/objective.hpp"

#include "tests/catch.hpp"

using namespace syncline;
using namespace syncline::batch;

TEST_CASE("rates are maximised and others minimised, unless a prefix says otherwise", "[memory]") {
    const auto read = [](const std::string& text) { return parse_objective({text, {}}); };
    for (const char* large : {"throughput", "throughput_samples_per_s", "scaling_efficiency", "bus_bandwidth_Bps",
                              "algorithm_bandwidth", "tokens_per_s", "tflops_per_device", "model_flops_utilisation",
                              "hardware_flops_utilisation", "max:cost", "max: iteration_time_s", "max:throughput"})
        CHECK(read(large).most);
    for (const char* small : {"iteration_time_s", "cost", "min:throughput", "bytes_sent / throughput_samples_per_s",
                              "-throughput", "maximum", "memory.total_bytes", "waiting_time_s"})
        CHECK_FALSE(read(small).most);
    CHECK(read("max: iteration_time_s").expression.text == "iteration_time_s");
    CHECK(read("min:a + b").expression.text == "a + b");
    for (const char* nothing : {"", "  ", "max:", "min: "}) CHECK_THROWS_AS(read(nothing), ConfigError);
}

TEST_CASE("better follows the objective's direction", "[memory]") {
    Objective objective;
    CHECK(better(objective, 1, 2));
    CHECK_FALSE(better(objective, 2, 2));
    objective.most = true;
    CHECK(better(objective, 2, 1));
    CHECK_FALSE(better(objective, 2, 2));
}
