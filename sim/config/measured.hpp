#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/config/files.hpp"
#include "sim/config/resolved.hpp"

/// What somebody has measured on a cluster, beside the scenario that describes it: its key `measured`.
///
///     measured:
///       source: Horovod with NCCL on Piz Daint (...)
///       noise: 5 %                              # the spread that the source states
///       field: throughput_samples_per_s         # what was measured, of a variant's result, as JSON names it
///       series:                                 # measurements that differ by a few keys, smallest first
///         - variant: alexnet
///           over: [training.ranks]
///           rows:
///             - {at: [1], value: 2025, calibrates: true}
///             - {at: [2], value: 1608, calibrates: true}
///             - {at: [4], value: 2469}          # this one is predicted
///       parameters:                             # found from the rows that calibrate, in this order
///         - {key: platform.device.calibration.alexnet-tf.throughput, unit: images/s, least: 500, most: 9000,
///            rows: [alexnet 1]}
///         - {key: platform.transport.bandwidth, unit: GBps, least: 0.5, most: 12.5, rows: [alexnet 2]}
///
/// A row either calibrates or is predicted, never both: a parameter on a row that is predicted is refused, so is a row
/// that calibrates nothing, which would only be taken out of the score, and one that repeats another, by whatever name
/// or field, also where only a parameter's key or the name of something in it tells them apart. A parameter would
/// replace a key that rows or their series give: that is refused, too. A series may have `name`, `set` (changes to the
/// variant), `field`, `unit` of its values and `doubt`; without `rows` a parameter is found on all rows that calibrate.
/// Left out: that two keys, or two spellings of a value, may mean the same.
namespace syncline::config {

struct MeasuredRow {
    std::string name;  ///< of its series, and where it is in it: `alexnet 2`
    std::size_t series = 0;
    std::vector<std::string> settings;  ///< values of the series' keys
    double value = 0;                   ///< in the field's unit
    bool calibrates = false;
    bool exchange_alone = false;  ///< not a training
    Location at = {};
};

struct MeasuredSeries {
    std::string name;     ///< by default the variant's
    std::string variant;  ///< `base` where the file has none
    std::string field;
    double unit = 1;        ///< how much of the field's unit the file's values count; 0: the field has no such unit
    std::string unit_name;  ///< as the file has it; empty: the field's own
    std::vector<std::string> over;  ///< keys
    std::string doubt;              ///< why its rows are no fair test, if they are not; else empty
    Location field_at = {}, unit_at = {};
};

/// A key whose value is not known. Those with the same rows are found together.
struct MeasuredParameter {
    std::string key;
    std::string unit;  ///< appended to the number; empty: none
    double least = 0, most = 0;
    std::vector<std::size_t> rows;  ///< on which it is found, in order
    Location at = {};

    std::string text(double value) const;  ///< as `--set` takes it
};

struct Measurements {
    std::string source;
    double noise = 0;  ///< a part; 0: not stated
    std::vector<MeasuredSeries> series;
    std::vector<MeasuredRow> rows;  ///< series by series
    std::vector<MeasuredParameter> parameters;
};

/// Where it is written.
struct MeasuredFiles {
    std::string scenario;
    std::string measured = {};                  ///< a file with what the key would hold, or CSV; empty: the key
    std::vector<std::string> fits = {};         ///< parameters in place of those written: `KEY=LEAST..MOST UNIT`
    std::vector<std::string> assignments = {};  ///< `--set`
};

class MeasuredScenario {
public:
    /// Throws ConfigError with everything that is wrong, in every row's scenario too. Whether results have the fields
    /// is for validation::require_fields().
    MeasuredScenario(const MeasuredFiles& files, const Inspect& inspect);
    ~MeasuredScenario();
    MeasuredScenario(MeasuredScenario&&) noexcept;

    const std::string& name() const;
    const Measurements& measurements() const;
    /// The scenario of a row. `values`, by parameter: nothing leaves the scenario's own. Throws ConfigError.
    Resolved resolved(const MeasuredRow& row, const std::vector<std::optional<double>>& values) const;

    struct Parts;

private:
    std::unique_ptr<Parts> parts_;
};

/// Whether the file is a scenario with the key `measured`. Throws ConfigError if it is no YAML.
bool is_measured(const std::string& path);

}  // namespace syncline::config
