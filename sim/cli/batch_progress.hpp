#pragma once

#include <deque>
#include <string>

#include "sim/batch/batch.hpp"

/// Progress of a running batch on standard error: on a terminal a single line, redrawn a few times per second;
/// elsewhere a line every ten seconds and one at the end.
namespace syncline::cli {

class BatchProgressLine {
public:
    BatchProgressLine();
    /// Erases the line on a terminal; elsewhere writes the final state.
    ~BatchProgressLine();
    BatchProgressLine(const BatchProgressLine&) = delete;
    BatchProgressLine& operator=(const BatchProgressLine&) = delete;

    void show(const batch::BatchProgress& progress);

private:
    void draw(const batch::BatchProgress& progress) const;
    void write_line(const batch::BatchProgress& progress) const;
    /// Returns the recent number of points per second; 0 if unknown.
    double rate() const;

    struct Moment {
        double at_s;
        std::int64_t ended;
    };
    bool terminal_;
    std::deque<Moment> lately_;
    batch::BatchProgress last_;
    double shown_s_ = 0;
};

}  // namespace syncline::cli
