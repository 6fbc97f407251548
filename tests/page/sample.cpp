#include <cstdio>
#include <cstdlib>

#include "sim/output/written_files.hpp"
#include "tests/page/sample.hpp"

/// page_sample FILE.html RANKS: writes the page of the sample.
int main(int count, char** arguments) {
    if (count != 3) {
        std::fprintf(stderr, "usage: page_sample FILE.html RANKS\n");
        return 2;
    }
    const auto ranks = static_cast<std::uint32_t>(std::strtoul(arguments[2], nullptr, 10));
    syncline::write_file(arguments[1], syncline::report_page(syncline::test::sample_report(ranks)));
}
