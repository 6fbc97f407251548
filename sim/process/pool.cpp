#include "sim/process/pool.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

namespace syncline {

void Pool::start(const std::string& id, const std::function<std::string()>& work) {
    working_.emplace_back(id, work);
}

double Pool::patience_s(double wait_s) const {
    if (timeout_s_)
        for (const Working& one : working_) wait_s = std::min(wait_s, *timeout_s_ - one.seconds());
    return std::max(wait_s, 0.0);
}

std::optional<Ended> Pool::look_at(Working& one) const {
    if (one.process.take()) {
        if (!timeout_s_ || one.seconds() < *timeout_s_) return {};
        one.process.kill();
        return Ended{one.id, false, fmt::format("took longer than --timeout {} s", *timeout_s_), one.seconds()};
    }
    Ended ended{one.id, false, "", 0};
    try {
        ended.text = one.process.outcome();
        ended.done = true;
    } catch (const std::logic_error& error) {
        ended.text = std::string("a bug in syncline: ") + error.what();
    } catch (const std::exception& error) {
        ended.text = error.what();
    }
    ended.wall_s = one.seconds();
    return ended;
}

std::vector<Ended> Pool::ended(double wait_s, int waker) {
    std::vector<pollfd> ready{{waker, POLLIN, 0}};
    for (const Working& one : working_) ready.push_back({one.process.descriptor(), POLLIN, 0});
    poll(ready.data(), ready.size(), static_cast<int>(std::ceil(1e3 * patience_s(wait_s))));
    std::vector<Ended> all;
    working_.remove_if([&](Working& one) {
        std::optional<Ended> ended = look_at(one);
        if (ended) all.push_back(std::move(*ended));
        return ended.has_value();
    });
    return all;
}

bool Pool::cancel(const std::string& id) {
    return working_.remove_if([&](const Working& one) { return one.id == id; }) > 0;
}

std::size_t default_jobs() {
    if (const char* given = std::getenv("SLURM_CPUS_PER_TASK")) {
        const long cores = std::strtol(given, nullptr, 10);
        if (cores > 0) return static_cast<std::size_t>(cores);
    }
    cpu_set_t cores;
    // If there are more cores than the set can hold, its size is used.
    return sched_getaffinity(0, sizeof cores, &cores) == 0 ? static_cast<std::size_t>(CPU_COUNT(&cores)) : CPU_SETSIZE;
}

}  // namespace syncline
