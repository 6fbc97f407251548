#include "sim/platform/simgrid_file.hpp"
#include "tests/fuzz/targets.hpp"

/// SimGrid, which alone understands such a platform, reads it in a process of its own. So this is the check before it.
void syncline::fuzz::simgrid_xml(std::string_view input) {
    try {
        // What is let through is let through again, unchanged.
        const std::string text = check_simgrid_file(input).text;
        if (check_simgrid_file(text).text != text) throw std::logic_error("canonical text is not canonical");
    } catch (const SimGridFileError&) {
    }
}
