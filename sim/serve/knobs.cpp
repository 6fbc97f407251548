#include "sim/serve/knobs.hpp"
namespace syncline::serve {
Json knobs_of(const config::Scenario&, const config::Variant&, const std::map<std::string, std::string>&) {
    return Json::parse(
        R"([{"key":"training.ranks","label":"ranks","values":["2","4","8","16","32"],"at":2,"kind":"number"}])");
}
}  // namespace syncline::serve
