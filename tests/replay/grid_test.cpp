#include <fmt/format.h>

#include <cmath>
#include <map>

#include "sim/analysis/experiment.hpp"
#include "sim/config/scenario.hpp"
#include "tests/catch.hpp"

// scenarios/gholami-2018.yaml: every grid of model × data parallelism, at message level, compared with the equations of
// A. Gholami et al., SPAA 2018 (arXiv 1712.04432), computed here from the network's shapes, and with a table that was
// computed from them independently.

using namespace syncline;

namespace {

constexpr double alpha_s = 2e-6, beta_s = 1 / 6e9, samples = 2048, element_bytes = 4;

struct Counts {
    double weights, outputs, inputs;
};

/// Returns the counts of a convolution of square images, with biases, without groups.
Counts convolved(double channels, double filters, double kernel, double size_before, double size_behind) {
    return {filters * (channels * kernel * kernel + 1), filters * size_behind * size_behind,
            channels * size_before * size_before};
}
Counts connected(double inputs, double outputs) {
    return {(inputs + 1) * outputs, outputs, inputs};
}

/// AlexNet; a convolution's inputs are after the pooling.
const std::vector<Counts> alexnet{convolved(3, 96, 11, 227, 55),  convolved(96, 256, 5, 27, 27),
                                  convolved(256, 384, 3, 13, 13), convolved(384, 384, 3, 13, 13),
                                  convolved(384, 256, 3, 13, 13), connected(9216, 4096),
                                  connected(4096, 4096),          connected(4096, 1000)};
constexpr std::size_t first_dense = 5;

/// Returns the time of an allgather, or half of an all-reduce, of `elements` elements.
double half_s(std::int64_t ranks, double elements) {
    const auto n = static_cast<double>(ranks);
    return alpha_s * std::ceil(std::log2(n)) + beta_s * element_bytes * (n - 1) / n * elements;
}

/// Layers before `first` have one row.
double equation_s(std::int64_t ranks, std::int64_t rows, std::size_t first) {
    double time_s = 0;
    for (std::size_t i = 0; i < alexnet.size(); ++i) {
        const std::int64_t its_rows = i < first ? 1 : rows, columns = ranks / its_rows;
        const double share = samples / static_cast<double>(columns);
        time_s += half_s(its_rows, share * alexnet[i].outputs);
        if (i > 0) time_s += 2 * half_s(its_rows, share * alexnet[i].inputs);
        time_s += 2 * half_s(columns, alexnet[i].weights / static_cast<double>(its_rows));
    }
    return time_s;
}

/// Simulates all grids of one variant. `table`: milliseconds by rows. Returns the rows of the best one.
std::int64_t compare(const std::string& variant, std::int64_t ranks, std::size_t first,
                     const std::map<std::int64_t, double>& table) {
    const auto scenario = config::load_scenario(SYNCLINE_SOURCE_DIR "/scenarios/gholami-2018.yaml", {});
    Report report;
    std::size_t in_table = 0;
    std::int64_t best_of_equation = 1;
    for (const config::Variant& choice : scenario.variants) {
        if (choice.choice_of != variant) continue;
        const Parallelism& split = choice.plan.parallelism;
        const std::int64_t rows = first == 0 ? split.layout.rows : split.ranges.at(0).layout->rows;
        Result result = simulate(lower(choice.cluster, choice.model, choice.plan));
        const double found_s = result.time.communication_s, equation = equation_s(ranks, rows, first);
        CAPTURE(choice.name, found_s, equation);
        CHECK(result.ranks == ranks);
        // Eight rows divide every layer's channels. More rows leave some with more of a layer than others, which takes
        // longer, never shorter. Messages consist of whole bytes.
        CHECK(found_s == Approx(equation).epsilon(rows <= 8 ? 1e-5 : 0.01));
        CHECK(found_s > equation * (1 - 1e-5));
        CHECK(result.time.compute_s < 1e-6 * found_s);
        if (const auto known = table.find(rows); known != table.end()) {
            CHECK(found_s == Approx(known->second / 1e3).epsilon(0.01));
            ++in_table;
        }
        if (equation < equation_s(ranks, best_of_equation, first)) best_of_equation = rows;
        result.variant = fmt::format("{}", rows);
        result.choice_of = variant;
        report.results.push_back(std::move(result));
    }
    CHECK(in_table == table.size());
    CHECK(report.results.size() == static_cast<std::size_t>(std::log2(ranks)) + 1);
    mark_best(report);
    std::int64_t best = 0;
    for (const Result& result : report.results) {
        if (!*result.best) continue;
        CHECK(best == 0);
        best = std::stoll(result.variant);
    }
    CHECK(best == best_of_equation);
    return best;
}

Result result_of(const std::string& choice_of, double iteration_s) {
    Result result;
    result.choice_of = choice_of;
    result.time.iteration_s = iteration_s;
    return result;
}

}  // namespace

TEST_CASE("grids of 8 ranks take the equations' time, and data parallelism is best unless only dense layers are split",
          "[memory]") {
    CHECK(compare("all-8", 8, 0, {{1, 72.9}, {2, 232.7}, {8, 1410}}) == 1);
    CHECK(compare("dense-8", 8, first_dense, {{1, 72.9}, {2, 41.3}, {4, 36.8}, {8, 57.1}}) == 4);
}

TEST_CASE("grids of 64 ranks take the equations' time, and the best one mixes data and model parallelism", "[memory]") {
    CHECK(compare("all-64", 64, 0, {{1, 82.1}, {2, 65.7}, {4, 95.2}, {64, 1586}}) == 2);
    CHECK(compare("dense-64", 64, first_dense,
                  {{1, 82.1}, {2, 43.9}, {4, 26.3}, {8, 20.2}, {16, 22.9}, {32, 35.5}, {64, 64.3}}) == 8);
}

TEST_CASE("grids of 512 ranks, all layers, take the equations' time, and four rows are best") {
    CHECK(compare("all-512", 512, 0, {{1, 83.3}, {2, 44.9}, {4, 30.4}, {8, 32.6}, {16, 52.6}, {512, 1609}}) == 4);
}

TEST_CASE("grids of 512 ranks, dense layers, take the equations' time, and 32 rows are best") {
    CHECK(compare("dense-512", 512, first_dense,
                  {{1, 83.3},
                   {2, 44.3},
                   {4, 25.0},
                   {8, 15.7},
                   {16, 11.8},
                   {32, 11.2},
                   {64, 13.8},
                   {128, 20.7},
                   {256, 35.4},
                   {512, 65.3}}) == 32);
}

TEST_CASE("the best choice of each variant is the first with the shortest iteration, and other results are no choices",
          "[memory]") {
    Report report{"", {result_of("a", 3), result_of("", 0), result_of("a", 2), result_of("b", 1), result_of("a", 2)}};
    mark_best(report);
    CHECK(report.results[0].best == false);
    CHECK_FALSE(report.results[1].best);
    CHECK(report.results[2].best == true);
    CHECK(report.results[3].best == true);
    CHECK(report.results[4].best == false);
}
