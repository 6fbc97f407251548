#include "sim/explore/plan_figures.hpp"

#include <algorithm>

namespace syncline::batch {

namespace {

constexpr const char* cost_per_sample = "cost_per_million_samples";

using ByPoint = std::map<std::int64_t, Value>;

std::optional<double> mean(const Candidate& plan, const ByPoint& values) {
    double sum = 0;
    for (const config::StudyPoint* point : plan.points) {
        const auto found = values.find(point->number);
        const auto value = found == values.end() ? std::nullopt : number_of(found->second);
        if (!value) return {};
        sum += *value;
    }
    return sum / static_cast<double>(plan.points.size());
}

template <class Predicate>
bool all_of(const Candidate& plan, const ByPoint& values, const Predicate& predicate) {
    return std::all_of(plan.points.begin(), plan.points.end(), [&](const config::StudyPoint* point) {
        const auto found = values.find(point->number);
        return found != values.end() && predicate(found->second);
    });
}

}  // namespace

bool Results::has(const std::string& column) const {
    const auto& all = table_.columns();
    return std::find(all.begin(), all.end(), column) != all.end();
}

bool Results::priced() {
    if (!has("cost")) return false;
    Query query;
    query.where = {"cost IS NOT NULL"};
    query.columns = {"cost"};
    return !table_.select(query).rows.empty();
}

Figure Results::time() const {
    // The factor 1.0 avoids the integer division of whole seconds.
    if (trains()) return {"time_per_sample_s", "iteration_time_s * 1.0 / samples", Unit::seconds};
    return figure("completion_time_s");
}

Figure Results::cost() {
    if (priced()) return figure(trains() ? cost_per_sample : "cost");
    if (trains()) return {"device_time_per_sample_s", "device_time_s * 1.0 / samples", Unit::seconds};
    return figure("device_time_s");
}

Objective Results::settled(Objective objective) {
    if (objective.expression.text == "cost" && !priced()) objective.expression.text = "device_time_s";
    return objective;
}

std::map<std::int64_t, Value> Results::select(const config::Condition& expression) {
    try {
        ByPoint values;
        Query query;
        query.columns = {"point", expression.text};
        for (const auto& row : table_.select(query).rows) values.emplace(std::get<std::int64_t>(row[0]), row[1]);
        return values;
    } catch (const SqlError& error) {
        throw located(error, expression.at);
    }
}

std::vector<PlanFigures> Results::of(const std::vector<Candidate>& plans, const Objective& objective,
                                     const std::vector<config::Condition>& constraints,
                                     const std::vector<Figure>& columns) {
    const ByPoint status = select({"status", {}});
    std::vector<ByPoint> values, held;
    values.push_back(select(objective.expression));
    for (const Figure& column : columns) values.push_back(select({column.expression, {}}));
    for (const config::Condition& constraint : constraints) held.push_back(select(constraint));

    std::vector<PlanFigures> all;
    for (const Candidate& plan : plans) {
        PlanFigures& figures = all.emplace_back();
        for (const ByPoint& column : values) figures.values.push_back(mean(plan, column));
        const bool done = all_of(plan, status, [](const Value& value) { return value == Value("done"); });
        const bool within = std::all_of(held.begin(), held.end(), [&](const ByPoint& constraint) {
            return all_of(plan, constraint, [](const Value& value) { return number_of(value).value_or(0) != 0; });
        });
        figures.outcome = plan.points.empty() || !done ? Outcome::failed
                          : !within                    ? Outcome::outside_constraints
                          : !figures.values.front()    ? Outcome::without_value
                                                       : Outcome::ranked;
    }
    return all;
}

Figure Results::figure(const std::string& expression) const {
    const std::string sql = table_.quoted(expression);
    for (const std::string& column : table_.columns())
        if (sql == sql_name(column)) return {column, expression, table_.unit(column)};
    return {expression, expression};
}

}  // namespace syncline::batch
