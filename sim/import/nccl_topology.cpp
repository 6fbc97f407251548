#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "sim/base/number.hpp"
#include "sim/base/utf8.hpp"
#include "sim/base/xml_reader.hpp"
#include "sim/import/machine_files.hpp"
#include "sim/import/node_parts.hpp"

namespace syncline::config {

namespace {

/// Returns the number that a text is: decimal, or hexadecimal after `0x`.
std::optional<std::int64_t> number_of(std::string_view text) {
    if (!text.starts_with("0x")) return number_in<std::int64_t>(text);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), number, 16);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// Returns the bandwidth of a PCIe slot in GB/s as NCCL counts it: `16.0 GT/s PCIe` and 16 lanes have 24. Nothing if
/// the speed is unknown, which it is in virtual machines.
std::optional<double> slot_rate(std::string_view speed, std::string_view width) {
    const auto transfers = number_in<double>(speed.substr(0, speed.find(' ')));
    if (!transfers || *transfers < 1 || *transfers > 1000) return std::nullopt;
    std::int64_t lanes = number_of(width).value_or(0);
    if (lanes <= 0 || lanes > 32) lanes = 16;  // src/graph/topo.cc: no width means 16
    // 60 of 100 Mbit/s per lane at 8 GT/s; generation 1 and 2 lose more to their encoding, and NCCL ignores it.
    return *transfers / 8 * 6 * static_cast<double>(lanes) / 8;
}

/// Depth 0 is <system>; a <cpu> is a NUMA domain, whose devices NCCL takes to be below one host bridge.
class NcclReader : public XmlHandler {
public:
    NcclReader(const Mark& start, Findings& findings) : start_(start), findings_(findings), parts_(start, findings) {}

    void open(const XmlTag& tag) override {
        const std::string_view name = tag.name;
        const std::size_t parent = open_.empty() ? NodeParts::none : open_.back();
        if (open_.empty() && name != "system")
            throw XmlError(tag.place, "this is not NCCL's topology: it has no <system> element");
        NodeParts::Part part{.parent = parent, .mark = place(tag)};
        if (name == "system") {
            part.kind = NodeParts::Kind::node;
        } else if (name == "cpu") {
            part.kind = NodeParts::Kind::host_bridge;
            hosts_.insert(tag.attribute("host_hash").value_or(""));
        } else if (name == "pci") {
            read_pci(tag, part);
        } else if (name == "gpu") {
            add_gpu(tag, parent);
        } else if (name == "nvlink" || name == "xgmi") {
            add_link(tag);
        } else if (name == "net") {
            add_net(tag, parent);
        } else if (!is_known(name)) {
            parts_.note_once(part.mark, fmt::format("not understood: <{}>", printable(name.substr(0, 40))));
        }
        open_.push_back(parts_.add(std::move(part)));
        if (name == "gpu") gpu_depth_ = open_.size();
    }

    void close(std::string_view name, std::string_view) override {
        const std::size_t index = open_.back();
        open_.pop_back();
        if (name == "gpu") gpu_depth_ = 0;
        const NodeParts::Part& part = parts_.part(index);
        // A file for NCCL_TOPO_FILE leaves the rest to NCCL, which asks the driver.
        if (name != "pci" || part.used) return;
        if (part.of.starts_with("0x03") || part.of == "0x120000") {
            parts_.add(NodeParts::Gpu{.part = index, .mark = part.mark});
            links_.emplace_back();
            bare_ = true;
        } else if (part.of.starts_with("0x02")) {
            parts_.add(NodeParts::Nic{index, part.mark, part.bus, {}});
        }
    }

    Machine finish() {
        if (parts_.gpus().empty()) {
            findings_.fail(start_, "the file has no GPUs", "NCCL_TOPO_DUMP_FILE names a file for NCCL to write");
            return {};
        }
        if (hosts_.size() > 1)
            findings_.note(start_, fmt::format("{} hosts are one node, since NVLink joins their GPUs", hosts_.size()));
        const std::vector<NodeParts::Gpu> in_file = parts_.gpus();
        count_switched();
        parts_.sort_gpus();
        Machine machine = parts_.machine();
        machine.nvlinks_known = !bare_;
        parts_.set_links(machine, direct_links(in_file));
        return machine;
    }

private:
    struct Link {
        std::string target;
        bool to_switch = false;
        std::int64_t count = 0;
        Mark mark;
    };

    Mark place(const XmlTag& tag) const {
        return {start_.source, static_cast<int>(tag.place.line), static_cast<int>(tag.place.column)};
    }

    static bool is_known(std::string_view name) {
        constexpr std::string_view names[] = {"nic", "gin", "rma", "pcilink", "c2c"};
        return std::find(std::begin(names), std::end(names), name) != std::end(names);
    }

    std::int64_t number(const XmlTag& tag, const char* name, std::int64_t otherwise, std::int64_t most) const {
        const auto text = tag.attribute(name);
        if (!text || text->empty()) return otherwise;
        const auto given = number_of(*text);
        if (!given || *given > most || *given < -1)
            throw XmlError(tag.place, fmt::format("'{}' is '{}', not a number up to {}", name,
                                                  printable(text->substr(0, 40)), most));
        return *given;
    }

    void read_pci(const XmlTag& tag, NodeParts::Part& part) const {
        part.bus = printable(tag.attribute("busid").value_or("").substr(0, 40));
        part.of = tag.attribute("class").value_or("");
        const bool device = part.of.starts_with("0x02") || part.of.starts_with("0x03") || part.of == "0x120000";
        part.kind = device ? NodeParts::Kind::device : NodeParts::Kind::bridge;
        part.vendor = number(tag, "vendor", 0, 0xffff);
        part.product = number(tag, "device", 0, 0xffff);
        part.GBps = slot_rate(tag.attribute("link_speed").value_or(""), tag.attribute("link_width").value_or(""));
    }

    void add_gpu(const XmlTag& tag, std::size_t parent) {
        constexpr std::int64_t most = 1 << 20;
        NodeParts::Gpu gpu{.part = parent, .mark = place(tag)};
        gpu.rank = number(tag, "rank", -1, most);
        gpu.number = number(tag, "dev", -1, most);
        // RCCL counts AMD's compute units here.
        if (!tag.attribute("gcn")) gpu.capability = number(tag, "sm", 0, 1000);
        parts_.add(gpu);
        links_.emplace_back();
        parts_.part(parent).used = true;
    }

    void add_link(const XmlTag& tag) {
        if (open_.size() != gpu_depth_) throw XmlError(tag.place, fmt::format("<{}> is not in a <gpu>", tag.name));
        const std::string of = tag.attribute("tclass").value_or("");
        if (of == "0x068001") return parts_.note_once(place(tag), "left out: NVLinks to a processor");
        const std::int64_t count = number(tag, "count", 1, 1000);
        if (count < 1) throw XmlError(tag.place, "'count' must be at least 1");
        links_.back().push_back({tag.attribute("target").value_or(""), of.starts_with("0x0680"), count, place(tag)});
    }

    void add_net(const XmlTag& tag, std::size_t parent) {
        // The slot of a port, or the domain of a port without one.
        std::size_t part = parent;
        while (part != NodeParts::none && parts_.part(part).kind == NodeParts::Kind::other)
            part = parts_.part(part).parent;
        if (part != NodeParts::none) parts_.part(part).used = true;
        if (number(tag, "keep", 1, 1000) == 0 || number(tag, "net", 1, 1000) == 0) return;
        const Mark mark = place(tag);
        constexpr std::int64_t most = std::int64_t{1} << 40, most_Mbps = 10'000'000;
        std::int64_t Mbps = number(tag, "speed", 0, most);
        if (Mbps > most_Mbps) Mbps = 0;  // RCCL writes 200000000 for Slingshot's 200 Gb/s
        if (Mbps <= 0) parts_.note_once(mark, "the file does not say how fast a NIC is");
        if (tag.attribute("gdr") == "0")
            parts_.note_once(mark, "left out: copies to the host for a NIC without GPUDirect RDMA (gdr)");
        parts_.add(NodeParts::Nic{part, mark, printable(tag.attribute("name").value_or("a NIC").substr(0, 40)),
                                  Mbps > 0 ? std::optional(static_cast<double>(Mbps) / 8000) : std::nullopt});
    }

    /// Counts links to switches. What neither is a GPU nor says that it is a switch is left out.
    void count_switched() {
        for (std::size_t i = 0; i < links_.size(); ++i) numbers_.emplace(parts_.part(parts_.gpus()[i].part).bus, i);
        for (std::size_t i = 0; i < links_.size(); ++i)
            for (const Link& link : links_[i]) {
                if (numbers_.count(link.target) > 0) continue;
                if (link.to_switch)
                    parts_.gpus()[i].switched += link.count;
                else
                    parts_.note_once(link.mark, "left out: NVLinks to what is no part of this file");
            }
    }

    /// Returns the links between GPUs, which have been put into another order than in the file.
    std::vector<std::vector<std::int64_t>> direct_links(const std::vector<NodeParts::Gpu>& in_file) {
        const std::size_t count = in_file.size();
        std::map<std::size_t, std::size_t> place_of;  // by the first element of a GPU
        std::vector<std::vector<std::int64_t>> direct(count, std::vector<std::int64_t>(count));
        for (std::size_t i = 0; i < count; ++i) place_of.emplace(parts_.gpus()[i].part, i);
        for (std::size_t i = 0; i < count; ++i)
            for (const Link& link : links_[i]) {
                const auto target = numbers_.find(link.target);
                if (target == numbers_.end()) continue;
                const std::size_t from = place_of.at(in_file[i].part), to = place_of.at(in_file[target->second].part);
                if (from != to) direct[from][to] += link.count;
            }
        return direct;
    }

    const Mark start_;
    Findings& findings_;
    NodeParts parts_;
    std::vector<std::size_t> open_;               ///< elements
    std::vector<std::vector<Link>> links_;        ///< of each GPU, in the order of the file
    std::map<std::string, std::size_t> numbers_;  ///< of GPUs, by their PCI numbers, in the order of the file
    std::set<std::string> hosts_;
    std::size_t gpu_depth_ = 0;  ///< of the open GPU
    bool bare_ = false;          ///< a GPU is only a PCI device
};

}  // namespace

bool is_nccl_topology(const ForeignFile& file) {
    return first_element(file.text()) == "system";
}

void read_nccl_topology(const ForeignFile& file, Imported& imported) {
    read_machine<NcclReader>(file, imported);
}

}  // namespace syncline::config
