#include <string>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

// Notes on the grids that `model: auto` leaves out: a line for each if there are few, else a line for each reason.

using namespace syncline::test;

namespace {

std::string notes(int ranks, int batch) {
    const TempDir directory;
    directory.write("grids.yaml", "platform: p100-25g\nworkload: vgg-16\ntraining: {ranks: " + std::to_string(ranks) +
                                      ", batch: " + std::to_string(batch) + ", parallelism: {model: auto}}\n");
    const Outcome outcome =
        run_program({.arguments = {"run", "grids.yaml", "--dry-run"}, .directory = directory.path()});
    CAPTURE(outcome.err);
    CHECK(outcome.status == 0);
    return outcome.err;
}

}  // namespace

TEST_CASE("left out: a few infeasible grids have a line each, many have a line for each reason", "[memory]") {
    // Of the grids of 64 ranks, those with 64 and 32 columns do not divide 16.
    CHECK(notes(64, 16) ==
          "note: skipped base 1x64: 16 samples cannot be divided into 64 replicas\n"
          "note: skipped base 2x32: 16 samples cannot be divided into 32 replicas\n");
    // Of the grids of 96 ranks, those with 96, 48, 32, 24, 16 and 8 columns do not divide 36.
    CHECK(notes(96, 36) ==
          "note: skipped 6 choices, for example base 1x96: 36 samples cannot be divided into 96 replicas\n");
}
