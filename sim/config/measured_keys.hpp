#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/config/alternatives.hpp"
#include "sim/document/fields.hpp"

/// The key `measured` of a file of that kind: see sim/measured/measured.hpp.
namespace syncline::config {

/// The setting of a row whose cell in a table is empty: the key stays as it is.
inline constexpr const char* kept_key = "~";

struct MeasuredRow {
    std::string name;  ///< the series' name and the row's settings, or the name that is given: `alexnet 2`
    std::size_t series = 0;
    std::vector<std::string> settings;  ///< values of the series' keys
    std::string sweep;                  ///< layouts of the same training have the same text; empty: none
    double value = 0;                   ///< in the field's unit
    bool calibrates = false;
    bool exchange_alone = false;  ///< not a training
    Location at = {};
};

struct MeasuredSeries {
    std::string name;     ///< default: the variant's
    std::string variant;  ///< `base` if the file has none
    std::string field;
    double unit = 1;        ///< factor from the file's values to the field's unit; 0: the field has no such unit
    std::string unit_name;  ///< as written; empty: the field's own
    std::vector<std::string> over;  ///< keys
    std::string doubt;              ///< why its rows are unreliable; empty: they are reliable
    Location field_at = {}, unit_at = {};
};

/// A key whose value is unknown, or a factor of several keys. Parameters with the same rows are estimated together.
struct MeasuredParameter {
    std::string key;                ///< as shown; of a factor: `factor of a, b`
    std::vector<std::string> keys;  ///< the key, or those that the factor multiplies
    bool factor = false;
    std::vector<std::size_t> series;  ///< to which it applies, in order; empty: all
    std::string unit;                 ///< appended to the number; empty: none
    double least = 0, most = 0;
    std::vector<std::size_t> rows;  ///< from which it is estimated, in order
    Location at = {};

    std::string text(double value) const;  ///< as in `--set`
    bool applies_to(std::size_t number) const;
};

/// Rows of a table that are neither shown nor predicted.
struct RowsLeftOut {
    std::string reason;  ///< the column and its text
    std::size_t rows = 0;
};

struct Measurements {
    std::string source;
    double noise = 0;  ///< relative; 0: not stated
    std::vector<MeasuredSeries> series;
    std::vector<MeasuredRow> rows;  ///< series by series
    std::vector<MeasuredParameter> parameters;
    std::vector<Alternative> assumptions;  ///< other values of what the source leaves open
    std::vector<RowsLeftOut> left_out;     ///< of a table
};

/// The key `measured` as it was read, before anything is looked up.
struct MeasuredKeys {
    Measurements measurements;
    /// The rows that each parameter names; if none, all calibration rows.
    std::vector<std::vector<std::string>> parameter_rows;
    /// The series that each parameter names; if none, all.
    std::vector<std::vector<std::string>> parameter_series;
    /// The series that each assumption names; if none, all.
    std::vector<std::vector<std::string>> assumption_series;
};

/// A column of a measured table that gives a key's values.
struct MeasuredColumn {
    std::string column, key, unit;
};

/// A column whose text, or any text, leaves a row out.
struct MeasuredExclusion {
    std::string column, text;
};

/// The key `table`: a CSV file beside the scenario.
struct MeasuredTable {
    std::string file, value, unit, field, name, variant, calibrates, calibrates_if = "true", row, sweep;
    std::vector<MeasuredColumn> columns;
    std::vector<MeasuredExclusion> leave_out;
};

/// Describes the content of `table`.
void describe(Fields& fields, MeasuredTable& table);

/// Describes the content of the key.
void describe(Fields& fields, MeasuredKeys& keys);

/// A file of the kind `measured`: the keys of a scenario, and beside them the key `measured`.
struct MeasuredFile {};

/// Describes the file, for its schema. Reading takes the key out of the document first (scenario_file.hpp).
void describe(Fields& fields, MeasuredFile& file);

}  // namespace syncline::config
