#include "sim/query/table.hpp"
#include "sim/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/version.hpp"
#include "sim/explore/objective.hpp"
#include "sim/report/html.hpp"
#include "sim/store/json_value.hpp"

namespace syncline {

namespace {

/// Describes a column. `figure`: its values are numbers, and it is not a setting.
Json column(const batch::Table& table, const batch::Rows& rows, std::size_t index) {
    const std::string& name = rows.columns[index];
    const std::vector<std::string>& settings = table.settings();
    bool setting = std::find(settings.begin(), settings.end(), name) != settings.end();
    for (const char* other : {"study", "point", "points", "repeat", "seed"}) setting = setting || name == other;
    bool numbers = false, texts = false;
    for (const std::vector<batch::Value>& row : rows.rows) {
        texts = texts || std::holds_alternative<std::string>(row[index]);
        numbers = numbers || (row[index].index() != 0 && !std::holds_alternative<std::string>(row[index]));
    }
    return {{"name", name},
            {"setting", setting},
            {"figure", !setting && numbers && !texts},
            {"unit", page_unit(rows.unit(index))},
            {"most_is_best", batch::parse_objective({name, {}}).most}};
}

}  // namespace

std::string report_page(const std::string& title, const batch::Table& table, const batch::Rows& rows,
                        std::size_t listed, std::size_t most_rows) {
    Json columns = Json::array(), values = Json::array(), numbers = Json::array();
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < rows.columns.size(); ++i) {
        Json described = column(table, rows, i);
        described["listed"] = i < listed;
        // A chart needs numbers; what limits a point is told beside its mark.
        if (i >= listed && !described["figure"].get<bool>() && rows.columns[i] != "limited_by") continue;
        kept.push_back(i);
        columns.push_back(std::move(described));
    }
    const std::size_t shown = std::min(rows.rows.size(), most_rows);
    for (std::size_t i = 0; i < shown; ++i) {
        Json value = Json::array(), number = Json::array();
        for (const std::size_t c : kept) {
            const batch::Value& each = rows.rows[i][c];
            value.push_back(batch::json_of(each));
            // Charts and sorting need the number of a quantity such as "25 Gbps", which is text.
            const bool quantity = std::holds_alternative<std::string>(each) && !table.holds_texts(rows.columns[c]);
            number.push_back(quantity ? number_or_null(batch::number_of(each)) : Json(nullptr));
        }
        values.push_back(std::move(value));
        numbers.push_back(std::move(number));
    }
    Json data{{"kind", "batch"},
              {"program", std::string("Syncline ") + version},
              {"name", title},
              {"columns", std::move(columns)},
              {"rows", std::move(values)},
              {"numbers", std::move(numbers)}};
    data["note"] = shown < rows.rows.size()
                       ? fmt::format(
                             "The page shows the first {} of {} points; select others with --where, --sort, "
                             "--group and --limit.",
                             shown, rows.rows.size())
                       : "";
    return html_page(title, data);
}

}  // namespace syncline
