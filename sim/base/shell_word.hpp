#pragma once

#include <string>
#include <string_view>

namespace syncline {

/// Returns a text as one word of a POSIX shell, in single quotes if it has characters that a shell may act on.
std::string shell_word(std::string_view text);

}  // namespace syncline
