#pragma once

#include <cstdint>
#include <utility>
#include <vector>

/// Cyclic rotations of processes, one inside the other.
namespace syncline {

using ProcessId = std::uint32_t;

/// Returns the process that is so many places further in its span of consecutive processes, which is a cycle.
constexpr ProcessId shifted(ProcessId process, std::uint32_t span, std::uint32_t places) {
    return process / span * span + (process % span + places) % span;
}

/// Moves process i of each `span` of processes to place i + period (mod span); the span is a multiple of the period.
struct Rotation {
    std::uint32_t span = 1, period = 1;

    /// Returns the number of rotations after which everything is in its place.
    std::uint32_t times() const { return span / period; }
    bool operator==(const Rotation&) const = default;
};

/// Returns the spans into which so many processes can be divided, the largest first.
inline std::vector<std::uint32_t> spans_within(std::uint32_t processes) {
    std::vector<std::uint32_t> spans;
    for (std::uint32_t span = processes; span > 1; --span)
        if (processes % span == 0) spans.push_back(span);
    return spans;
}

/// Rotations such as that of the replicas in a stage and that of the tensor-parallel ranks in each replica: the span of
/// each divides the period of the one before it. Each moves one digit of a process's number in mixed radix, so that
/// they commute. Together they take a process to as many images as the product of their times(). The image that has
/// the lowest number, a place below the period in each span, stands for all.
class Rotations {
public:
    Rotations() = default;
    /// The outermost rotation comes first.
    explicit Rotations(std::vector<Rotation> all) : all_(std::move(all)) {}

    const std::vector<Rotation>& all() const { return all_; }
    /// Returns whether a rotation of this span would be inside of these.
    bool admits(std::uint32_t span) const { return all_.empty() || all_.back().period % span == 0; }
    /// Returns those of `candidates`, in their order, that are one inside the other.
    static Rotations nested(const std::vector<Rotation>& candidates) {
        Rotations found;
        for (const Rotation& rotation : candidates)
            if (found.admits(rotation.span)) found.all_.push_back(rotation);
        return found;
    }
    /// Returns these and a rotation inside of them.
    Rotations with(const Rotation& inner) const {
        Rotations more = *this;
        more.all_.push_back(inner);
        return more;
    }

    std::uint32_t images() const {
        std::uint32_t images = 1;
        for (const Rotation& rotation : all_) images *= rotation.times();
        return images;
    }
    /// Returns true if the process stands for its images.
    bool stands(ProcessId process) const { return representative(process) == process; }
    ProcessId representative(ProcessId process) const {
        for (const Rotation& rotation : all_) process -= process % rotation.span / rotation.period * rotation.period;
        return process;
    }

    // An image has a number, which says how often each rotation is applied.
    ProcessId image(ProcessId process, std::uint32_t number) const {
        for (const Rotation& rotation : all_) {
            process = shifted(process, rotation.span, number % rotation.times() * rotation.period);
            number /= rotation.times();
        }
        return process;
    }
    /// Returns the number of the image of a process that stands for it.
    std::uint32_t home(ProcessId process) const {
        std::uint32_t number = 0, unit = 1;
        for (const Rotation& rotation : all_) {
            number += unit * ((rotation.times() - process % rotation.span / rotation.period) % rotation.times());
            unit *= rotation.times();
        }
        return number;
    }
    /// Returns the number of the image to which the i-th rotation takes an image.
    std::uint32_t next(std::uint32_t number, std::size_t i) const {
        std::uint32_t unit = 1;
        for (std::size_t before = 0; before < i; ++before) unit *= all_[before].times();
        return shifted(number, unit * all_[i].times(), unit);
    }

private:
    std::vector<Rotation> all_;
};

}  // namespace syncline
