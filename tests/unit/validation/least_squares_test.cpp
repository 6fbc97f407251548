#include "sim/validation/least_squares.hpp"

#include <cmath>
#include <functional>
#include <stdexcept>

#include "tests/catch.hpp"

// Fits whose solutions are known.

using namespace syncline::validation;

namespace {

using Model = std::function<double(const std::vector<double>&, std::size_t)>;

/// Residuals of a model; an unknown that a trial does not set has its `own` value.
Residuals residuals(const Model& model, const std::vector<double>& own, const std::vector<double>& measured) {
    return [=](const std::vector<Trial>& trials) {
        std::vector<std::vector<double>> all;
        for (const Trial& trial : trials) {
            std::vector<double> values = own, r;
            for (std::size_t i = 0; i < own.size(); ++i) values[i] = trial[i].value_or(own[i]);
            for (std::size_t i = 0; i < measured.size(); ++i) r.push_back(std::log(model(values, i) / measured[i]));
            all.push_back(r);
        }
        return all;
    };
}

Fit fit(const std::vector<Unknown>& unknowns, const Model& model, const std::vector<double>& own,
        const std::vector<double>& measured) {
    return least_squares(unknowns, measured.size(), residuals(model, own, measured));
}

/// Six steps of α-β, with sizes from latency-bound to bandwidth-bound.
double exchange(const std::vector<double>& latency_and_bandwidth, std::size_t row) {
    const double size = std::pow(10.0, 2 + 2 * static_cast<double>(row));
    return 6 * (latency_and_bandwidth[0] + size / latency_and_bandwidth[1]);
}

/// ln of the answers: a + b x, for x = 0, 1, 2.
double line(const std::vector<double>& logarithms, std::size_t row) {
    return logarithms[0] * std::pow(logarithms[1], static_cast<double>(row));
}

const Unknown any{1e-3, 1e3};

}  // namespace

TEST_CASE("least squares: two answers that two unknowns can meet take few trials") {
    const std::vector<double> truth{4.7e-6, 3.1e9};
    std::vector<double> measured;
    for (const std::size_t row : {0U, 1U}) measured.push_back(exchange(truth, 3 * row));
    const Model model = [](const std::vector<double>& values, std::size_t row) { return exchange(values, 3 * row); };
    std::size_t trials = 0;
    const Residuals all = residuals(model, {1, 1}, measured);
    const Fit found = least_squares({{1e-7, 1e-3}, {1e7, 1e11}}, 2, [&](const std::vector<Trial>& some) {
        trials += some.size();
        return all(some);
    });
    CHECK(*found.unknowns[0].value == Approx(truth[0]).epsilon(1e-6));
    CHECK(*found.unknowns[1].value == Approx(truth[1]).epsilon(1e-6));
    CHECK(trials < 30);  // a grid has 16 alone
}

TEST_CASE("least squares: latency and bandwidth are found from exact answers, to a part in a million", "[memory]") {
    const std::vector<double> truth{4.7e-6, 3.1e9};
    std::vector<double> measured;
    for (std::size_t row = 0; row < 4; ++row) measured.push_back(exchange(truth, row));
    const Fit found = fit({{1e-7, 1e-3}, {1e7, 1e11}}, exchange, {1, 1}, measured);
    CHECK(found.converged);
    for (std::size_t i = 0; i < 2; ++i) {
        REQUIRE(found.unknowns[i].ending == Ending::found);
        CHECK(*found.unknowns[i].value == Approx(truth[i]).epsilon(1e-6));
        CHECK(*found.unknowns[i].relative_standard_error < 1e-6);
    }
}

TEST_CASE("least squares: a straight line through noise has the textbooks' results", "[memory]") {
    // y = 0, 1, 3 over x = 0, 1, 2: a = -1/6, b = 3/2; (XᵀX)⁻¹ has 5/6 and 1/2; Σ r² = 1/6, and one row to spare.
    const Fit found = fit({any, any}, line, {1, 1}, {1, std::exp(1.0), std::exp(3.0)});
    CHECK(std::log(*found.unknowns[0].value) == Approx(-1.0 / 6).margin(1e-6));
    CHECK(std::log(*found.unknowns[1].value) == Approx(1.5).margin(1e-6));
    CHECK(*found.unknowns[0].percent_per_percent == Approx(std::sqrt(5.0 / 6)).epsilon(1e-6));
    CHECK(*found.unknowns[1].percent_per_percent == Approx(std::sqrt(0.5)).epsilon(1e-6));
    CHECK(*found.unknowns[0].relative_standard_error == Approx(std::sqrt(5.0 / 36)).epsilon(1e-6));
    CHECK(*found.unknowns[1].relative_standard_error == Approx(std::sqrt(1.0 / 12)).epsilon(1e-6));
}

TEST_CASE("least squares: with as many rows as unknowns there is no standard error", "[memory]") {
    const Fit found = fit({any, any}, line, {1, 1}, {2, 6});
    CHECK(*found.unknowns[0].value == Approx(2).epsilon(1e-8));
    CHECK(*found.unknowns[1].value == Approx(3).epsilon(1e-8));
    CHECK_FALSE(found.unknowns[1].relative_standard_error);
    CHECK(*found.unknowns[1].percent_per_percent == Approx(std::sqrt(2.0)).epsilon(1e-6));
}

TEST_CASE("least squares: an unknown without effect is not found, and the others are", "[memory]") {
    const Model model = [](const std::vector<double>& p, std::size_t) { return 2 * p[1]; };
    const Fit found = fit({any, any}, model, {5, 5}, {6, 6});
    CHECK(found.unknowns[0].ending == Ending::no_effect);
    CHECK_FALSE(found.unknowns[0].value);
    CHECK_FALSE(found.unknowns[0].percent_per_percent);
    CHECK(*found.unknowns[1].value == Approx(3).epsilon(1e-8));
}

TEST_CASE("least squares: unknowns that rows cannot distinguish are recognised, and the others are found", "[memory]") {
    const Model model = [](const std::vector<double>& p, std::size_t row) {
        return row == 0 ? p[0] * p[2] : row == 1 ? p[0] * p[2] * p[1] : p[1] / 2;
    };
    const Fit found = fit({any, any, any}, model, {1, 1, 10}, {20, 60, 1.5});
    CHECK(found.unknowns[2].ending == Ending::not_told_apart);
    CHECK(found.unknowns[2].others == std::vector<std::size_t>{0});
    CHECK_FALSE(found.unknowns[2].value);
    CHECK(*found.unknowns[0].value == Approx(2).epsilon(1e-6));  // with the last one's own value, 10
    CHECK(*found.unknowns[1].value == Approx(3).epsilon(1e-6));
}

TEST_CASE("least squares: rows that ask for more or less than allowed give the bound, which is reported", "[memory]") {
    const Model model = [](const std::vector<double>& p, std::size_t) { return p[0]; };
    const Fit less = fit({{1, 10}}, model, {5}, {0.5}), more = fit({{1, 10}}, model, {5}, {20});
    CHECK(less.unknowns[0].ending == Ending::at_least);
    CHECK(*less.unknowns[0].value == Approx(1));
    CHECK(more.unknowns[0].ending == Ending::at_most);
    CHECK(*more.unknowns[0].value == Approx(10));
    CHECK_FALSE(more.unknowns[0].percent_per_percent);
    CHECK(fit({{1, 10}}, model, {5}, {10}).unknowns[0].ending == Ending::found);
}

TEST_CASE("least squares: if rows ask for one side of a value only, the other is not made up", "[memory]") {
    // Values above 4 do not help: computation takes longer than the exchange.
    const Model model = [](const std::vector<double>& p, std::size_t) { return std::max(8 / p[0], 2.0); };
    CHECK(fit({{0.1, 100}}, model, {50}, {1.9}).unknowns[0].ending == Ending::no_effect);
    const Fit slow = fit({{0.1, 100}}, model, {1}, {1.9});
    CHECK(slow.unknowns[0].ending == Ending::plateau);
    CHECK(*slow.unknowns[0].value >= 4 * (1 - 1e-6));
    CHECK_FALSE(slow.unknowns[0].percent_per_percent);
    CHECK(*fit({{0.1, 100}}, model, {1}, {5}).unknowns[0].value == Approx(1.6).epsilon(1e-8));
}

TEST_CASE("least squares: one unknown with one row is found in a dozen trials, exactly, with a kink or a jump, too",
          "[memory]") {
    int trials = 0;
    const auto found = [&](const Model& model, double measured) {
        trials = 0;
        const Model counting = [&](const std::vector<double>& p, std::size_t row) {
            ++trials;
            return model(p, row);
        };
        const Fit fitted = fit({{0.4, 1.5}}, counting, {1}, {measured});
        CHECK(fitted.converged);
        CHECK(fitted.unknowns[0].ending == Ending::found);
        return *fitted.unknowns[0].value;
    };
    const Model computation = [](const std::vector<double>& p, std::size_t) { return 3 / p[0] + 1; };
    for (const double speed : {0.41, 0.7, 0.93, 1.2, 1.49}) {
        CHECK(found(computation, 3 / speed + 1) == Approx(speed).epsilon(1e-9));
        CHECK(trials <= 14);
    }
    // An exchange is hidden while the computation is slow.
    const Model overlapped = [](const std::vector<double>& p, std::size_t) { return std::max(3 / p[0], 1 / p[0] + 3); };
    for (const double speed : {0.5, 0.6, 1.0}) {
        CHECK(found(overlapped, std::max(3 / speed, 1 / speed + 3)) == Approx(speed).epsilon(1e-9));
        CHECK(trials <= 20);
    }
    // No speed gives 4.5: a slot of the network is missed, or not.
    const Model slots = [](const std::vector<double>& p, std::size_t) { return 3 / p[0] + (p[0] < 0.9 ? 1 : 0); };
    CHECK(found(slots, 3 / 0.9 + 0.5) == Approx(0.9).epsilon(1e-6));
    CHECK(trials <= 60);
}

TEST_CASE("least squares: exceptions of a model with one unknown and one row are passed on", "[memory]") {
    int calls = 0;
    const auto breaks = [&](const std::vector<Trial>& trials) -> std::vector<std::vector<double>> {
        if (++calls > 1) throw std::runtime_error("no route");  // past the bounds
        REQUIRE(trials.size() == 2);
        return {{-1}, {1}};
    };
    CHECK_THROWS_WITH(least_squares({any}, 1, breaks), "no route");
    CHECK(calls == 2);
}

TEST_CASE("least squares: fewer rows than unknowns determine none of them", "[memory]") {
    const Fit found = fit({any, any}, line, {1, 1}, {2});
    for (const Solution& one : found.unknowns) {
        CHECK(one.ending == Ending::too_few);
        CHECK_FALSE(one.value);
    }
}

TEST_CASE("least squares: exceptions of the model are passed on", "[memory]") {
    const auto broken = [](const std::vector<Trial>& trials) -> std::vector<std::vector<double>> {
        if (trials.size() == 1) throw std::runtime_error("no route");  // past the grid: within NLopt
        return std::vector<std::vector<double>>(trials.size(), {1.0});
    };
    CHECK_THROWS_WITH(least_squares({any}, 1, broken), "no route");
}
