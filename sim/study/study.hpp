#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/config/file_kinds.hpp"
#include "sim/config/resolved.hpp"

/// A study: one base scenario and the axes along which it varies, as one YAML file; scenarios/studies/README.md shows
/// its keys. A scenario is a study without axes. A `sweep` in a point's `collective` makes one point per size (setting
/// `collective.bytes`), and `model: auto` one per fitting choice (setting `training.parallelism.model`).
namespace syncline::config {

struct Variant;

/// One key and its value in a point, as shown to users: a file's name without directory and extension (`p100-25g`),
/// everything else as written.
struct Setting {
    std::string key;
    std::string value;
};

struct Axis {
    std::vector<std::string> keys;                 ///< several keys vary together
    std::vector<std::vector<std::string>> values;  ///< [value][key], as in Setting
};

/// An SQL expression over settings, and where it is written.
struct Condition {
    std::string text;
    Location at;
};

/// The study's question; members that are not given are empty or 0.
struct Question {
    std::string objective;
    std::vector<Condition> constraints;
    std::int64_t budget = 0;  ///< simulations
    std::int64_t top = 0;
    /// Settings that make a simulation cheaper, cheapest first, for a search that cannot afford all points.
    std::vector<std::vector<std::string>> cheaper;  ///< each a list of assignments, as in `--set`
};

/// One simulation: a scenario with one variant, at one size.
struct StudyPoint {
    std::int64_t number = 0;  ///< from 1 in the study's order; counts points that do not fit, but not excluded ones
    /// Number, from 1, of the combination of the axes' values, sizes and grids; points with the same number are its
    /// repetitions.
    std::int64_t combination = 0;
    std::vector<Setting> settings;  ///< in the axes' order: "variant" if the base has any, axes, sizes or grids, draws
    std::int64_t repeat = 1;        ///< from 1
    std::uint64_t seed = 1;
    Resolved resolved;   ///< also if the point does not fit, as far as it could be assembled
    std::string misfit;  ///< empty, or why the point is not a scenario: the rendered errors
};

class Study {
public:
    /// Reads a study's or scenario's file. Assignments to a study's own keys (`axes.…`, `zip`, `include`, `exclude`,
    /// `repeat`, `seed`, `draw`, `question.…`, `base`) change the study; others change every point, after all other
    /// changes. An assignment to an axis's key replaces that axis, one to a drawn key replaces the draw. Throws
    /// ConfigError with all errors of the file itself.
    Study(const std::string& path, const std::vector<std::string>& assignments, const Inspect& inspect);
    ~Study();
    Study(Study&&) noexcept;

    const std::string& name() const;  ///< its key `name`; default: the file's name without directory and extension
    const std::vector<Axis>& axes() const;
    const std::vector<Condition>& include() const;
    const std::vector<Condition>& exclude() const;
    std::int64_t repeats() const;
    const Question& question() const;
    /// Returns all keys that settings of points can have, in order.
    const std::vector<std::string>& keys() const;

    /// Returns whether a point with these settings is wanted. The settings lack sizes and grids if it does not fit.
    using Wanted = std::function<bool(const std::vector<Setting>&)>;
    /// `variant` is the point as read; null if it does not fit.
    using Visit = std::function<void(const StudyPoint& point, const Variant* variant)>;

    /// Throws ConfigError, with the errors of the first point, if no point fits.
    void check() const;

    /// Visits every wanted point in order. `changes` are assignments applied after all others, for a cheaper setting.
    void each(const Wanted& wanted, const Visit& visit, const std::vector<std::string>& changes = {}) const;

    struct Parts;

private:
    std::unique_ptr<Parts> parts_;
};

}  // namespace syncline::config
