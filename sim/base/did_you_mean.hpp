#pragma once

#include <string>
#include <string_view>
#include <vector>

/// The hint for an unknown word.
namespace syncline {

/// Returns "did you mean '…'?" with the shortest candidate that begins with `word`, or else the closest one, or else
/// one with a part that begins so; `otherwise` if there is none.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates, std::string otherwise = "");

}  // namespace syncline
