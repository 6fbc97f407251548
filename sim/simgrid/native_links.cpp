#include "sim/simgrid/native_links.hpp"

#include <fmt/format.h>
#include <simgrid/s4u/Engine.hpp>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "sim/base/replay_error.hpp"

namespace syncline {

namespace sg = simgrid::s4u;

namespace {

bool is_wifi(const sg::Link* link) {
    return link->get_sharing_policy() == sg::Link::SharingPolicy::WIFI;
}

/// Loads the platform and returns its hosts that are nodes, in order.
std::vector<sg::Host*> load_hosts(const NativePlatform& platform) {
    const sg::Engine* engine = sg::Engine::get_instance();
    try {
        engine->load_platform(platform.file);
    } catch (const std::exception& error) {  // includes a std::logic_error, although the fault is the user's
        throw ReplayError(error.what());
    }
    std::vector<sg::Host*> hosts;
    if (platform.hosts.empty()) {
        hosts = engine->get_all_hosts();
        // natural order: node-2 before node-10
        std::sort(hosts.begin(), hosts.end(),
                  [](const sg::Host* a, const sg::Host* b) { return strverscmp(a->get_cname(), b->get_cname()) < 0; });
    }
    for (const std::string& name : platform.hosts) {
        hosts.push_back(sg::Host::by_name_or_null(name));
        if (hosts.back() == nullptr) throw ReplayError(fmt::format("{} has no host '{}'", platform.file, name));
    }
    if (hosts.empty()) throw ReplayError(fmt::format("{} has no hosts", platform.file));
    return hosts;
}

/// Throws if there is no route, or if it uses a WIFI link, whose stations have no rates: SimGrid would end the process
/// that sends the first message.
void require_route(const sg::Host* from, const sg::Host* to) {
    std::vector<sg::Link*> links;
    double latency_s = 0;
    from->route_to(to, links, &latency_s);
    if (links.empty() && latency_s == 0)
        throw ReplayError(
            fmt::format("there is no route from '{}' to '{}'; list only hosts with routes between them under 'hosts'",
                        from->get_name(), to->get_name()));
    for (const sg::Link* link : links)
        if (is_wifi(link))
            throw ReplayError(fmt::format("the route from '{}' to '{}' uses a WIFI link, '{}'", from->get_name(),
                                          to->get_name(), link->get_name()));
}

/// Checks routes between all pairs of hosts or, if these are too many, between the first and every other host.
void require_routes(const std::vector<sg::Host*>& hosts) {
    constexpr std::size_t many = 256;
    const std::size_t senders = hosts.size() <= many ? hosts.size() : 1;
    for (std::size_t from = 0; from < senders; ++from) {
        for (std::size_t to = from + 1; to < hosts.size(); ++to) {
            require_route(hosts[from], hosts[to]);
            require_route(hosts[to], hosts[from]);
        }
    }
}

}  // namespace

SimGridLinks::SimGridLinks(const NativePlatform& platform)
    : hosts_(load_hosts(platform)), links_(sg::Engine::get_instance()->get_all_links()) {
    for (const sg::Link* link : links_) number_.emplace(link, static_cast<std::uint32_t>(number_.size()));
}

std::vector<NativeLinks::Link> SimGridLinks::links() const {
    std::vector<Link> result;
    for (const sg::Link* link : links_) {
        const bool shared = link->get_sharing_policy() != sg::Link::SharingPolicy::FATPIPE;
        result.push_back({link->get_name(), link->get_bandwidth(), link->get_latency(), shared});
    }
    return result;
}

std::vector<std::uint32_t> SimGridLinks::route(std::uint32_t from, std::uint32_t to) const {
    std::vector<sg::Link*> path;
    double latency_s = 0;
    hosts_.at(from)->route_to(hosts_.at(to), path, &latency_s);
    std::vector<std::uint32_t> numbers;
    for (const sg::Link* link : path) numbers.push_back(number_.at(link));
    return numbers;
}

void SimGridLinks::drop_latencies() {
    for (sg::Link* link : links_)
        if (!is_wifi(link)) link->set_latency(0);
}

SimGridEngine::Hosts inspect_platform(const NativePlatform& platform) {
    const std::vector<sg::Host*> hosts = load_hosts(platform);
    const sg::Engine* engine = sg::Engine::get_instance();
    engine->seal_platform();
    require_routes(hosts);
    for (const sg::Link* link : engine->get_all_links())
        if (!is_wifi(link) && !(link->get_bandwidth() > 0 && link->get_latency() >= 0))
            throw ReplayError(fmt::format("link '{}' has no bandwidth, or a negative latency", link->get_name()));
    double slowest = hosts.front()->get_speed();
    for (const sg::Host* host : hosts) slowest = std::min(slowest, host->get_speed());
    return {hosts.size(), slowest};
}

}  // namespace syncline
