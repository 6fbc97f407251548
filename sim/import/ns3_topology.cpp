#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "sim/base/number.hpp"
#include "sim/import/cable_list.hpp"
#include "sim/import/network_texts.hpp"
#include "sim/import/word_lines.hpp"
#include "sim/import/written.hpp"

/// Sources: scratch/common.h of ns-3 in HPCC, astra-sim and SimAI. After the first line come the numbers of the
/// switches, SimAI's NVSwitches first, and then a cable on each line: two ends, bandwidth, latency, rate of errors.
namespace syncline::config {

namespace {

constexpr std::int64_t most_vertices = 200'000;

struct Ns3Cable {
    std::int64_t from = 0, to = 0;
    double bandwidth_Bps = 0, latency_s = 0;
    Mark mark;
};

struct Ns3File {
    std::int64_t vertices = 0, server = 1;
    std::set<std::int64_t> nv_switches, switches;
    std::string gpu;
    std::vector<Ns3Cable> cables;
};

/// Returns whether the first line can begin such a text.
bool is_first_line(const std::vector<PlacedText>& words) {
    constexpr std::size_t hpcc = 3, simai = 6;
    if (words.size() != hpcc && words.size() != simai) return false;
    const std::size_t numbers = words.size() == hpcc ? hpcc : simai - 1;
    return std::all_of(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(numbers),
                       [](const PlacedText& word) { return number_in<std::int64_t>(word.text).has_value(); });
}

class Ns3Reader {
public:
    Ns3Reader(const Mark& start, Findings& findings) : lines_(start), findings_(findings) {}

    std::optional<Ns3File> read() {
        const std::vector<PlacedText> first = lines_.next();
        if (!is_first_line(first)) {
            findings_.fail(first.empty() ? lines_.mark() : first[0].mark,
                           "this is no first line of a topology for ns-3",
                           "`<nodes> <switches> <links>`, or SimAI's six words");
            return std::nullopt;
        }
        const auto number = [&](std::size_t i, const char* what, std::int64_t least) {
            return whole_of(first[i], what, least, most_vertices, findings_).value_or(least);
        };
        Ns3File file;
        const bool simai = first.size() > 3;
        file.vertices = number(0, "the number of nodes", 2);
        if (simai) {
            file.server = number(1, "the number of GPUs of a server", 1);
            file.gpu = std::string(first[5].text.substr(0, 40));
        }
        const std::int64_t nv = simai ? number(2, "the number of NVSwitches", 0) : 0;
        const std::int64_t others = number(simai ? 3 : 1, "the number of switches", 0);
        const std::int64_t cables = number(simai ? 4 : 2, "the number of links", 1);
        if (!sound()) return std::nullopt;
        read_switches(file, nv, nv + others);
        while (sound() && static_cast<std::int64_t>(file.cables.size()) < cables) {
            const std::vector<PlacedText> words = lines_.next();
            if (words.empty()) {
                findings_.fail(lines_.mark(),
                               fmt::format("the text ends after {} of {} links", file.cables.size(), cables));
                break;
            }
            read_cable(file, words);
        }
        if (!sound()) return std::nullopt;
        if (const std::vector<PlacedText> more = lines_.next(); !more.empty())
            findings_.note(more[0].mark, "left out: what follows the last link");
        return file;
    }

private:
    bool sound() const { return findings_.errors.empty(); }

    void read_switches(Ns3File& file, std::int64_t nv, std::int64_t all) {
        for (std::int64_t seen = 0; sound() && seen < all;) {
            const std::vector<PlacedText> words = lines_.next();
            if (words.empty())
                return findings_.fail(lines_.mark(), fmt::format("the text ends after {} of {} switches", seen, all));
            for (const PlacedText& word : words) {
                if (seen == all) return findings_.fail(word.mark, fmt::format("there are more than {} switches", all));
                const auto id = whole_of(word, "a switch", 0, file.vertices - 1, findings_);
                if (!id) return;
                if (file.nv_switches.contains(*id) || file.switches.contains(*id))
                    return findings_.fail(word.mark, fmt::format("switch {} is listed twice", *id));
                (seen++ < nv ? file.nv_switches : file.switches).insert(*id);
            }
        }
    }

    void read_cable(Ns3File& file, const std::vector<PlacedText>& words) {
        constexpr std::size_t least = 4;
        if (words.size() < least)
            return findings_.fail(words[0].mark, "a link has two ends, a bandwidth and a latency",
                                  "`0 8 200Gbps 0.0005ms 0`");
        const auto from = whole_of(words[0], "the end of a link", 0, file.vertices - 1, findings_),
                   to = whole_of(words[1], "the end of a link", 0, file.vertices - 1, findings_);
        const auto bandwidth = quantity_of(words[2], Dimension::bandwidth, findings_),
                   latency = quantity_of(words[3], Dimension::seconds, findings_);
        if (!from || !to || !bandwidth || !latency) return;
        if (*bandwidth < 1) return findings_.fail(words[2].mark, "a link has no bandwidth");
        if (*from == *to) return findings_.fail(words[1].mark, "a link joins a node to itself");
        if (words.size() > least && number_in<double>(words[least].text).value_or(1) != 0 && !errors_) {
            findings_.note(words[least].mark, "left out: rates of errors");
            errors_ = true;
        }
        file.cables.push_back({*from, *to, *bandwidth, *latency, words[0].mark});
    }

    WordLines lines_;
    Findings& findings_;
    bool errors_ = false;
};

/// The links of GPUs inside a server, where all are alike.
struct NvLinks {
    double bandwidth_Bps = 0, latency_s = 0;
};

/// Returns the links of every GPU to the NVSwitches of its server, if they are alike and none leads to another server.
std::optional<NvLinks> nv_links(const Ns3File& file, std::int64_t gpus) {
    std::map<std::int64_t, std::int64_t> server_of;  ///< by NVSwitch
    std::map<std::int64_t, NvLinks> links;           ///< by GPU
    for (const Ns3Cable& cable : file.cables) {
        if (!file.nv_switches.contains(cable.from) && !file.nv_switches.contains(cable.to)) continue;
        const auto [gpu, nv] =
            file.nv_switches.contains(cable.to) ? std::pair(cable.from, cable.to) : std::pair(cable.to, cable.from);
        if (gpu >= gpus) return std::nullopt;
        if (server_of.try_emplace(nv, gpu / file.server).first->second != gpu / file.server) return std::nullopt;
        NvLinks& own = links[gpu];
        if (own.bandwidth_Bps > 0 && own.latency_s != cable.latency_s) return std::nullopt;
        own.bandwidth_Bps += cable.bandwidth_Bps;
        own.latency_s = cable.latency_s;
    }
    if (static_cast<std::int64_t>(links.size()) != gpus) return std::nullopt;
    const NvLinks first = links.begin()->second;
    const bool alike = std::ranges::all_of(links, [&](const auto& entry) {
        return entry.second.bandwidth_Bps == first.bandwidth_Bps && entry.second.latency_s == first.latency_s;
    });
    return alike ? std::optional(first) : std::nullopt;
}

/// Returns our device of SimAI's GPU; "" if there is none.
std::string device_of_gpu(const std::string& gpu) {
    const std::map<std::string, std::string> devices = {
        {"A100", "a100-sxm4-80gb"}, {"H100", "h100-sxm"}, {"H200", "h200"}, {"B200", "b200"}};
    const auto found = devices.find(gpu);
    return found == devices.end() ? "" : found->second;
}

}  // namespace

bool is_ns3(const ForeignFile& file) {
    WordLines lines(file.start);
    return is_first_line(lines.next());
}

void read_ns3(const ForeignFile& file, Imported& imported) {
    Findings& findings = imported.findings;
    const Mark& start = file.start;
    const auto read = Ns3Reader(start, findings).read();
    if (!read) return;
    std::vector<std::int64_t> hosts;
    for (std::int64_t id = 0; id < read->vertices; ++id)
        if (!read->switches.contains(id) && !read->nv_switches.contains(id)) hosts.push_back(id);
    const auto gpus = static_cast<std::int64_t>(hosts.size());
    constexpr std::int64_t most_devices = 256;
    std::optional<NvLinks> inside;
    const bool servers = !read->nv_switches.empty();
    if (servers && !hosts.empty() && hosts.back() == gpus - 1 && gpus % read->server == 0 &&
        read->server <= most_devices)
        inside = nv_links(*read, gpus);
    if (servers && !inside)
        findings.note(start, "GPUs are hosts of the network, and NVSwitches switches of it: servers are not alike");

    CableList list;
    std::map<std::int64_t, CableList::Vertex> vertex;
    std::set<std::int64_t> used;
    const auto outside = [&](const Ns3Cable& cable) {
        return !inside || (!read->nv_switches.contains(cable.from) && !read->nv_switches.contains(cable.to));
    };
    for (const Ns3Cable& cable : read->cables)
        if (outside(cable)) used.insert({cable.from, cable.to});
    Written platform(start);
    platform.set("name", "ns3");
    if (const std::string device = device_of_gpu(read->gpu); !device.empty()) {
        platform.set("device", device);
        findings.note(start, fmt::format("the device of {} is our {}", read->gpu, device));
    } else if (!read->gpu.empty()) {
        findings.note(start, fmt::format("left out: the GPU {}", read->gpu), "add `--set platform.device=h100-sxm`");
    }
    platform.set("nodes", inside ? gpus / read->server : gpus);
    if (inside && read->server > 1) {
        Written links(start);
        links.set("pattern", "switch").set("bandwidth", bandwidth_text(inside->bandwidth_Bps));
        links.set("latency", latency_text(inside->latency_s));
        Written node(start);
        node.set("devices", read->server).set("links", links.take()).set("nics", used.empty() ? 1 : read->server);
        platform.set("per_node", node.take());
    }
    if (used.empty()) {
        if (gpus > read->server) return findings.fail(start, "the servers have no links to each other");
        findings.note(start, "there is no network between servers; the platform's is not used");
        Written unused(start);
        unused.set("topology", "star").set("bandwidth", bandwidth_text(inside->bandwidth_Bps)).set("latency", "none");
        platform.set("fabric", unused.take());
    } else {
        for (const std::int64_t id : hosts) vertex[id] = list.add_host(fmt::format("host-{}", id));
        for (const std::int64_t id : used)
            if (!vertex.contains(id)) vertex[id] = list.add_switch(fmt::format("switch-{}", id));
        for (const std::int64_t id : hosts)
            if (!used.contains(id)) return findings.fail(start, fmt::format("node {} has no links", id));
        for (const Ns3Cable& cable : read->cables)
            if (outside(cable))
                list.add_cable(vertex.at(cable.from), vertex.at(cable.to), cable.bandwidth_Bps, cable.latency_s,
                               cable.mark);
        platform.set("fabric", list.fabric(start, findings));
    }
    imported.platform = platform.take();
}

}  // namespace syncline::config
