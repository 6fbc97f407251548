#include "sim/collective/every_rounds.hpp"

#include <fmt/format.h>

namespace syncline {

std::string EveryRounds::formula(bool travels) const {
    const std::string once = of_->formula(travels);
    return once.empty() ? once : fmt::format("({}) / {}", once, every_);
}

}  // namespace syncline
