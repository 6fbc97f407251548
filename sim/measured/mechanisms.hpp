#pragma once

#include <string>
#include <vector>

#include "sim/config/alternatives.hpp"
#include "sim/config/assembly.hpp"

namespace syncline::config {

/// A file of mechanisms of the simulation, to switch each of them off alone: `mechanisms: [{name: …, why: …, set:
/// {…}}]`. Its changes replace what series and rows give. Must outlive the alternatives that it returns, whose values
/// it holds.
class Mechanisms {
public:
    /// Throws ConfigError.
    explicit Mechanisms(const std::string& path);

    const std::vector<Alternative>& all() const { return all_; }

private:
    Assembly assembly_;
    std::vector<Alternative> all_;
};

/// Reads the changes of `alternatives` from the items of `list`, and reports names that are listed twice.
void read_changes(Assembly& assembly, std::vector<Alternative>& alternatives, const Node& list);

}  // namespace syncline::config
