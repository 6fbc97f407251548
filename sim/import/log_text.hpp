#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/placed_text.hpp"

/// Lines of logs, in which those of launchers, MPI and NCCL may stand between.
namespace syncline::config {

/// Returns the text without the escape sequences by which programs colour it and move the cursor.
std::string without_escapes(const std::string& text);

/// Returns the lines of a text; where a carriage return redraws a line, each version is one. The labels that mpirun
/// (`[1,0]<stdout>:`) and srun (`0: `) put before lines are left out.
std::vector<PlacedText> lines_of(const Mark& start);

/// A number of a log, with its place.
struct LogNumber {
    double value = 0;
    Mark mark;
};

/// Returns the number, not below zero, that follows `key` in a line, after spaces and quotation marks, and with commas
/// between its thousands: `tps: 6,021`, `'loss': '1.98'`.
std::optional<LogNumber> number_after(const PlacedText& line, std::string_view key);

}  // namespace syncline::config
