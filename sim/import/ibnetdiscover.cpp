#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "sim/base/number.hpp"
#include "sim/import/cable_list.hpp"
#include "sim/import/network_texts.hpp"
#include "sim/import/word_lines.hpp"
#include "sim/import/written.hpp"

/// Source: infiniband-diags/ibnetdiscover.c of linux-rdma/rdma-core. A block for each switch and adapter lists its
/// ports in use, so that each cable is there twice. After `#` come the description of the other end and the speed.
namespace syncline::config {

namespace {

/// A port of a switch or adapter: "S-0c42…[21]".
struct IbEnd {
    std::string guid, port;
};

/// A switch or adapter.
struct IbDevice {
    std::string name;    ///< of an adapter: its server's
    bool exists = true;  ///< no: a switch's own processor that reduces (SHARP)
    Mark mark;
};

struct IbCable {
    std::string from, to;
    double bandwidth_Bps;
    Mark mark;
};

/// Takes `"S-0c42…"[21]`, which more may follow; nothing if the word is something else.
std::optional<IbEnd> end_of(std::string_view word) {
    const std::size_t close = word.find("\"[");
    const std::size_t stop = word.find(']');
    const bool typed = word.starts_with("\"S-") || word.starts_with("\"H-");
    if (!typed || close == std::string_view::npos || stop == std::string_view::npos || stop < close)
        return std::nullopt;
    return IbEnd{std::string(word.substr(1, close - 1)), std::string(word.substr(close + 2, stop - close - 2))};
}

/// Returns the bandwidth of `4xHDR`, of data in one direction; 0 if it is something else.
double bandwidth_of(std::string_view word) {
    struct Lane {
        std::string_view name;
        double gigabits_per_s;
    };
    constexpr Lane lanes[] = {{"SDR", 2},  {"DDR", 4},  {"QDR", 8},   {"FDR", 13.625},
                              {"EDR", 25}, {"HDR", 50}, {"NDR", 100}, {"XDR", 200}};
    const std::size_t x = word.find('x');
    if (x == std::string_view::npos) return 0;
    const auto width = number_in<int>(word.substr(0, x));
    const auto* const lane = std::ranges::find(lanes, word.substr(x + 1), &Lane::name);
    constexpr int widest = 12;
    if (!width || *width < 1 || *width > widest || lane == std::end(lanes)) return 0;
    return *width * lane->gigabits_per_s * 1e9 / 8;
}

/// Returns "leaf1" of "MF0;leaf1:MQM8700/U1".
std::string switch_name(const std::string& description) {
    const std::size_t semicolon = description.find(';'), begin = semicolon == std::string::npos ? 0 : semicolon + 1;
    return description.substr(begin, description.find(':', begin) - begin);
}

class IbReader {
public:
    IbReader(const Mark& start, Findings& findings) : start_(start), findings_(findings) {}

    void read() {
        WordLines lines(start_, '\0');
        for (std::vector<PlacedText> words = lines.next(); !words.empty(); words = lines.next()) {
            const std::string_view first = words[0].text;
            if (first == "Switch" || first == "Ca")
                begin(words);
            else if (first.starts_with('['))
                take_port(words);
        }
    }

    std::map<std::string, IbDevice> devices;  ///< by GUID
    std::vector<IbCable> cables;

private:
    void begin(const std::vector<PlacedText>& words) {
        constexpr std::size_t guid = 2, description = 4;
        if (words.size() <= description || words[guid].text.size() < 4 || words[guid].text[0] != '"')
            return findings_.fail(words[0].mark, "this is no switch or adapter of ibnetdiscover",
                                  "`Switch 40 \"S-…\" # \"…\"`, `Ca 1 \"H-…\" # \"…\"`");
        own_ = std::string(words[guid].text.substr(1, words[guid].text.size() - 2));
        std::string name(words[description].text.substr(0, 200));
        std::erase(name, '"');
        IbDevice device{name, true, words[0].mark};
        if (words[0].text == "Switch") device.name = switch_name(name);
        device.exists = words.size() <= description + 2 || words[description + 2].text != "Aggregation";
        devices.insert_or_assign(own_, device);
    }

    void take_port(const std::vector<PlacedText>& words) {
        const std::string_view first = words[0].text;
        const auto remote = words.size() > 1 ? end_of(words[1].text) : std::nullopt;
        const std::size_t stop = first.find(']');
        if (own_.empty() || !remote || stop == std::string_view::npos)
            return findings_.fail(words[0].mark, "this is no port of a switch or adapter",
                                  "`[1] \"S-…\"[21] # \"…\" lid 4 4xHDR`");
        const double bandwidth = bandwidth_of(words.back().text);
        if (bandwidth == 0)
            return findings_.fail(words.back().mark, "the speed of a port is missing", "4xHDR, 4xNDR, …");
        const std::string here = own_ + '[' + std::string(first.substr(1, stop - 1)),
                          there = remote->guid + '[' + remote->port;
        if (seen_.insert(std::minmax(here, there)).second)
            cables.push_back({own_, remote->guid, bandwidth, words[0].mark});
    }

    const Mark start_;
    Findings& findings_;
    std::string own_;
    std::set<std::pair<std::string, std::string>> seen_;  ///< cables by their ends
};

}  // namespace

bool is_ibnetdiscover(const ForeignFile& file) {
    const std::string& text = file.text();
    return text.find("switchguid=") != std::string::npos || text.find("caguid=") != std::string::npos;
}

void read_ibnetdiscover(const ForeignFile& file, Imported& imported) {
    Findings& findings = imported.findings;
    IbReader reader(file.start, findings);
    reader.read();
    if (!findings.errors.empty()) return;
    std::map<std::string, std::vector<std::string>> adapters;  ///< by server
    std::size_t reducing = 0;
    for (const auto& [guid, device] : reader.devices) {
        if (!device.exists)
            ++reducing;
        else if (guid.starts_with("H-"))
            adapters[device.name].push_back(guid);
    }
    if (adapters.empty())
        return findings.fail(file.start, "there are no adapters of servers", "run ibnetdiscover on the whole network");
    const std::size_t most =
        std::ranges::max_element(adapters, {}, [](const auto& one) { return one.second.size(); })->second.size();
    const bool alike = std::ranges::all_of(adapters, [&](const auto& one) { return one.second.size() == most; });

    CableList list;
    std::map<std::string, CableList::Vertex> vertex;
    std::set<std::string> used;
    for (const IbCable& cable : reader.cables) used.insert({cable.from, cable.to});
    std::int64_t hosts = 0;
    for (const auto& [server, guids] : adapters)
        for (std::size_t i = 0; i < guids.size(); ++i) {
            if (!used.contains(guids[i]))
                return findings.fail(reader.devices.at(guids[i]).mark,
                                     fmt::format("an adapter of {} has no cable", server));
            vertex[guids[i]] = list.add_host(guids.size() > 1 ? fmt::format("{}-port-{}", server, i) : server);
            ++hosts;
        }
    std::map<std::string, int> called;
    for (const auto& [guid, device] : reader.devices) ++called[device.name];
    for (const auto& [guid, device] : reader.devices) {
        if (guid.starts_with("H-") || !used.contains(guid)) continue;
        vertex[guid] = list.add_switch(device.name.empty() || called[device.name] > 1 ? guid : device.name);
    }
    for (const IbCable& cable : reader.cables) {
        bool known = true;
        for (const std::string& end : {cable.from, cable.to}) {
            const auto device = reader.devices.find(end);
            if (device == reader.devices.end())
                return findings.fail(cable.mark, fmt::format("'{}' has no block of its own", end.substr(0, 40)));
            known = known && device->second.exists;
        }
        if (cable.from == cable.to) return findings.fail(cable.mark, "a cable leads back to its own switch or adapter");
        if (known) list.add_cable(vertex.at(cable.from), vertex.at(cable.to), cable.bandwidth_Bps, 0, cable.mark);
    }
    if (reducing > 0)
        findings.note(file.start, fmt::format("left out: {} switches that can reduce (SHARP)", reducing),
                      "`fabric.reduces: true` uses it");
    findings.note(file.start, "the file says nothing of latencies: cables have none",
                  "add `--set 'platform.fabric.latency=600 ns'`");
    Written platform(file.start);
    platform.set("name", "infiniband").set("nodes", alike ? static_cast<std::int64_t>(adapters.size()) : hosts);
    if (alike && most > 1)
        platform.set("per_node", Written(file.start).set("nics", static_cast<std::int64_t>(most)).take());
    if (!alike) findings.note(file.start, "servers have different numbers of adapters: each adapter is a node");
    imported.platform = platform.set("fabric", list.fabric(file.start, findings)).take();
}

}  // namespace syncline::config
