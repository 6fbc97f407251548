#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/batch/objective.hpp"
#include "sim/batch/plans.hpp"
#include "sim/batch/table.hpp"

/// What the results in a store say of plans.
namespace syncline::batch {

/// A column that is shown, and the expression that it is.
struct Figure {
    std::string name, expression;
};

enum class Outcome { ranked, outside_constraints, failed, without_value };

struct Figures {
    Outcome outcome = Outcome::failed;
    /// Means over the plan's points, by Results::columns; nothing where one of them has none. The first is the
    /// objective, if the outcome says that there is one.
    std::vector<std::optional<double>> values;
};

class Results {
public:
    Results(Store& store, const std::string& study) : table_(store, study) {}

    bool has(const std::string& column) const;
    bool trains() const { return has("iteration_time_s"); }
    bool empty() const { return !trains() && !has("completion_time_s"); }  ///< nothing is simulated

    /// Whether nodes have prices, of some points at least.
    bool priced();
    /// What to compare plans by: of trainings time and cost of a sample, since plans may differ in how many samples an
    /// iteration takes. Where nodes have no price, a plan costs the devices' time.
    Figure time() const;
    Figure cost();
    /// An objective `cost` is the devices' time where nodes have no price.
    Objective settled(Objective objective);

    /// Of each plan; figures besides the objective: `columns`. Throws ConfigError where an expression is none.
    std::vector<Figures> of(const std::vector<Plan>& plans, const Objective& objective,
                            const std::vector<config::Condition>& constraints, const std::vector<Figure>& columns);

    /// The column that a sound expression is, if it is one: `throughput` is throughput_samples_per_s.
    std::string name_of(const std::string& expression) const;

private:
    /// By point.
    std::map<std::int64_t, Value> select(const config::Condition& expression);

    Table table_;
};

}  // namespace syncline::batch
