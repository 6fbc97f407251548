#include "sim/validation/ablation.hpp"
#include "sim/validation/validation_json.hpp"

namespace syncline::validation {

namespace {

Json object(const UnderAlternate& under) {
    Json json = figures_object(under.figures);
    json.update({{"refused", under.refused},
                 {"refused_because", text_or_null(under.reason)},
                 {"applies", under.applies},
                 {"change", number_or_null(under.change)}});
    return json;
}

}  // namespace

Json assumptions_object(const Validation& one) {
    Json list = Json::array();
    for (std::size_t i = 0; i < one.assumptions.size(); ++i) {
        const Alternate& alternate = one.assumptions[i];
        Json json{{"name", alternate.of.name}, {"why", alternate.of.why}};
        json.update(object(assuming(one, i)));
        json["parameters"] = solutions_object(one, alternate.calibration.parameters);
        list.push_back(std::move(json));
    }
    return list;
}

Json mechanisms_object(const std::vector<Validation>& points) {
    Json list = Json::array();
    for (std::size_t i = 0; i < points.front().mechanisms.size(); ++i) {
        const config::Alternative& mechanism = points.front().mechanisms[i].of;
        Json json{{"name", mechanism.name}, {"why", mechanism.why}};
        json.update(object(without(points, i)));
        for (const Validation& point : points) {
            Json one{{"point", point.name}};
            one.update(object(without({point}, i)));
            json["points"].push_back(std::move(one));
        }
        list.push_back(std::move(json));
    }
    return list;
}

}  // namespace syncline::validation
