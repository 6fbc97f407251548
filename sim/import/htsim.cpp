#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string>

#include "sim/import/cable_list.hpp"
#include "sim/import/network_texts.hpp"
#include "sim/import/word_lines.hpp"
#include "sim/import/written.hpp"

/// Source: sim/datacenter/fat_tree_topology.cpp of Broadcom/csg-htsim. `Radix_…` count ports, so a bundle of b cables
/// takes b of them. A switch's latency counts half on each cable at it, so that every path pays it once.
namespace syncline::config {

namespace {

struct Tier {
    std::map<std::string, std::int64_t> values;

    std::int64_t get(const char* key, std::int64_t otherwise = 0) const {
        const auto found = values.find(key);
        return found == values.end() ? otherwise : found->second;
    }
};

std::string lowered(std::string_view text) {
    std::string word(text.substr(0, 40));
    std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return word;
}

struct HtsimTree {
    std::int64_t nodes = 0, tiers = 0, pod = 0;
    std::array<Tier, 3> tier;
};

class HtsimReader {
public:
    HtsimReader(const Mark& start, Findings& findings) : start_(start), findings_(findings) {}

    HtsimTree read() {
        WordLines lines(start_);
        for (std::vector<PlacedText> words = lines.next(); !words.empty(); words = lines.next()) take(words);
        if (sound()) require_all();
        return tree_;
    }
    bool sound() const { return findings_.errors.empty(); }

private:
    void take(const std::vector<PlacedText>& words) {
        const std::string key = lowered(words[0].text);
        constexpr std::string_view settings[] = {"downlink_speed_gbps", "radix_down",       "radix_up", "bundle",
                                                 "downlink_latency_ns", "switch_latency_ns"};
        const bool header = key == "nodes" || key == "tiers" || key == "podsize" || key == "tier";
        const bool known = std::ranges::find(settings, key) != std::end(settings);
        if (key == "queue_down" || key == "queue_up") {
            if (!queues_) findings_.note(words[0].mark, "left out: sizes of queues");
            queues_ = true;
            return;
        }
        if (key == "oversubscribed") return;  // follows from radices and speeds
        if (!header && !known) return findings_.note(words[0].mark, fmt::format("not understood: {}", key));
        if (words.size() < 2) return findings_.fail(words[0].mark, fmt::format("'{}' has no value", key));
        const bool zero = key == "tier" || key == "switch_latency_ns";
        const auto value = whole_of(words[1], key.c_str(), zero ? 0 : 1,
                                    key == "tiers"  ? 3
                                    : key == "tier" ? 2
                                                    : 1'000'000'000,
                                    findings_);
        if (!value) return;
        if (key == "nodes") tree_.nodes = *value;
        if (key == "tiers") tree_.tiers = *value;
        if (key == "podsize") tree_.pod = *value;
        if (key == "tier") tier_ = &tree_.tier[static_cast<std::size_t>(*value)];
        if (header) return;
        if (tier_ == nullptr) return findings_.fail(words[0].mark, fmt::format("'{}' is before the first 'Tier'", key));
        if (!tier_->values.emplace(key, *value).second)
            findings_.fail(words[0].mark, fmt::format("'{}' is given twice for this tier", key));
    }

    void require_all() {
        if (tree_.nodes == 0) findings_.fail(start_, "'Nodes' is missing");
        if (tree_.nodes > largest_given)
            findings_.fail(start_, fmt::format("there are more than {} nodes", largest_given));
        if (tree_.tiers < 2) findings_.fail(start_, "'Tiers' is not 2 or 3");
        if (tree_.pod == 0) findings_.fail(start_, "'Podsize' is missing");
        for (std::int64_t i = 0; sound() && i < tree_.tiers; ++i) {
            for (const char* key : {"downlink_speed_gbps", "radix_down", "radix_up", "downlink_latency_ns"}) {
                const bool top = i == tree_.tiers - 1 && std::string_view(key) == "radix_up";
                if (!top && tree_.tier[static_cast<std::size_t>(i)].get(key) == 0)
                    findings_.fail(start_, fmt::format("tier {} has no '{}'", i, key));
            }
        }
    }

    const Mark start_;
    Findings& findings_;
    HtsimTree tree_;
    Tier* tier_ = nullptr;
    bool queues_ = false;
};

}  // namespace

bool is_htsim(const ForeignFile& file) {
    WordLines lines(file.start);
    constexpr int header = 4;
    bool nodes = false, tiers = false;
    for (int i = 0; i < header; ++i) {
        const std::vector<PlacedText> words = lines.next();
        if (words.empty()) break;
        const std::string key = lowered(words[0].text);
        nodes = nodes || key == "nodes";
        tiers = tiers || key == "tiers";
    }
    return nodes && tiers;
}

void read_htsim(const ForeignFile& file, Imported& imported) {
    Findings& findings = imported.findings;
    HtsimReader reader(file.start, findings);
    const HtsimTree tree = reader.read();
    if (!reader.sound()) return;

    // From the hosts up, as in a parallel-ports generalised fat tree: what is below and above a vertex of each level.
    Node down = empty_at(file.start, Node::Kind::sequence), up = down, cables = down, bandwidths = down,
         latencies = down;
    const auto add = [&](Node& list, const std::string& text) { list.items.push_back(scalar_at(file.start, text)); };
    const auto whole = [&](std::int64_t a, std::int64_t b, const std::string& what) {
        if (a % b != 0) findings.fail(file.start, fmt::format("{}: {} is no multiple of {}", what, a, b));
        return a / b;
    };
    std::int64_t below = 1;  ///< hosts of a switch of the tier below
    for (std::int64_t i = 0; i < tree.tiers; ++i) {
        const Tier& tier = tree.tier[static_cast<std::size_t>(i)];
        const std::int64_t bundle = tier.get("bundle", 1);
        if (i == 0 && bundle != 1)
            findings.fail(file.start, "hosts have one cable", "`Bundle` applies to tiers 1 and 2");
        const std::int64_t children = whole(tier.get("radix_down"), bundle, fmt::format("'Radix_Down' of tier {}", i));
        const std::int64_t hosts = below * children;
        const std::int64_t expected = i == tree.tiers - 1 ? tree.nodes : i == 1 ? tree.pod : hosts;
        if (hosts != expected)
            findings.fail(
                file.start,
                fmt::format("this is no fat tree: a switch of tier {} reaches {} hosts of {}", i, hosts, expected),
                "each switch must reach all of its pod, and each core switch all pods");
        if (!findings.errors.empty()) return;
        below = hosts;
        add(down, std::to_string(children));
        add(cables, std::to_string(bundle));
        const Tier* const under = i > 0 ? &tree.tier[static_cast<std::size_t>(i - 1)] : nullptr;
        add(up, std::to_string(
                    under ? whole(under->get("radix_up"), bundle, fmt::format("'Radix_Up' of tier {}", i - 1)) : 1));
        const double switches =
            static_cast<double>(tier.get("switch_latency_ns") + (under ? under->get("switch_latency_ns") : 0));
        add(bandwidths, fmt::format("{} Gbps", tier.get("downlink_speed_gbps")));
        add(latencies, latency_text((static_cast<double>(tier.get("downlink_latency_ns")) + switches / 2) * 1e-9));
    }
    if (tree.tiers == 2 && tree.pod != tree.nodes) findings.note(file.start, "'Podsize' has no effect in two tiers");
    if (!findings.errors.empty()) return;
    Written fabric(file.start);
    fabric.set("topology", "fat-tree").set("down", std::move(down)).set("up", std::move(up));
    fabric.set("cables", std::move(cables))
        .set("bandwidth", std::move(bandwidths))
        .set("latency", std::move(latencies));
    const auto has_latency = [](const Tier& tier) { return tier.get("switch_latency_ns") > 0; };
    if (std::ranges::any_of(tree.tier, has_latency))
        findings.note(file.start, "latencies of switches are shared by their cables, half each");
    imported.platform =
        Written(file.start).set("name", "htsim").set("nodes", tree.nodes).set("fabric", fabric.take()).take();
}

}  // namespace syncline::config
