#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/config/file_kinds.hpp"
#include "sim/config/measured_keys.hpp"
#include "sim/config/resolved.hpp"

/// Published measurements on a cluster, given in the scenario that describes it by its key `measured`: a kind of file
/// of its own, with a scenario's keys beside it. scenarios/published/README.md shows its keys.
///
/// A row is either a calibration row or a predicted row. Rejected are: a parameter that uses a predicted row; a
/// calibration row that no parameter uses; a row that repeats another one under whatever name or field, also if they
/// differ only by a parameter's key or by the name of something in it; and a parameter that would replace a key given
/// by rows or their series. Without `rows` a parameter is estimated from all calibration rows of its `series`, by
/// default of all; in the rows of others its key has the scenario's own value. `factor_of` multiplies the own values of
/// several keys. `assumptions` (alternatives.hpp) apply before the keys of rows. Left out: two keys, or two spellings
/// of a value, with the same meaning are not recognised.
namespace syncline::config {

/// The files and options that give the measurements.
struct MeasuredFiles {
    std::string scenario;
    std::string measured = {};                  ///< a file with the key's content, or CSV; empty: the key
    std::vector<std::string> fits = {};         ///< parameters that replace those written: `KEY=LEAST..MOST UNIT`
    std::vector<std::string> assignments = {};  ///< `--set`
    /// Without calibration rows, the smallest and the largest row of the first series become some. Without parameters
    /// as well, they are two: of a collective a start-up time and a bandwidth, of a transport that replaces the
    /// platform's; of a training the device's speed.
    bool choose = false;
};

class MeasuredScenario {
public:
    /// Throws ConfigError with all errors, including those of every row's scenario. validation::require_fields() checks
    /// that results have the fields.
    MeasuredScenario(const MeasuredFiles& files, const Inspect& inspect);
    ~MeasuredScenario();
    MeasuredScenario(MeasuredScenario&&) noexcept;
    MeasuredScenario& operator=(MeasuredScenario&&) noexcept;

    const std::string& name() const;
    const Measurements& measurements() const;
    /// Returns what was chosen because the files do not say it, in sentences without a full stop.
    const std::vector<std::string>& chosen() const;
    /// Returns the scenario of a row. `values` are by parameter; an empty one keeps the scenario's own value. Throws
    /// ConfigError.
    Resolved resolved(const MeasuredRow& row, const std::vector<std::optional<double>>& values,
                      const Alternative* alternative = nullptr) const;
    /// Throws ConfigError if a parameter would replace what `alternative` changes.
    void require(const Alternative& alternative) const;

    /// Leaves out the other rows, except calibration rows of parameters that act on those kept, and parameters that do
    /// not. `rows` is by row.
    void keep(std::vector<bool> rows);

    struct Parts;

private:
    std::unique_ptr<Parts> parts_;
};

/// Returns whether the file is a scenario with the key `measured`. Throws ConfigError if it is not YAML.
bool is_measured(const std::string& path);

}  // namespace syncline::config
