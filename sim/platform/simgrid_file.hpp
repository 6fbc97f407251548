#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// Platforms in SimGrid's own format, before SimGrid reads them.
///
/// SimGrid trusts its input: it loads shared libraries, obeys settings that write files or end the process, starts
/// actors, and builds as many hosts as a number says. So only elements that describe hosts, links and routes are let
/// through, and only settings of the network (https://simgrid.org/doc/latest/XML_reference.html).
namespace syncline {

/// Most hosts and links of such a platform. SimGrid needs 2.4 kB and 7 us for each host of a cluster, 0.6 kB and 2.5 us
/// for each link.
inline constexpr std::size_t most_simgrid_hosts = 100'000, most_simgrid_links = 500'000;

struct SimGridFileError : std::runtime_error {
    using std::runtime_error::runtime_error;
    std::string hint;
};

struct SimGridFile {
    /// The same elements and attributes in plain UTF-8, each in the line where it was: SimGrid's parser reads character
    /// references, encodings and comments in its own way.
    std::string text;
    /// Names of the files that it reads (availability, state, traces), as written in it.
    std::vector<std::string> files;
};

/// Throws SimGridFileError if the text of a platform is refused.
SimGridFile check_simgrid_file(std::string_view text);

}  // namespace syncline
