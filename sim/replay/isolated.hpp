#pragma once

#include <functional>
#include <string>

namespace syncline {

/// What `work` returns, done in a process of its own: SimGrid allows one engine in a process, and ends it where it
/// finds fault. Throws ReplayError if that process dies or the work fails, std::logic_error where the work throws one.
std::string isolate(const std::function<std::string()>& work);

}  // namespace syncline
