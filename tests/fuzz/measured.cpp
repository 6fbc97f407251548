#include "sim/measured/measured.hpp"

#include "tests/fuzz/reading.hpp"
#include "tests/fuzz/targets.hpp"

namespace {

constexpr const char* exchange = R"(
platform: p100-25g
collective: {operation: allreduce, algorithm: ring, ranks: 2, bytes: 1 MB}
variants:
  ring: {}
  tree: {collective.algorithm: binomial-tree}
)";

}  // namespace

void syncline::fuzz::measured(std::string_view input) {
    static const test::Scratch directory;
    static const std::string scenario = [] {
        const std::filesystem::path file = directory.path / "exchange.yaml";
        test::write_bytes(file, exchange);
        return file.string();
    }();
    reading([&] { config::MeasuredScenario({scenario, file_with("measured.csv", input)}, {}); });
}
