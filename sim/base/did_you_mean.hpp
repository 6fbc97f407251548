#pragma once

#include <string>
#include <string_view>
#include <vector>

/// The hint for an unknown word.
namespace syncline {

/// Returns "did you mean '…'?" with the candidate closest to `word`, or `otherwise` if none is close.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates, std::string otherwise = "");

}  // namespace syncline
