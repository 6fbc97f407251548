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
#include "sim/import/gpu_kinds.hpp"
#include "sim/import/machine_files.hpp"

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

class NcclReader : public XmlHandler {
public:
    NcclReader(const Mark& start, Findings& findings) : start_(start), findings_(findings) {}

    void open(const XmlTag& tag) override {
        const Mark mark = place(tag);
        const std::string_view name = tag.name;
        const std::size_t parent = open_.empty() ? none : open_.back();
        if (open_.empty() && name != "system")
            throw XmlError(tag.place, "this is not NCCL's topology: it has no <system> element");
        if (parts_.size() >= most_parts)
            throw XmlError(tag.place, "there are too many elements", "the maximum is 20000");
        parts_.push_back({std::string(name), parent, mark});
        open_.push_back(parts_.size() - 1);
        Part& part = parts_.back();
        if (name == "cpu") {
            hosts_.insert(tag.attribute("host_hash").value_or(""));
        } else if (name == "pci") {
            read_pci(tag, part);
        } else if (name == "gpu") {
            add_gpu(tag, parent);
        } else if (name == "nvlink" || name == "xgmi") {
            add_nvlink(tag);
        } else if (name == "net") {
            add_net(tag, mark);
        } else if (!is_known(name)) {
            note_once(mark, fmt::format("not understood: <{}>", printable(name.substr(0, 40))));
        }
    }

    void close(std::string_view, std::string_view) override {
        const Part& part = parts_[open_.back()];
        // A file for NCCL_TOPO_FILE leaves the rest to NCCL, which asks the driver.
        const bool device = part.name == "pci";
        if (device && !part.used && (part.of.starts_with("0x03") || part.of == "0x120000")) {
            add(Gpu{open_.back(), part.mark});
            bare_ = true;
        }
        if (device && !part.used && part.of.starts_with("0x02")) add(Nic{open_.back(), part.mark, part.bus, {}});
        if (!device && (part.used || part.name == "gpu" || part.name == "net") && part.parent != none)
            parts_[part.parent].used = true;
        open_.pop_back();
    }

    Machine finish() {
        Machine machine;
        machine.mark = start_;
        if (gpus_.empty()) {
            findings_.fail(start_, "the file has no GPUs", "NCCL_TOPO_DUMP_FILE names a file for NCCL to write");
            return machine;
        }
        sort_gpus();
        if (hosts_.size() > 1)
            findings_.note(start_, fmt::format("{} hosts are one node, since NVLink joins their GPUs", hosts_.size()));
        for (const Gpu& gpu : gpus_) {
            const std::string& bus = parts_[gpu.part].bus;
            machine.gpus.push_back({bus.empty() ? "a GPU" : "GPU " + bus, gpu.mark});
        }
        machine.nvlinks_known = !bare_;
        add_paths(machine);
        count_nvlinks(machine);
        add_ports(machine);
        name_device(machine);
        for (const Gpu& gpu : gpus_)
            if (const auto rate = parts_[gpu.part].rate)
                machine.pcie_GBps = std::min(machine.pcie_GBps.value_or(*rate), *rate);
        return machine;
    }

private:
    static constexpr std::size_t none = ~std::size_t{0}, most_parts = 20'000;

    struct Part {
        std::string name;
        std::size_t parent;
        Mark mark;
        std::string bus = {}, of = {};  ///< of a PCI device: its number and class
        std::int64_t vendor = 0, product = 0;
        std::optional<double> rate = {};  ///< of its slot
        bool used = false;                ///< it has a GPU or a port
    };
    struct Link {
        std::string target;
        bool to_switch = false;
        std::int64_t count = 0;
        Mark mark;
    };
    struct Gpu {
        std::size_t part;  ///< its PCI device
        Mark mark;
        std::int64_t rank = -1, dev = -1, capability = 0;
        std::vector<Link> links = {};
    };
    struct Nic {
        std::size_t part;
        Mark mark;
        std::string name;
        std::optional<double> GBps;
    };

    Mark place(const XmlTag& tag) const {
        return {start_.source, static_cast<int>(tag.place.line), static_cast<int>(tag.place.column)};
    }

    /// Notes what may be said of many elements, each of which would repeat its line.
    void note_once(const Mark& mark, const std::string& message) {
        constexpr std::size_t most = 20;
        if (said_.size() < most && said_.insert(message).second) findings_.note(mark, message);
    }

    void add(Gpu gpu) {
        if (gpus_.size() >= Machine::most_gpus)
            throw ConfigError({{locate(gpu.mark), "there are too many GPUs", "the maximum is 256"}});
        gpus_.push_back(std::move(gpu));
    }
    void add(Nic nic) {
        if (nics_.size() >= Machine::most_nics)
            throw ConfigError({{locate(nic.mark), "there are too many NICs", "the maximum is 256"}});
        nics_.push_back(std::move(nic));
    }

    static bool is_known(std::string_view name) {
        constexpr std::string_view names[] = {"system", "nic", "gin", "rma", "pcilink", "c2c"};
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

    void read_pci(const XmlTag& tag, Part& part) {
        part.bus = printable(tag.attribute("busid").value_or("").substr(0, 40));
        part.of = tag.attribute("class").value_or("");
        part.vendor = number(tag, "vendor", 0, 0xffff);
        part.product = number(tag, "device", 0, 0xffff);
        part.rate = slot_rate(tag.attribute("link_speed").value_or(""), tag.attribute("link_width").value_or(""));
    }

    void add_gpu(const XmlTag& tag, std::size_t parent) {
        Gpu gpu{parent, place(tag)};
        constexpr std::int64_t most = 1 << 20;
        gpu.rank = number(tag, "rank", -1, most);
        gpu.dev = number(tag, "dev", -1, most);
        // RCCL counts AMD's compute units here.
        if (!tag.attribute("gcn")) gpu.capability = number(tag, "sm", 0, 1000);
        add(std::move(gpu));
    }

    void add_nvlink(const XmlTag& tag) {
        if (open_.size() < 2 || parts_[open_[open_.size() - 2]].name != "gpu")
            throw XmlError(tag.place, fmt::format("<{}> is not in a <gpu>", tag.name));
        std::string target = tag.attribute("target").value_or("");
        const std::string of = tag.attribute("tclass").value_or("");
        if (of == "0x068001") return note_once(place(tag), "left out: NVLinks to a processor");
        const std::int64_t count = number(tag, "count", 1, 1000);
        if (count < 1) throw XmlError(tag.place, "'count' must be at least 1");
        gpus_.back().links.push_back({std::move(target), of.starts_with("0x0680"), count, place(tag)});
    }

    void add_net(const XmlTag& tag, const Mark& mark) {
        if (number(tag, "keep", 1, 1000) == 0 || number(tag, "net", 1, 1000) == 0) return;
        const std::string name = printable(tag.attribute("name").value_or("a NIC").substr(0, 40));
        constexpr std::int64_t most = std::int64_t{1} << 40, most_Mbps = 10'000'000;
        std::int64_t Mbps = number(tag, "speed", 0, most);
        if (Mbps > most_Mbps) Mbps = 0;  // RCCL writes 200000000 for Slingshot's 200 Gb/s
        if (Mbps <= 0) note_once(mark, "the file does not say how fast a NIC is");
        if (tag.attribute("gdr") == "0")
            note_once(mark, "left out: copies to the host for a NIC without GPUDirect RDMA (gdr)");
        std::size_t part = open_.size() > 1 ? open_[open_.size() - 2] : none;
        while (part != none && parts_[part].name != "pci" && parts_[part].name != "cpu") part = parts_[part].parent;
        add(Nic{part, mark, name, Mbps > 0 ? std::optional(static_cast<double>(Mbps) / 8000) : std::nullopt});
    }

    /// Orders GPUs by their ranks, or else by their numbers, if these differ.
    void sort_gpus() {
        for (const auto key : {&Gpu::rank, &Gpu::dev}) {
            std::set<std::int64_t> values;
            for (const Gpu& gpu : gpus_) values.insert(gpu.*key);
            if (values.size() < gpus_.size() || *values.begin() < 0) continue;
            std::stable_sort(gpus_.begin(), gpus_.end(), [&](const Gpu& a, const Gpu& b) { return a.*key < b.*key; });
            return;
        }
    }

    /// Returns how near two PCI devices are: by the innermost element that holds both.
    Nearness between(std::size_t a, std::size_t b) const {
        const auto ways_up = [&](std::size_t at) {
            std::vector<std::size_t> way;
            for (at = at == none ? none : parts_[at].parent; at != none; at = parts_[at].parent) way.push_back(at);
            return way;
        };
        if (a == b) return Nearness::pix;
        std::vector<std::size_t> one = ways_up(a), other = ways_up(b);
        if (a != none && parts_[a].name == "cpu") one.insert(one.begin(), a);
        if (b != none && parts_[b].name == "cpu") other.insert(other.begin(), b);
        for (std::size_t i = 0; i < one.size(); ++i) {
            const auto common = std::find(other.begin(), other.end(), one[i]);
            if (common == other.end()) continue;
            if (parts_[one[i]].name == "cpu") return Nearness::phb;
            if (parts_[one[i]].name != "pci") return Nearness::sys;
            return i == 0 && common == other.begin() ? Nearness::pix : Nearness::pxb;
        }
        return Nearness::sys;
    }

    void add_paths(Machine& machine) const {
        for (const Gpu& a : gpus_) {
            machine.paths.emplace_back();
            for (const Gpu& b : gpus_)
                machine.paths.back().push_back(&a == &b ? Nearness::unknown : between(a.part, b.part));
        }
    }

    void count_nvlinks(Machine& machine) {
        machine.nvlinks.assign(gpus_.size(), std::vector<std::int64_t>(gpus_.size()));
        std::map<std::string_view, std::size_t> by_bus;
        for (std::size_t i = 0; i < gpus_.size(); ++i) by_bus.emplace(parts_[gpus_[i].part].bus, i);
        std::vector<std::int64_t> switched(gpus_.size());
        bool direct = false;
        for (std::size_t i = 0; i < gpus_.size(); ++i)
            for (const Link& link : gpus_[i].links) {
                const auto target = by_bus.find(link.target);
                if (target == by_bus.end() && !link.to_switch) {
                    note_once(link.mark, "left out: NVLinks to what is no part of this file");
                } else if (target == by_bus.end()) {
                    switched[i] += link.count;
                } else {
                    machine.nvlinks[i][target->second] += link.count;
                    direct = true;
                }
            }
        for (std::size_t i = 0; i < gpus_.size(); ++i)
            for (std::size_t j = 0; j < i; ++j)
                if (machine.nvlinks[i][j] != machine.nvlinks[j][i])
                    return findings_.fail(gpus_[i].mark, fmt::format("{} and {} count {} and {} NVLinks to each other",
                                                                     machine.gpus[i].name, machine.gpus[j].name,
                                                                     machine.nvlinks[i][j], machine.nvlinks[j][i]));
        const auto [least, most] = std::minmax_element(switched.begin(), switched.end());
        if (*most > 0 && (direct || *least == 0))
            return findings_.fail(start_, "some GPUs have NVLinks to switches, and others have none or direct ones",
                                  "`--set platform.per_node.links='{pattern: mesh, …}'`");
        if (*least != *most)
            findings_.note(start_,
                           fmt::format("GPUs have {} to {} NVLinks; all are written with the least", *least, *most));
        machine.switched = *least;
    }

    void add_ports(Machine& machine) const {
        for (const Nic& nic : nics_) {
            const bool slot = nic.part != none && parts_[nic.part].name == "pci";
            machine.nics.push_back({nic.name, nic.mark, nic.GBps, slot ? parts_[nic.part].rate : std::nullopt, {}});
            for (const Gpu& gpu : gpus_) machine.nics.back().to.push_back(between(nic.part, gpu.part));
        }
    }

    /// Finds the preset of the GPUs' product, and the rate of their NVLinks.
    void name_device(Machine& machine) {
        const std::int64_t capability = gpus_[0].capability, product = parts_[gpus_[0].part].product;
        for (const Gpu& gpu : gpus_)
            if (gpu.capability != capability || parts_[gpu.part].product != product)
                note_once(gpu.mark, "GPUs differ; all are written like the first");
        if (const double rate = nvlink_GBps(capability); rate > 0) machine.nvlink_GBps = rate;
        machine.device = device_of_product(parts_[gpus_[0].part].vendor, product);
        machine.device_hint = devices_of_capability(capability);
    }

    const Mark start_;
    Findings& findings_;
    std::vector<Part> parts_;
    std::vector<std::size_t> open_;  ///< elements
    std::vector<Gpu> gpus_;
    std::vector<Nic> nics_;
    std::set<std::string> hosts_, said_;
    bool bare_ = false;  ///< a GPU is only a PCI device
};

}  // namespace

bool is_nccl_topology(const ForeignFile& file) {
    std::string_view text = file.text();
    for (std::size_t at = text.find('<'); at != text.npos; at = text.find('<', at + 1)) {
        const std::string_view tag = text.substr(at);
        if (tag.starts_with("<!--"))
            at = std::min(text.find("-->", at), text.size() - 1);
        else if (!tag.starts_with("<?") && !tag.starts_with("<!"))
            return tag.starts_with("<system ") || tag.starts_with("<system>");
    }
    return false;
}

void read_nccl_topology(const ForeignFile& file, Imported& imported) {
    NcclReader reader(file.start, imported.findings);
    try {
        parse_xml(file.text(), reader);
    } catch (const XmlError& error) {
        refuse_xml(file.start.source->name, file.text(), error);
    }
    Machine machine = reader.finish();
    if (imported.findings.errors.empty()) imported.machine = std::move(machine);
}

}  // namespace syncline::config
