#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/platform/simgrid_size.hpp"
#include "sim/platform/simgrid_trace.hpp"

/// Platforms in SimGrid's own format, before SimGrid reads them. SimGrid trusts its input: it loads shared libraries,
/// obeys settings that write files or end the process, and starts actors. So only elements that describe hosts, links
/// and routes are let through, and only settings of the network (https://simgrid.org/doc/latest/XML_reference.html);
/// those that would change nothing are left out, with a warning. The checked text names no files.
namespace syncline {

struct SimGridFile {
    /// Encloses a number in the place of a file's name: an index of `uses`. XML cannot hold it.
    static constexpr char mark = '\x01';
    /// The same elements and attributes in plain UTF-8, each in the line where it was: SimGrid's parser reads character
    /// references, encodings and comments in its own way.
    std::string text;
    std::vector<std::string> traces;  ///< of checked traces: text_of()
    std::vector<std::size_t> uses;    ///< traces, as they occur in the text
    std::set<std::string> off;        ///< hosts that are off from the start
    std::optional<Diagnostic> warning;
};

/// Reads the text of a platform whose file is `file`. `beside` returns the content of a file that it names, relative to
/// it, and may throw. Throws ConfigError with the place in the file, or in the file of a trace.
SimGridFile check_simgrid_file(const std::string& file, std::string_view text,
                               const std::function<std::string(const std::string& name)>& beside);

}  // namespace syncline
