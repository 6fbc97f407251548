#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/import/foreign.hpp"
#include "sim/import/log_text.hpp"

/// Logs with measurements, which become the key `measured`, with what they say of the collective or the training.
namespace syncline::config {

bool is_nccl_tests(const ForeignFile& file);
void read_nccl_tests(const ForeignFile& file, Imported& imported);

bool is_osu(const ForeignFile& file);
void read_osu(const ForeignFile& file, Imported& imported);

bool is_megatron_log(const ForeignFile& file);
void read_megatron_log(const ForeignFile& file, Imported& imported);
bool is_torchtitan_log(const ForeignFile& file);
void read_torchtitan_log(const ForeignFile& file, Imported& imported);
bool is_trainer_log(const ForeignFile& file);
void read_trainer_log(const ForeignFile& file, Imported& imported);
bool is_deepspeed_log(const ForeignFile& file);
void read_deepspeed_log(const ForeignFile& file, Imported& imported);

/// A measured time of a collective.
struct MeasuredPoint {
    std::uint64_t bytes = 0;
    double us = 0;
    Mark mark;
};

/// Measured times of one collective, in the order of the file.
struct MeasuredCollective {
    std::string source;      ///< the program, with its version if it is known
    std::string operation;   ///< ours; "": the file does not say it
    std::int64_t ranks = 0;  ///< 0: the file does not say it
    Mark mark;
    std::vector<MeasuredPoint> points;
};

/// Writes the keys `collective` and `measured`. Times of the same size become their median. Reports a file without
/// rows.
void add_measured(Imported& imported, const MeasuredCollective& measured);

struct MeasuredStep {
    std::int64_t step = 0;
    LogNumber value;
};
struct MeasuredSteps {
    std::string source;
    const char* field;      ///< of the result
    const char* unit = "";  ///< of the values; "": the field's own
    Mark mark;
    std::vector<MeasuredStep> steps;
    bool whole_run = false;  ///< there is one value, the mean of the run
};
/// Writes the key `measured`: one row with the median of the values, without those of the first step.
void add_measured(Imported& imported, const MeasuredSteps& measured);

/// Returns a median; the values must not be empty.
double median_of(std::vector<double> values);

}  // namespace syncline::config
