#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

/// Flows that start together and share links max-min fairly, computed from the definition: D. Bertsekas, R. Gallager,
/// "Data Networks", 1992, section 6.5.2 (progressive filling).
namespace syncline {

struct Flow {
    std::vector<std::uint32_t> links;
    double bytes = 0;
    std::vector<double> parts = {};  ///< of its bytes on each link; empty: all

    double part(std::size_t i) const { return parts.empty() ? 1 : parts[i]; }
};

/// Returns the rates of all open flows: all grow equally, until a link is full and its flows keep their rate.
inline std::vector<double> max_min_rates(const std::vector<Flow>& flows, const std::vector<bool>& open,
                                         const std::map<std::uint32_t, double>& bandwidth_Bps) {
    std::vector<double> rates(flows.size(), 0);
    std::vector<bool> growing = open;
    std::map<std::uint32_t, double> free = bandwidth_Bps;
    while (std::find(growing.begin(), growing.end(), true) != growing.end()) {
        std::map<std::uint32_t, double> users;
        for (std::size_t i = 0; i < flows.size(); ++i) {
            if (!growing[i]) continue;
            for (std::size_t k = 0; k < flows[i].links.size(); ++k) users[flows[i].links[k]] += flows[i].part(k);
        }
        std::uint32_t full = users.begin()->first;
        for (const auto& [link, count] : users)
            if (free[link] / count < free[full] / users[full]) full = link;
        const double rate = free[full] / users[full];
        for (std::size_t i = 0; i < flows.size(); ++i) {
            const std::vector<std::uint32_t>& links = flows[i].links;
            if (!growing[i] || std::find(links.begin(), links.end(), full) == links.end()) continue;
            growing[i] = false;
            rates[i] = rate;
            for (std::size_t k = 0; k < links.size(); ++k) free[links[k]] -= rate * flows[i].part(k);
        }
    }
    return rates;
}

/// Returns, by flow, the time at which its last byte is delivered.
inline std::vector<double> fluid_ends(const std::vector<Flow>& flows,
                                      const std::map<std::uint32_t, double>& bandwidth_Bps) {
    std::vector<double> left, ends(flows.size(), 0);
    std::vector<bool> open;
    for (const Flow& flow : flows) {
        left.push_back(flow.bytes);
        open.push_back(flow.bytes > 0);
    }
    double now = 0;
    while (std::find(open.begin(), open.end(), true) != open.end()) {
        const std::vector<double> rates = max_min_rates(flows, open, bandwidth_Bps);
        double step = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < flows.size(); ++i)
            if (open[i]) step = std::min(step, left[i] / rates[i]);
        now += step;
        for (std::size_t i = 0; i < flows.size(); ++i) {
            if (!open[i]) continue;
            left[i] -= rates[i] * step;
            // The remainder is rounding: a flow has whole bytes.
            if (left[i] > 1e-6) continue;
            open[i] = false;
            ends[i] = now;
        }
    }
    return ends;
}

}  // namespace syncline
