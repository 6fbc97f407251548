#include "sim/import/node_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/import/gpu_kinds.hpp"

namespace syncline::config {

std::size_t NodeParts::add(Part part) {
    constexpr std::size_t most = 50'000;
    if (parts_.size() >= most)
        throw ConfigError({{locate(part.mark), "there are too many elements", "the maximum is 50000"}});
    parts_.push_back(std::move(part));
    return parts_.size() - 1;
}

void NodeParts::add(Gpu gpu) {
    if (gpus_.size() >= Machine::most_gpus)
        throw ConfigError({{locate(gpu.mark), "there are too many GPUs", "the maximum is 256"}});
    gpus_.push_back(gpu);
}

void NodeParts::add(Nic nic) {
    if (nics_.size() >= Machine::most_nics)
        throw ConfigError({{locate(nic.mark), "there are too many NICs", "the maximum is 256"}});
    nics_.push_back(std::move(nic));
}

void NodeParts::note_once(const Mark& mark, const std::string& message) {
    constexpr std::size_t most = 20;
    if (said_.size() < most && said_.insert(message).second) findings_.note(mark, message);
}

void NodeParts::sort_gpus() {
    for (const auto key : {&Gpu::rank, &Gpu::number}) {
        std::set<std::int64_t> values;
        for (const Gpu& gpu : gpus_) values.insert(gpu.*key);
        if (values.size() < gpus_.size() || *values.begin() < 0) continue;
        std::stable_sort(gpus_.begin(), gpus_.end(), [&](const Gpu& a, const Gpu& b) { return a.*key < b.*key; });
        return;
    }
}

Machine NodeParts::machine() {
    Machine machine;
    machine.mark = start_;
    const std::int64_t capability = gpus_.front().capability;
    const Part& first = parts_[gpus_.front().part];
    for (const Gpu& gpu : gpus_) {
        const Part& part = parts_[gpu.part];
        machine.gpus.push_back({part.bus.empty() ? "a GPU" : "GPU " + part.bus, gpu.mark});
        machine.paths.emplace_back();
        for (const Gpu& other : gpus_)
            machine.paths.back().push_back(&gpu == &other ? Nearness::unknown : between(gpu.part, other.part));
        if (const auto rate = narrowest(gpu.part))
            machine.pcie_GBps = std::min(machine.pcie_GBps.value_or(*rate), *rate);
        if (gpu.capability != capability || part.vendor != first.vendor || part.product != first.product)
            note_once(gpu.mark, "GPUs differ; all are written like the first");
    }
    for (const Nic& nic : nics_) {
        const bool slot = nic.part != none && parts_[nic.part].kind == Kind::device;
        machine.nics.push_back({nic.name, nic.mark, nic.GBps, slot ? parts_[nic.part].GBps : std::nullopt, {}});
        for (const Gpu& gpu : gpus_) machine.nics.back().to.push_back(between(nic.part, gpu.part));
    }
    if (const double rate = nvlink_GBps(capability); rate > 0) machine.nvlink_GBps = rate;
    machine.device = device_of_product(first.vendor, first.product);
    machine.device_hint = devices_of_capability(capability);
    return machine;
}

void NodeParts::set_links(Machine& machine, std::vector<std::vector<std::int64_t>> direct) {
    bool any = false;
    std::int64_t least = gpus_.front().switched, most = 0;
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
        least = std::min(least, gpus_[i].switched);
        most = std::max(most, gpus_[i].switched);
        for (std::size_t j = 0; j < i; ++j) {
            any = any || direct[i][j] > 0;
            if (direct[i][j] != direct[j][i])
                return findings_.fail(gpus_[i].mark,
                                      fmt::format("{} and {} have {} and {} links to each other", machine.gpus[i].name,
                                                  machine.gpus[j].name, direct[i][j], direct[j][i]));
        }
    }
    if (most > 0 && (any || least == 0))
        return findings_.fail(
            start_, "some GPUs have links to switches, and others have none or direct ones",
            "`--set platform.per_node.links='{pattern: switch, bandwidth: 450 GBps, latency: none}'`");
    if (least != most)
        findings_.note(start_, fmt::format("GPUs have {} to {} links; all are written with the least", least, most));
    machine.nvlinks = std::move(direct);
    machine.switched = least;
}

Nearness NodeParts::between(std::size_t a, std::size_t b) const {
    if (a == b) return Nearness::pix;
    const auto way_up = [&](std::size_t at) {
        std::vector<std::size_t> way;
        for (; at != none; at = parts_[at].parent)
            if (parts_[at].kind != Kind::other && parts_[at].kind != Kind::device) way.push_back(at);
        return way;
    };
    const std::vector<std::size_t> one = way_up(a), other = way_up(b);
    for (std::size_t i = 0; i < one.size(); ++i) {
        const auto common = std::find(other.begin(), other.end(), one[i]);
        if (common == other.end()) continue;
        switch (parts_[one[i]].kind) {
            case Kind::bridge:
                return i == 0 && common == other.begin() ? Nearness::pix : Nearness::pxb;
            case Kind::host_bridge:
                return Nearness::phb;
            case Kind::numa:
                return Nearness::node;
            default:
                return Nearness::sys;
        }
    }
    return Nearness::sys;
}

std::optional<double> NodeParts::narrowest(std::size_t device) const {
    std::optional<double> least;
    for (std::size_t at = device; at != none; at = parts_[at].parent)
        if (const auto& rate = parts_[at].GBps) least = std::min(least.value_or(*rate), *rate);
    return least;
}

std::string_view first_element(std::string_view text) {
    for (std::size_t at = text.find('<'); at != text.npos; at = text.find('<', at + 1)) {
        const std::string_view tag = text.substr(at);
        if (tag.starts_with("<!--"))
            at = std::min(text.find("-->", at), text.size() - 1);
        else if (!tag.starts_with("<?") && !tag.starts_with("<!"))
            return tag.substr(1, tag.find_first_of(" \t\r\n/>") - 1);
    }
    return "";
}

}  // namespace syncline::config
