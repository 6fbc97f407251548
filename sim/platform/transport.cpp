#include "sim/platform/transport.hpp"

#include <algorithm>

namespace syncline {

double MessageTerms::limit_Bps(double bytes) const {
    if (bandwidth.empty()) return std::numeric_limits<double>::infinity();
    const auto above = std::upper_bound(bandwidth.begin(), bandwidth.end(), bytes,
                                        [](double size, const BandwidthPoint& point) { return size < point.bytes; });
    if (above == bandwidth.begin()) return bandwidth.front().bandwidth_Bps;
    if (above == bandwidth.end()) return bandwidth.back().bandwidth_Bps;
    const BandwidthPoint& below = *(above - 1);
    const double part = (bytes - below.bytes) / (above->bytes - below.bytes);
    return bytes / (below.seconds() + part * (above->seconds() - below.seconds()));
}

double Staging::copy_s(std::uint64_t bytes, double host_link_Bps) const {
    return bytes == 0 ? 0 : latency_s + static_cast<double>(bytes) / rate_Bps.value_or(host_link_Bps);
}

bool is_plain(const Transport& transport) {
    Transport nothing;
    nothing.name = transport.name;
    nothing.selection = transport.selection;
    nothing.pxn = transport.pxn;  // chooses links
    return transport == nothing;
}

}  // namespace syncline
