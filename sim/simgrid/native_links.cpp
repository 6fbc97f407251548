#include "sim/simgrid/native_links.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/NetZone.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "sim/base/replay_error.hpp"
#include "sim/topology/shape.hpp"

namespace syncline {

namespace sg = simgrid::s4u;

namespace {

constexpr double most_speed_flops_per_s = 1e24;

bool is_wifi(const sg::Link* link) {
    return link->get_sharing_policy() == sg::Link::SharingPolicy::WIFI;
}

/// Returns the name of a file in memory with this text, which lives as long as the process.
std::string file_of(const std::string& text) {
    const int file = memfd_create("platform", MFD_CLOEXEC);
    std::size_t written = 0;
    while (file >= 0 && written < text.size()) {
        const ssize_t count = write(file, text.data() + written, text.size() - written);
        if (count <= 0) break;
        written += static_cast<std::size_t>(count);
    }
    if (file < 0 || written < text.size())
        throw ReplayError(fmt::format("the platform cannot be kept in memory: {}", std::strerror(errno)));
    return fmt::format("/proc/self/fd/{}", file);
}

/// Returns names of one file in the working directory that all differ, because SimGrid accepts a trace's name once: a
/// path means the same with "./" or ".//" in it, one of them for each bit of a number.
std::string name_of(const std::string& file, std::size_t number) {
    std::string name;
    for (int bit = 0; bit < 20; ++bit) name += (number >> bit & 1) == 0 ? "./" : ".//";
    return name + std::filesystem::path(file).filename().string();
}

/// Returns the text with names of files in memory in place of the marks.
std::string with_traces(const SimGridFile& platform) {
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);  // each trace is a file
    std::vector<std::string> traces;
    for (const std::string& trace : platform.traces) traces.push_back(file_of(trace));
    std::string text;
    std::string_view rest = platform.text;
    for (std::size_t use = 0; use < platform.uses.size(); ++use) {
        const auto begin = rest.find(SimGridFile::mark), end = rest.find(SimGridFile::mark, begin + 1);
        text.append(rest.substr(0, begin)).append(name_of(traces[platform.uses[use]], use));
        rest.remove_prefix(end + 1);
    }
    return text.append(rest);
}

/// Loads the platform and returns its hosts that are nodes, in order.
std::vector<sg::Host*> load_hosts(const NativePlatform& platform) {
    const sg::Engine* engine = sg::Engine::get_instance();
    // SimGrid looks for traces in the working directory first, and finds them nowhere by their absolute path.
    std::filesystem::current_path("/proc/self/fd");
    const std::string loaded = file_of(with_traces(platform.content));
    try {
        engine->load_platform(loaded);
    } catch (const std::exception& error) {  // includes a std::logic_error, although the fault is the user's
        std::string message = error.what();
        for (auto at = message.find(loaded); at != std::string::npos;
             at = message.find(loaded, at + platform.file.size()))
            message.replace(at, loaded.size(), platform.file);
        throw ReplayError(message);
    }
    std::vector<sg::Host*> hosts;
    if (platform.hosts.empty()) {
        hosts = engine->get_all_hosts();
        std::erase_if(hosts, [&](const sg::Host* host) { return platform.content.off.contains(host->get_name()); });
        // natural order: node-2 before node-10
        std::sort(hosts.begin(), hosts.end(),
                  [](const sg::Host* a, const sg::Host* b) { return strverscmp(a->get_cname(), b->get_cname()) < 0; });
    }
    for (const std::string& name : platform.hosts) {
        hosts.push_back(sg::Host::by_name_or_null(name));
        if (hosts.back() == nullptr) throw ReplayError(fmt::format("{} has no host '{}'", platform.file, name));
        if (platform.content.off.contains(name))
            throw ReplayError(fmt::format("host '{}' is off from the start", name));
    }
    if (hosts.empty())
        throw ReplayError(
            fmt::format("{} has no hosts{}", platform.file, platform.content.off.empty() ? "" : " that are on"));
    return hosts;
}

/// Returns whether SimGrid survives looking for a route. A process of its own looks: SimGrid ends or crashes where
/// there is none, or, between two parts of a Dijkstra zone, looks for ever.
bool survives(const sg::Host* from, const sg::Host* to) {
    const pid_t child = fork();
    if (child == 0) {
        const rlimit no_core{0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        const rlimit few_seconds{1, 1};  // a route takes milliseconds
        setrlimit(RLIMIT_CPU, &few_seconds);
        dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
        std::vector<sg::Link*> links;
        double latency_s = 0;  // Vivaldi zones end the process only if it is asked for
        try {
            from->route_to(to, links, &latency_s);
        } catch (const std::exception&) {
        }
        _exit(0);
    }
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/// Returns whether SimGrid 3.32 ends the process, or crashes, if this kind of zone has no route for a host. Their
/// classes are exported by name alone.
bool ends_without_route(const sg::NetZone& zone) {
    const simgrid::kernel::routing::NetZoneImpl& inside = *zone.get_impl();
    const std::string_view kind = typeid(inside).name();
    return kind.find("DijkstraZone") != kind.npos || kind.find("EmptyZone") != kind.npos;
}

/// Returns whether a route may be looked for. SimGrid also ends the process if there is none between two zones. What it
/// does is found out once for two zones, or for two hosts.
bool can_look(const sg::Host* from, const sg::Host* to) {
    using Question = std::pair<const void*, const void*>;
    static std::set<Question> answered;
    std::vector<Question> open;
    const auto ask = [&](const Question& question) {
        if (!answered.contains(question)) open.push_back(question);
    };
    const sg::NetZone *here = from->get_englobing_zone(), *there = to->get_englobing_zone();
    if (here != there) ask({here, there});
    if (ends_without_route(*here) || ends_without_route(*there)) ask({from, to});
    if (!open.empty() && !survives(from, to)) return false;
    answered.insert(open.begin(), open.end());
    return true;
}

/// Returns the route from a host to another or to itself. Throws if there is none, or if it uses a link of type WIFI,
/// whose stations have no rates: SimGrid would end the process that sends the first message.
std::vector<sg::Link*> route_between(const sg::Host* from, const sg::Host* to) {
    std::vector<sg::Link*> links;
    double latency_s = 0;
    bool found = can_look(from, to);
    try {
        if (found) from->route_to(to, links, &latency_s);
    } catch (const std::exception&) {  // of some kinds of zone, which call it a bug
        found = false;
    }
    if (from != to && (!found || (links.empty() && latency_s == 0)))
        throw ReplayError(fmt::format(
            "there is no route from '{}' to '{}', which exchange messages; add it, or list other hosts under 'hosts'",
            from->get_name(), to->get_name()));
    const auto wifi = std::find_if(links.begin(), links.end(), is_wifi);
    if (wifi != links.end())
        throw ReplayError(fmt::format("the route from '{}' to '{}' uses a WIFI link, '{}'", from->get_name(),
                                      to->get_name(), (*wifi)->get_name()));
    return links;
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
    const std::vector<sg::Link*> path = route_between(hosts_.at(from), hosts_.at(to));
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
    for (const sg::Link* link : engine->get_all_links()) {
        if (is_wifi(link)) continue;
        // As in our own files. All comparisons are false for values that are no numbers.
        const double bandwidth_Bps = link->get_bandwidth(), latency_s = link->get_latency();
        if (!(bandwidth_Bps >= least_bandwidth_Bps && bandwidth_Bps <= most_bandwidth_Bps))
            throw ReplayError(fmt::format("link '{}': a bandwidth of {:g} bytes per second is out of range",
                                          link->get_name(), bandwidth_Bps));
        if (!(latency_s >= 0 && latency_s <= most_latency_s))
            throw ReplayError(
                fmt::format("link '{}': a latency of {:g} seconds is out of range", link->get_name(), latency_s));
    }
    for (const sg::Host* host : hosts) {
        if (!(host->get_speed() >= 1 && host->get_speed() <= most_speed_flops_per_s))
            throw ReplayError(fmt::format("host '{}': a speed of {:g} flops per second is out of range",
                                          host->get_name(), host->get_speed()));
    }
    double slowest = hosts.front()->get_speed();
    for (const sg::Host* host : hosts) slowest = std::min(slowest, host->get_speed());
    return {hosts.size(), slowest};
}

}  // namespace syncline
