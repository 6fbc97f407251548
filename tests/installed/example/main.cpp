// Prints the iteration time of each variant of a scenario: a program that uses Syncline's library.

#include <iostream>

#include "sim/analysis/experiment.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/config/scenario.hpp"

int main(int argc, char* argv[]) {
    if (argc != 2) {
        std::cerr << "usage: iteration SCENARIO.yaml\n";
        return 2;
    }
    try {
        const syncline::config::Scenario scenario = syncline::config::load_scenario(argv[1], {});
        for (const syncline::config::Variant& variant : scenario.variants) {
            const syncline::Result result = syncline::simulate(variant.lowered());
            std::cout << variant.name << ' ' << result.time.iteration_s << " s\n";
        }
    } catch (const syncline::ConfigError& error) {
        std::cerr << error.what() << '\n';
        return 3;
    }
}
