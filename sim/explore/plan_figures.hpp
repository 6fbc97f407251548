#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/explore/objective.hpp"
#include "sim/explore/plans.hpp"
#include "sim/query/table.hpp"

/// Figures of plans from the results in a store.
namespace syncline::batch {

/// A shown column, its expression, and its unit.
struct Figure {
    std::string name, expression;
    Unit unit = Unit::number;
};

enum class Outcome { ranked, outside_constraints, failed, without_value };

struct PlanFigures {
    Outcome outcome = Outcome::failed;
    /// Means over the plan's points, by column; empty if one of the points has no value. The first is the objective, if
    /// the outcome implies that there is one.
    std::vector<std::optional<double>> values;
};

class Results {
public:
    Results(Store& store, const std::string& study) : table_(store, study) {}

    bool has(const std::string& column) const;
    bool trains() const { return has("iteration_time_s"); }
    bool empty() const {
        return !trains() && !has("completion_time_s");
    }  ///< returns whether nothing has been simulated

    /// Returns whether nodes have prices in at least some points.
    bool priced();
    /// Return the figures by which plans are compared: for trainings time and cost per sample, since the samples per
    /// iteration may differ between plans. If nodes have no price, the cost of a plan is device time.
    Figure time() const;
    Figure cost();
    /// Replaces the objective `cost` by device time if nodes have no price.
    Objective settled(Objective objective);

    /// Returns the figures of each plan: the objective, then `columns`. Throws ConfigError for invalid expressions.
    std::vector<PlanFigures> of(const std::vector<Candidate>& plans, const Objective& objective,
                                const std::vector<config::Condition>& constraints, const std::vector<Figure>& columns);

    /// Returns the column that a valid expression names, if it is a column: `throughput` is throughput_samples_per_s.
    Figure figure(const std::string& expression) const;

private:
    /// Evaluates an expression for each point.
    std::map<std::int64_t, Value> select(const config::Condition& expression);

    Table table_;
};

}  // namespace syncline::batch
