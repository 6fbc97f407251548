#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include "sim/base/number.hpp"
#include "sim/base/utf8.hpp"
#include "sim/base/xml_reader.hpp"
#include "sim/import/gpu_kinds.hpp"
#include "sim/import/machine_files.hpp"
#include "sim/import/node_parts.hpp"

namespace syncline::config {

namespace {

std::int64_t hexadecimal(std::string_view text) {
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number, 16);
    return number;
}

/// Removes the next word of a list.
std::string_view take_word(std::string_view& text) {
    constexpr std::string_view spaces = " \t\r\n";
    text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
    const std::string_view word = text.substr(0, text.find_first_of(spaces));
    text.remove_prefix(word.size());
    return word;
}

class LstopoReader : public XmlHandler {
public:
    LstopoReader(const Mark& start, Findings& findings) : start_(start), findings_(findings), parts_(start, findings) {}

    void open(const XmlTag& tag) override {
        const std::size_t parent = open_.empty() ? NodeParts::none : open_.back();
        NodeParts::Part part{.parent = parent, .mark = place(tag)};
        if (tag.name == "topology" && open_.empty()) {
            const std::string version = tag.attribute("version").value_or("1");
            if (!version.starts_with("2.") && !version.starts_with("3."))
                throw XmlError(tag.place, "this is not hwloc's format 2 or 3",
                               "`lstopo topology.xml` of hwloc 2 writes it");
        } else if (open_.empty()) {
            throw XmlError(tag.place, "this is not hwloc's topology: it has no <topology> element");
        } else if (tag.name == "object") {
            read_object(tag, part);
        } else if (tag.name == "distances2hetero" || tag.name == "distances2") {
            in_links_ = tag.attribute("name").value_or("") == "NVLinkBandwidth";
            links_place_ = part.mark;
        }
        const std::string number = tag.name == "object" ? tag.attribute("gp_index").value_or("") : "";
        open_.push_back(parts_.add(std::move(part)));
        if (!number.empty()) numbers_.emplace(number, open_.back());
    }

    void close(std::string_view name, std::string_view text) override {
        open_.pop_back();
        if (name == "distances2hetero" || name == "distances2") in_links_ = false;
        if (!in_links_) return;
        if (name == "indexes") take_ends(text);
        if (name == "u64values") take_values(text);
    }

    Machine finish() {
        if (parts_.gpus().empty()) {
            findings_.fail(start_, "the file has no GPUs", "lstopo writes them with `--whole-io`");
            return {};
        }
        std::vector<std::vector<std::int64_t>> direct = links();
        if (!findings_.errors.empty()) return {};
        Machine machine = parts_.machine();
        machine.nvlinks_known = !ends_.empty();
        if (unit_ > 0) machine.nvlink_GBps = unit_;
        parts_.set_links(machine, std::move(direct));
        return machine;
    }

private:
    Mark place(const XmlTag& tag) const {
        return {start_.source, static_cast<int>(tag.place.line), static_cast<int>(tag.place.column)};
    }

    void read_object(const XmlTag& tag, NodeParts::Part& part) {
        const std::string type = tag.attribute("type").value_or("");
        if (type == "Machine") part.kind = NodeParts::Kind::node;
        if (type == "Package" || type == "Group" || type == "Die") part.kind = NodeParts::Kind::numa;
        if (type == "Bridge") {
            part.kind = tag.attribute("bridge_type").value_or("").starts_with("0-") ? NodeParts::Kind::host_bridge
                                                                                    : NodeParts::Kind::bridge;
            read_slot(tag, part);
        }
        if (type == "PCIDev") add_device(tag, part);
        if (type == "OSDev") name_device(tag, part.parent);
    }

    static void read_slot(const XmlTag& tag, NodeParts::Part& part) {
        const auto speed = number_in<double>(tag.attribute("pci_link_speed").value_or(""));
        // NCCL counts 12 of the 15.75 GB/s of 16 lanes of generation 3, and so on.
        constexpr double most = 10'000, as_nccl_counts = 12 / 15.753846;
        if (speed && *speed > 0 && *speed < most) part.GBps = *speed * as_nccl_counts;
    }

    /// A device's type is "0302 [10de:2330] [10de:16c1] a1 00": class, vendor and product, those of the board.
    void add_device(const XmlTag& tag, NodeParts::Part& part) {
        const std::string type = tag.attribute("pci_type").value_or("");
        const std::size_t colon = type.find(':');
        part.kind = NodeParts::Kind::device;
        part.bus = printable(tag.attribute("pci_busid").value_or("").substr(0, 40));
        part.of = type.substr(0, 4);
        if (type.size() > 10 && colon == 10) {
            part.vendor = hexadecimal(std::string_view(type).substr(6, 4));
            part.product = hexadecimal(std::string_view(type).substr(11, 4));
        }
        read_slot(tag, part);
        const std::size_t index = next_part();
        const bool computes = part.of.starts_with("03") || part.of == "1200";
        if (computes && (part.vendor == nvidia_vendor || part.vendor == amd_vendor)) {
            drop_idle_rate(part);
            parts_.add(NodeParts::Gpu{.part = index, .mark = part.mark});
        } else if (part.of.starts_with("02")) {
            parts_.add(NodeParts::Nic{index, part.mark, part.bus, {}});
            nic_ = index;
        }
    }

    /// A GPU without work has the speed of generation 1.
    void drop_idle_rate(NodeParts::Part& part) {
        const GpuKind* const kind = gpu_kind(device_of_product(part.vendor, part.product));
        constexpr double idle = 4;
        if (!part.GBps || *part.GBps >= idle || kind == nullptr) return;
        parts_.note_once(part.mark, "left out: the speed of a GPU's PCIe slot, which is that of an idle GPU");
        part.GBps = std::nullopt;
    }

    /// Takes the name of a port: mlx5_0.
    void name_device(const XmlTag& tag, std::size_t parent) {
        const std::string type = tag.attribute("osdev_type").value_or("");
        const bool open_fabrics = type == "3" || type == "32";
        if (parent == nic_ && open_fabrics)
            parts_.rename_last_nic(printable(tag.attribute("name").value_or("").substr(0, 40)));
    }

    /// Returns the index of the element that is being opened.
    std::size_t next_part() const { return parts_.size(); }

    void take_ends(std::string_view text) {
        while (true) {
            const std::string_view word = take_word(text);
            if (word.empty()) return;
            constexpr std::size_t most = 600;
            if (ends_.size() >= most) throw ConfigError({{locate(links_place_), "there are too many NVLinks", ""}});
            ends_.emplace_back(word.substr(word.find(':') + 1));
        }
    }

    void take_values(std::string_view text) {
        while (true) {
            const std::string_view word = take_word(text);
            if (word.empty()) return;
            const auto value = number_in<std::uint64_t>(word);
            constexpr std::uint64_t most = 1'000'000'000;
            if (!value || *value > most || values_.size() >= ends_.size() * ends_.size())
                throw ConfigError(
                    {{locate(links_place_),
                      fmt::format("'{}' is no bandwidth here, in MB/s", printable(word.substr(0, 40))), ""}});
            values_.push_back(static_cast<double>(*value) / 1000);
        }
    }

    /// Returns the number of the GPU of a link's end, or -1 for a switch.
    std::int64_t gpu_of(const std::string& end) {
        const auto found = numbers_.find(end);
        std::size_t part = found == numbers_.end() ? NodeParts::none : found->second;
        while (part != NodeParts::none && parts_.part(part).kind == NodeParts::Kind::other)
            part = parts_.part(part).parent;
        const auto& gpus = parts_.gpus();
        for (std::size_t i = 0; i < gpus.size(); ++i)
            if (gpus[i].part == part) return static_cast<std::int64_t>(i);
        return -1;
    }

    /// Returns the links between GPUs, in links of the GPU's kind or of the narrowest, and counts those to switches.
    std::vector<std::vector<std::int64_t>> links() {
        const std::size_t count = parts_.gpus().size(), ends = ends_.size();
        std::vector<std::vector<std::int64_t>> direct(count, std::vector<std::int64_t>(count));
        if (values_.size() != ends * ends) {
            findings_.fail(links_place_,
                           fmt::format("{} NVLinks' bandwidths are not {} times {}", values_.size(), ends, ends));
            return direct;
        }
        std::vector<std::int64_t> gpu;
        for (const std::string& end : ends_) gpu.push_back(gpu_of(end));
        // A pair's value counts once; that of a device with itself is a placeholder.
        const auto each = [&](const auto& act) {
            for (std::size_t i = 0; i < ends; ++i)
                for (std::size_t j = 0; j < ends; ++j)
                    if (gpu[i] >= 0 && gpu[i] != gpu[j] && values_[i * ends + j] > 0)
                        act(gpu[i], gpu[j], values_[i * ends + j]);
        };
        const NodeParts::Part& first = parts_.part(parts_.gpus().front().part);
        const GpuKind* const kind = gpu_kind(device_of_product(first.vendor, first.product));
        const auto links_in = [&](double GBps) { return std::round(GBps / unit_); };
        bool whole = kind && kind->nvlink_GBps > 0;
        unit_ = whole ? kind->nvlink_GBps : 0;
        each([&](std::int64_t, std::int64_t, double GBps) {
            whole = whole && std::abs(GBps / unit_ - links_in(GBps)) < 0.05;
        });
        if (!whole) {
            unit_ = 0;
            each([&](std::int64_t, std::int64_t, double GBps) { unit_ = unit_ > 0 ? std::min(unit_, GBps) : GBps; });
        }
        each([&](std::int64_t from, std::int64_t to, double GBps) {
            const double links = links_in(GBps);
            if (std::abs(GBps / unit_ - links) > 0.05)
                parts_.note_once(links_place_,
                                 fmt::format("bandwidths of NVLinks are rounded to multiples of {:.6g} GBps", unit_));
            (to >= 0 ? direct[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)]
                     : parts_.gpus()[static_cast<std::size_t>(from)].switched) += static_cast<std::int64_t>(links);
        });
        return direct;
    }

    const Mark start_;
    Findings& findings_;
    NodeParts parts_;
    std::vector<std::size_t> open_;               ///< elements
    std::map<std::string, std::size_t> numbers_;  ///< of elements, by `gp_index`
    std::size_t nic_ = NodeParts::none;           ///< the last port
    bool in_links_ = false;
    Mark links_place_;
    std::vector<std::string> ends_;  ///< of NVLinks, by `gp_index`
    std::vector<double> values_;     ///< bandwidths between each two of them, in GB/s
    double unit_ = 0;                ///< of a link
};

}  // namespace

bool is_lstopo(const ForeignFile& file) {
    return first_element(file.text()) == "topology";
}

void read_lstopo(const ForeignFile& file, Imported& imported) {
    read_machine<LstopoReader>(file, imported);
}

}  // namespace syncline::config
