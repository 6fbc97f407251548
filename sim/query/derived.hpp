#pragma once

#include <string>
#include <vector>

#include "sim/store/database.hpp"
#include "sim/store/store.hpp"

/// Exports of a store for other programs.
namespace syncline::batch {

/// A point with all its data in the store, including lists, as one line of JSON.
struct PointLine {
    std::string study;
    std::int64_t number = 0, repeat = 0;
    std::string json;
};

/// Returns the lines of all points (of one study, if given), by study, number and repeat.
std::vector<PointLine> point_lines(Store& store, const std::string& study = "");

/// Writes results.csv and results.jsonl beside the store: all points, by study and number. Throws OutputError.
void write_derived(Store& store);

}  // namespace syncline::batch
