#pragma once
#include <map>
#include <string>
#include "sim/config/scenario.hpp"
#include "sim/output/json_text.hpp"
namespace syncline::serve {
Json knobs_of(const config::Scenario&, const config::Variant&, const std::map<std::string, std::string>& set = {});
}
