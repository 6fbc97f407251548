#include "sim/replay/native.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>
#include <simgrid/s4u/Engine.hpp>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "sim/process/isolated.hpp"
#include "sim/replay/replay.hpp"

namespace syncline {

namespace sg = simgrid::s4u;

namespace {

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
        if (link->get_sharing_policy() == sg::Link::SharingPolicy::WIFI)
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

/// Redirects standard error to a file in memory during its lifetime: SimGrid explains an error there before it ends the
/// process.
class Overheard {
public:
    Overheard() : file_(memfd_create("simgrid", MFD_CLOEXEC)), kept_(dup(STDERR_FILENO)) {}
    ~Overheard() {
        stop();
        close(kept_);
        close(file_);
    }
    Overheard(const Overheard&) = delete;
    Overheard& operator=(const Overheard&) = delete;

    void start() const { dup2(file_, STDERR_FILENO); }
    void stop() const { dup2(kept_, STDERR_FILENO); }
    std::string first_line() const {
        std::string text(4096, '\0');
        const ssize_t size = pread(file_, text.data(), text.size(), 0);
        text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
        text.resize(std::min(text.size(), text.find('\n')));
        // SimGrid's format: "[node:actor:(1) 0.000000] [category/CRITICAL] message"
        const auto category = text.rfind("] ");
        return category == std::string::npos ? text : text.substr(category + 2);
    }

private:
    int file_, kept_;
};

}  // namespace

std::vector<std::uint32_t> NativeLinks::route(std::uint32_t from, std::uint32_t to) const {
    std::vector<sg::Link*> path;
    double latency_s = 0;
    hosts.at(from)->route_to(hosts.at(to), path, &latency_s);
    std::vector<std::uint32_t> numbers;
    for (const sg::Link* link : path) numbers.push_back(number.at(link));
    return numbers;
}

NativeLinks load_native(const NativePlatform& platform) {
    NativeLinks loaded{load_hosts(platform), sg::Engine::get_instance()->get_all_links(), {}};
    for (const sg::Link* link : loaded.links)
        loaded.number.emplace(link, static_cast<std::uint32_t>(loaded.number.size()));
    return loaded;
}

void inspect(Cluster& cluster) {
    const NativePlatform& platform = *cluster.native;
    const Overheard overheard;
    std::string answer;
    try {
        answer = isolate([&] {
            overheard.start();
            std::string program = "syncline", quiet = "--log=root.thres:critical";
            std::vector<char*> arguments{program.data(), quiet.data(), nullptr};
            int count = 2;
            static sg::Engine* const engine = new sg::Engine(&count, arguments.data());
            const std::vector<sg::Host*> hosts = load_hosts(platform);
            engine->seal_platform();
            require_routes(hosts);
            for (const sg::Link* link : engine->get_all_links()) {
                const bool wifi = link->get_sharing_policy() == sg::Link::SharingPolicy::WIFI;
                if (!wifi && !(link->get_bandwidth() > 0 && link->get_latency() >= 0))
                    throw ReplayError(
                        fmt::format("link '{}' has no bandwidth, or a negative latency", link->get_name()));
            }
            double slowest = hosts.front()->get_speed();
            for (const sg::Host* host : hosts) slowest = std::min(slowest, host->get_speed());
            return fmt::format("{} {}", hosts.size(), slowest);
        });
    } catch (const ReplayError& error) {
        const std::string said = overheard.first_line();
        throw ReplayError(fmt::format("SimGrid cannot load {}: {}", platform.file, said.empty() ? error.what() : said));
    }
    std::istringstream(answer) >> cluster.nodes >> answer;
    double& flops = cluster.device.flops_per_s;
    if (flops == 0) flops = std::stod(answer);
}

}  // namespace syncline
