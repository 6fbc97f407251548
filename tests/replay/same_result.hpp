#pragma once

#include <map>
#include <string>

#include "sim/analysis/experiment.hpp"
#include "tests/catch.hpp"

namespace syncline {

inline std::map<std::string, std::uint64_t> bytes_by_link(const Timeline& timeline) {
    std::map<std::string, std::uint64_t> bytes;
    for (const LinkUse& link : timeline.links) bytes[link.name] = link.bytes;
    return bytes;
}

/// Checks the messages and bytes of all processes and links.
inline void check_same_bytes(const Timeline& one, const Timeline& other) {
    CHECK(other.messages == one.messages);
    CHECK(other.bytes_sent == one.bytes_sent);
    CHECK(other.sent_by == one.sent_by);
    CHECK(other.received_by == one.received_by);
    CHECK(bytes_by_link(other) == bytes_by_link(one));
}

/// Checks everything that a result has of two replays of the same training.
inline void check_same_result(const ReplayedIteration& one, const ReplayedIteration& other) {
    check_same_bytes(one.timeline, other.timeline);
    const auto near = [&](double seconds) { return Approx(seconds).epsilon(1e-9).margin(1e-9 * one.time.iteration_s); };
    CHECK(other.time.iteration_s == near(one.time.iteration_s));
    CHECK(other.time.compute_s == near(one.time.compute_s));
    CHECK(other.time.communication_s == near(one.time.communication_s));
    CHECK(other.time.exposed_communication_s == near(one.time.exposed_communication_s));
    CHECK(other.time.waiting_s == near(one.time.waiting_s));
    CHECK(other.time.idle_s == near(one.time.idle_s));
    REQUIRE(other.time.pipeline_bubble.has_value() == one.time.pipeline_bubble.has_value());
    if (one.time.pipeline_bubble) CHECK(*other.time.pipeline_bubble == Approx(*one.time.pipeline_bubble).margin(1e-9));
}

}  // namespace syncline
