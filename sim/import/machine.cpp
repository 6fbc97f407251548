#include "sim/import/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <utility>

#include "sim/import/gpu_kinds.hpp"
#include "sim/import/transformer_file.hpp"

namespace syncline::config {

namespace {

const Node* inside(const Node& node, std::initializer_list<const char*> path) {
    const Node* at = &node;
    for (const char* key : path)
        if (at) at = at->find(key);
    return at;
}

std::string gigabytes(double GBps) {
    return fmt::format("{:.6g} GBps", GBps);
}

/// One machine on the way to the keys of a platform.
class NodeWriter {
public:
    NodeWriter(const Machine& machine, const Node& given, const std::string& device, Findings& findings)
        : machine_(machine),
          given_(given),
          device_(device),
          kind_(gpu_kind(device)),
          findings_(findings),
          count_(machine.gpus.size()) {}

    Node write() {
        Written node(machine_.mark);
        node.set("devices", static_cast<std::int64_t>(count_));
        if (count_ > 1 && !given({"per_node", "links", "pattern"})) {
            Node links = links_of();
            if (!links.entries.empty()) node.set("links", std::move(links));
        }
        add_ports(node);
        Written platform(machine_.mark);
        if (!given({"fabric"}) && !rate_) platform.set("nodes", std::int64_t{1});
        platform.set("per_node", node.take());
        add_fabric(platform);
        if (!transport_.empty()) platform.set("transport", transport_);
        return platform.take();
    }

private:
    bool given(std::initializer_list<const char*> path) const { return inside(given_, path) != nullptr; }
    void note(const std::string& message, const std::string& hint = "") {
        findings_.note(machine_.mark, message, hint);
    }

    // Links -----------------------------------------------------------------------------------------------------------

    std::int64_t links_between(std::size_t a, std::size_t b) const { return machine_.nvlinks[a][b]; }
    std::int64_t sum_of(std::size_t gpu) const {
        return std::accumulate(machine_.nvlinks[gpu].begin(), machine_.nvlinks[gpu].end(), std::int64_t{0});
    }

    /// Returns whether each two GPUs have as many links.
    bool is_even() const {
        for (std::size_t a = 0; a < count_; ++a)
            for (std::size_t b = 0; b < count_; ++b)
                if (a != b && links_between(a, b) != links_between(0, 1)) return false;
        return true;
    }

    /// Returns the links of a GPU to switches; 0 if there is none. A matrix has this number in all cells, whose sum is
    /// then more than a GPU has.
    std::int64_t to_switches() {
        if (machine_.switched) return *machine_.switched;
        constexpr std::int64_t most_of_all = 18;
        const std::int64_t most = kind_ ? kind_->nvlinks : most_of_all;
        for (std::size_t a = 0; a < count_; ++a) {
            const auto row = std::max_element(machine_.nvlinks[a].begin(), machine_.nvlinks[a].end());
            const std::int64_t sum = sum_of(a);
            if (*row <= most && (sum <= most || is_even())) continue;
            findings_.fail(machine_.gpus[a].mark,
                           fmt::format("{} has {} NVLinks here, and {} has {}", machine_.gpus[a].name,
                                       *row > most ? *row : sum, kind_ ? "'" + device_ + "'" : "a GPU", most),
                           *row > most ? "`--set platform.device=…` names the device"
                                       : "with a switch all cells have the same number");
            return 0;
        }
        if (!is_even() || sum_of(0) <= most) return 0;
        return links_between(0, 1);
    }

    /// Sets the bandwidth of `links` NVLinks together, unless it is given.
    void set_nvlinks(Written& written, std::int64_t links, const char* of) {
        if (given({"per_node", "links", "bandwidth"})) return;
        const double each = machine_.nvlink_GBps ? *machine_.nvlink_GBps : kind_ ? kind_->nvlink_GBps : 0;
        if (each <= 0) {
            findings_.fail(machine_.mark,
                           device_.empty()
                               ? "the file does not say which GPU this is, and so not how fast its links are"
                               : fmt::format("it is not known how fast an NVLink of '{}' is", device_),
                           fmt::format("`--set platform.per_node.links.bandwidth=…`, {}, in each direction", of));
            return;
        }
        written.set("bandwidth", gigabytes(each * static_cast<double>(links)));
        note(fmt::format("each link of a GPU has {} in each direction", gigabytes(each)));
    }

    void set_pcie(Written& written, std::initializer_list<const char*> key, bool chosen_latency) {
        if (!given(key)) {
            const double rate = machine_.pcie_GBps ? *machine_.pcie_GBps : kind_ ? kind_->pcie_GBps : 0;
            if (rate > 0) {
                written.set("bandwidth", gigabytes(rate));
                note(fmt::format("PCIe has {}, as NCCL counts it{}", gigabytes(rate),
                                 machine_.pcie_GBps ? "" : " for 16 lanes of the GPU's generation"));
            } else {
                findings_.fail(
                    machine_.mark, "it is not known how fast PCIe is",
                    fmt::format("`--set platform.{}='12 GBps'` for 16 lanes of PCIe 3", fmt::join(key, ".")));
            }
        }
        written.set("latency", chosen_latency ? "500 ns" : "none");
    }

    /// Returns the first GPU of those with which each shares PCIe switches, directly or by others and by ports.
    std::vector<std::size_t> switches() const {
        std::vector<std::size_t> group(count_);
        std::iota(group.begin(), group.end(), std::size_t{0});
        const auto join = [&](std::size_t a, std::size_t b) {
            const auto [to, from] = std::minmax({group[a], group[b]});
            for (std::size_t& each : group)
                if (each == from) each = to;
        };
        for (std::size_t a = 0; a < count_; ++a)
            for (std::size_t b = 0; b < a; ++b)
                if (machine_.paths[a][b] <= Nearness::pxb) join(a, b);
        for (const Machine::Nic& nic : machine_.nics) {
            std::optional<std::size_t> first;
            for (std::size_t a = 0; a < count_; ++a) {
                if (nic.to[a] > Nearness::pxb) continue;
                if (first) join(*first, a);
                first = a;
            }
        }
        return group;
    }

    void set_switches(Written& links) {
        const std::vector<std::size_t> group = switches();
        const auto size = static_cast<std::size_t>(std::count(group.begin(), group.end(), group.front()));
        bool even = true;
        for (std::size_t a = 0; a < count_; ++a) even = even && group[a] == a / size * size;
        links.set("devices_per_switch", static_cast<std::int64_t>(even ? size : 1));
        if (!even)
            note("PCIe switches have different numbers of GPUs; each GPU is written as if it had its own",
                 "`--set platform.per_node.links.devices_per_switch=2`");
        bool sockets = false;
        for (const auto& row : machine_.paths)
            sockets = sockets || std::find(row.begin(), row.end(), Nearness::sys) != row.end();
        if (sockets) note("left out: the link between sockets; all PCIe switches are below one host bridge");
    }

    /// Returns whether software has latencies of its own, so that links need none.
    bool has_transport() const { return !transport_.empty() || given({"transport"}); }

    void choose_transport() {
        if (given({"transport"}) || kind_ == nullptr || kind_->transport.empty()) return;
        transport_ = kind_->transport;
        note(fmt::format("the transport is chosen for the device: '{}'", transport_),
             "`--set platform.transport=…`; `syncline list transports`");
    }

    Node links_of() {
        Written links(machine_.mark);
        if (!machine_.nvlinks_known && (kind_ == nullptr || kind_->nvlinks > 0)) {
            findings_.fail(machine_.mark, "the file says nothing of NVLinks",
                           "let NCCL_TOPO_DUMP_FILE or an lstopo that knows NVML write one, or `--set "
                           "platform.per_node.links='{pattern: switch, "
                           "bandwidth: 450 GBps, latency: none}'`");
            return links.take();
        }
        const std::int64_t own = to_switches();
        if (!findings_.errors.empty()) return links.take();
        if (own > 0) {
            choose_transport();
            links.set("pattern", "switch");
            set_nvlinks(links, own, "of all links of a GPU together");
            set_nvlink_latency(links);
            if (kind_ && kind_->switch_reduces && !given({"per_node", "links", "reduces"})) {
                links.set("reduces", true);
                note("the switches are taken to add up data (NVLS), as those of this GPU can",
                     "`--set platform.per_node.links.reduces=false`");
            }
            if (kind_ && own < kind_->nvlinks)
                note(fmt::format("a GPU has {} NVLinks here, of {} that '{}' may have", own, kind_->nvlinks, device_));
            if (kind_ && kind_->word.starts_with("gb") && count_ < 72 && !given({"per_node", "devices"}))
                note("one tray of a rack is written; NVLink joins the GPUs of all trays",
                     "`--set platform.per_node.devices=72`");
            return links.take();
        }
        if (is_even() && links_between(0, 1) > 0) {
            choose_transport();
            links.set("pattern", "all-to-all");
            set_nvlinks(links, links_between(0, 1), "of all links of a pair together");
            set_nvlink_latency(links);
            return links.take();
        }
        std::vector<std::string> pairs;
        for (std::size_t a = 0; a < count_; ++a)
            for (std::size_t b = a + 1; b < count_; ++b) {
                const std::int64_t width = links_between(a, b);
                if (width > 0)
                    pairs.push_back(width == 1 ? fmt::format("{}-{}", a, b) : fmt::format("{}-{}x{}", a, b, width));
            }
        if (pairs.empty()) {
            links.set("pattern", "pcie");
            set_pcie(links, {"per_node", "links", "bandwidth"}, !has_transport());
            set_switches(links);
            if (!machine_.switched && kind_ && kind_->nvlinks > 0)
                note(fmt::format("the file has no NVLinks, and '{}' may have {}", device_, kind_->nvlinks),
                     "`nvidia-smi topo -m` shows them, `-mp` does not");
        } else {
            links.set("pattern", "mesh");
            Node list = empty_at(machine_.mark, Node::Kind::sequence);
            for (std::string& pair : pairs) list.items.push_back(scalar_at(machine_.mark, std::move(pair)));
            links.set("pairs", std::move(list));
            set_nvlinks(links, 1, "of one link");
            set_nvlink_latency(links);
            Written pcie(machine_.mark);
            set_pcie(pcie, {"per_node", "links", "pcie", "bandwidth"}, !has_transport());
            links.set("pcie", pcie.take());
            set_switches(links);
        }
        if (!has_transport())
            note("latencies of links are chosen, and there is no transport: software adds nothing to them",
                 "`--set platform.transport=…`; `syncline list transports`");
        return links.take();
    }

    void set_nvlink_latency(Written& links) { links.set("latency", has_transport() ? "none" : "700 ns"); }

    // Ports -----------------------------------------------------------------------------------------------------------

    /// Returns the ports that are nearest to a GPU. Of several equally far ones, those beside other GPUs come first:
    /// the rest is for storage and management.
    std::vector<std::size_t> nearest(std::size_t gpu) const {
        std::vector<std::size_t> found;
        for (const bool beside : {true, false}) {
            Nearness least = Nearness::unknown;
            for (const Machine::Nic& nic : machine_.nics) least = std::min(least, nic.to[gpu]);
            for (std::size_t i = 0; i < machine_.nics.size(); ++i) {
                const auto& to = machine_.nics[i].to;
                const bool near = *std::min_element(to.begin(), to.end()) <= Nearness::pxb;
                if (to[gpu] == least && (near || !beside)) found.push_back(i);
            }
            if (!found.empty()) break;
        }
        return found;
    }

    /// Returns for each GPU the port that it uses: of the nearest ones one that few others use.
    std::vector<std::size_t> assign() {
        std::vector<std::size_t> users(machine_.nics.size()), chosen(count_);
        for (const bool single : {true, false})
            for (std::size_t gpu = 0; gpu < count_; ++gpu) {
                const std::vector<std::size_t> near = nearest(gpu);
                if ((near.size() == 1) != single) continue;
                chosen[gpu] = *std::min_element(near.begin(), near.end(),
                                                [&](std::size_t a, std::size_t b) { return users[a] < users[b]; });
                ++users[chosen[gpu]];
            }
        return chosen;
    }

    void leave_out(const std::vector<std::size_t>& nics, const char* because) {
        std::vector<std::string> names;
        for (const std::size_t i : nics) names.push_back(machine_.nics[i].name);
        findings_.note(machine_.nics[nics.front()].mark,
                       fmt::format("left out: {}, {}", fmt::join(names, ", "), because));
    }

    void add_ports(Written& node) {
        if (given({"per_node", "nics"})) return note("the file's NICs are left out, since `per_node.nics` is given");
        if (machine_.nics.empty())
            return note("the file has no NICs; a node gets one port", "`--set platform.per_node.nics=8`");
        const std::vector<std::size_t> chosen = assign();
        std::vector<std::size_t> used = chosen;
        std::sort(used.begin(), used.end());
        used.erase(std::unique(used.begin(), used.end()), used.end());
        // NICs as near to the same GPUs as those in use work together with them.
        std::vector<std::size_t> spare, far;
        for (std::size_t i = 0; i < machine_.nics.size(); ++i) {
            if (std::binary_search(used.begin(), used.end(), i)) continue;
            const auto& to = machine_.nics[i].to;
            const bool partner =
                std::any_of(used.begin(), used.end(), [&](std::size_t other) { return machine_.nics[other].to == to; });
            if (partner && *std::min_element(to.begin(), to.end()) <= Nearness::pxb)
                spare.push_back(i);
            else
                far.push_back(i);
        }
        if (!far.empty()) leave_out(far, "nearest to no GPU");
        std::int64_t together = 1;
        if (!spare.empty() && spare.size() % used.size() == 0) {
            together = static_cast<std::int64_t>(spare.size() / used.size()) + 1;
            note(fmt::format("each port stands for {} NICs at the same GPUs", together));
        } else if (!spare.empty()) {
            leave_out(spare, "since a GPU uses one port");
        }
        node.set("nics", static_cast<std::int64_t>(used.size()));
        Node affinity = empty_at(machine_.mark, Node::Kind::sequence);
        bool usual = true;
        for (std::size_t gpu = 0; gpu < count_; ++gpu) {
            const auto port =
                static_cast<std::size_t>(std::lower_bound(used.begin(), used.end(), chosen[gpu]) - used.begin());
            usual = usual && port == gpu * used.size() / count_;
            affinity.items.push_back(scalar_at(machine_.mark, std::to_string(port)));
        }
        if (!usual) node.set("affinity", std::move(affinity));
        add_rate(node, used, together);
    }

    /// Sets the bandwidth of the ports, and a link to them if their slots are narrower.
    void add_rate(Written& node, const std::vector<std::size_t>& used, std::int64_t together) {
        std::optional<double> least, most, slot;
        for (const std::size_t i : used) {
            const Machine::Nic& nic = machine_.nics[i];
            if (!nic.GBps) return;
            least = std::min(least.value_or(*nic.GBps), *nic.GBps);
            most = std::max(most.value_or(*nic.GBps), *nic.GBps);
            if (nic.slot_GBps) slot = std::min(slot.value_or(*nic.slot_GBps), *nic.slot_GBps);
        }
        if (*least < *most)
            note(
                fmt::format("ports have {:.6g} to {:.6g} Gbps; all are written with the least", *least * 8, *most * 8));
        rate_ = *least * static_cast<double>(together);
        // A slot carries 15.75 GB/s of the 12 that NCCL counts.
        constexpr double slot_rate = 15.753846 / 12;
        if (!slot || *slot * slot_rate >= *least || given({"per_node", "nic_link"})) return;
        node.set("nic_link",
                 Written(machine_.mark).set("bandwidth", gigabytes(*slot * static_cast<double>(together))).take());
        note(fmt::format("slots of ports are narrower than the ports: {}, as NCCL counts it", gigabytes(*slot)),
             "a virtual machine may show the wrong speed: `--set platform.per_node.nic_link=~`");
    }

    void add_fabric(Written& platform) {
        if (given({"fabric"})) {
            if (rate_) note(fmt::format("left out: the ports' {:.6g} Gbps, since the fabric is given", *rate_ * 8));
            return;
        }
        if (!rate_)
            return note("the file says nothing of a network, so this is one node",
                        "`--set platform.fabric='{topology: star, bandwidth: 400 Gbps, latency: 1 us}'` for as many as "
                        "needed");
        platform.set("fabric", Written(machine_.mark)
                                   .set("topology", "star")
                                   .set("bandwidth", fmt::format("{:.6g} Gbps", *rate_ * 8))
                                   .set("latency", "1 us")
                                   .take());
        note("the network is chosen: one switch of 1 us for each cable, with the rate of the ports",
             "`--set platform.fabric=…`; `syncline list topologies`");
    }

    const Machine& machine_;
    const Node& given_;
    const std::string& device_;
    const GpuKind* kind_;
    Findings& findings_;
    const std::size_t count_;
    std::string transport_;
    std::optional<double> rate_;  ///< of a port, in GB/s
};

}  // namespace

Node machine_keys(const Machine& machine, const Node& given, const std::string& device, Findings& findings) {
    return NodeWriter(machine, given, device, findings).write();
}

}  // namespace syncline::config
