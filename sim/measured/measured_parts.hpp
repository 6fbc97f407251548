#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/config/scenario_file.hpp"
#include "sim/config/variant.hpp"
#include "sim/measured/measured.hpp"

/// What MeasuredScenario consists of; shared by the files that define its functions.
namespace syncline::config {

/// Returns an item of a list that is known to exist.
const Node& item(const Node& mapping, std::string_view list, std::size_t number);
const Mark& mark_of(const Node& mapping, std::string_view entry);
/// Returns the hint for a word that is none of those known.
std::string meant(const std::string& word, const std::vector<std::string>& known);

/// A scenario's file together with its measurements.
struct MeasuredScenario::Parts {
    Assembly assembly;
    Inspect inspect;
    std::string name;
    ScenarioFile file;
    std::vector<Node> last;             ///< `--set`
    Node list;                          ///< the key's value
    std::vector<RowsLeftOut> left_out;  ///< of the table
    std::vector<std::string> chosen;    ///< see MeasuredFiles
    Measurements measurements;
    std::vector<std::size_t> places;            ///< the number of each row within its series, as written
    std::vector<std::size_t> parameter_places;  ///< the number of each parameter, as written

    const Node& node(const MeasuredSeries& series) const {
        return item(list, "series", static_cast<std::size_t>(&series - measurements.series.data()));
    }
    const Node& node(const MeasuredRow& row) const {
        const auto number = static_cast<std::size_t>(&row - measurements.rows.data());
        return item(node(measurements.series[row.series]), "rows", places[number]);
    }

    void load(const MeasuredFiles& files);
    /// Choose the calibration rows, and the parameters, if none are given.
    void choose_rows();
    void choose_parameters();
    void read();
    void check_series();
    void check_rows();
    void check_parameters(const MeasuredKeys& keys);
    /// Returns the numbers of the series that `node` names.
    std::vector<std::size_t> find_series(const Node& node, const std::vector<std::string>& named);
    void find_rows(MeasuredParameter& parameter, const Node& node, const std::vector<std::string>& named);
    void check_uses();
    void check_assumptions(const MeasuredKeys& keys);
    void check_scenarios();
    void check_effects();
    void check_repeated(const MeasuredRow& row, const std::vector<const MeasuredRow*>& same);
    /// Changes `document` by the value of a parameter.
    void apply(Node& document, std::size_t parameter, double value);
    /// A row's scenario, and the other files that it names.
    struct Document {
        Node node;
        std::vector<OtherFile> files;
    };
    Document document(const MeasuredRow& row, const std::vector<std::optional<double>>& values,
                      const Alternative* alternative = nullptr);
    void require_layers(const Model& model, const Node& names);
    void require_closed(const MeasuredRow& row, const Variant& variant, const GridChoices& grids);
};

}  // namespace syncline::config
