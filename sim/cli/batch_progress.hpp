#pragma once

#include <deque>
#include <string>

#include "sim/batch/batch.hpp"

/// What standard error says of a batch under way: on a terminal one line, redrawn a few times per second; else a line
/// every ten seconds, and one at the end.
namespace syncline::cli {

class BatchProgressLine {
public:
    BatchProgressLine();
    /// Wipes the terminal's line; elsewhere says how far it has come.
    ~BatchProgressLine();
    BatchProgressLine(const BatchProgressLine&) = delete;
    BatchProgressLine& operator=(const BatchProgressLine&) = delete;

    void show(const batch::BatchProgress& progress);

private:
    void draw(const batch::BatchProgress& progress) const;
    void write_line(const batch::BatchProgress& progress) const;
    /// Per second, lately; 0 if that is not known.
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
