#include "sim/base/did_you_mean.hpp"

#include <fmt/format.h>

#include "sim/base/diagnostics.hpp"

namespace syncline {

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates, std::string otherwise) {
    const auto near = closest(word, candidates);
    return near ? fmt::format("did you mean '{}'?", *near) : otherwise;
}

}  // namespace syncline
