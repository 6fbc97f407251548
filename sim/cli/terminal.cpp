#include "sim/cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace syncline::cli {

std::size_t width_of(int descriptor) {
    constexpr std::size_t usual = 80, narrowest = 20;
    if (isatty(descriptor) != 1) return usual;
    std::size_t width = 0;
    winsize size{};
    if (const char* const set = std::getenv("COLUMNS")) {
        const std::string_view text = set;
        std::from_chars(text.data(), text.data() + text.size(), width);
    }
    if (width == 0 && ioctl(descriptor, TIOCGWINSZ, &size) == 0) width = size.ws_col;
    return width < narrowest ? usual : width;
}

}  // namespace syncline::cli
