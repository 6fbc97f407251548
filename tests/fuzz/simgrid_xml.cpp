#include <algorithm>
#include <stdexcept>
#include <string>

#include "sim/platform/simgrid_file.hpp"
#include "tests/fuzz/reading.hpp"
#include "tests/fuzz/targets.hpp"

/// SimGrid, which alone understands such a platform, reads it in a process of its own. So this is the check before it.
/// The input is a platform, and after a NUL the content of every trace that it names.
void syncline::fuzz::simgrid_xml(std::string_view input) {
    const std::string_view platform = input.substr(0, input.find('\0'));
    const std::string trace(input.substr(std::min(input.size(), platform.size() + 1)));
    const auto beside = [&](const std::string&) { return trace; };
    reading([&] {
        const SimGridFile file = check_simgrid_file("platform.xml", platform, beside);
        // A checked platform passes the check again, unchanged; names of traces are no names any more.
        if (!file.uses.empty()) return;
        if (check_simgrid_file("platform.xml", file.text, beside).text != file.text)
            throw std::logic_error("canonical text is not canonical");
    });
}
