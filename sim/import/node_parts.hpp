#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/xml_reader.hpp"
#include "sim/import/foreign.hpp"
#include "sim/import/machine.hpp"

namespace syncline::config {

/// A node on the way from a file in XML, whose elements hold each other as the node holds its PCI devices.
class NodeParts {
public:
    static constexpr std::size_t none = ~std::size_t{0};

    /// What an element is to those that it holds; `other` has no effect on how near they are.
    enum class Kind { node, numa, host_bridge, bridge, device, other };

    struct Part {
        Kind kind = Kind::other;
        std::size_t parent = none;
        Mark mark = {};
        std::string bus = {};                  ///< number of a PCI device
        std::string of = {};                   ///< its class
        std::int64_t vendor = 0, product = 0;  ///< its numbers
        std::optional<double> GBps = {};       ///< of its slot, as NCCL counts it
        bool used = false;                     ///< it is a GPU or a port
    };
    struct Gpu {
        std::size_t part = none;
        Mark mark = {};
        std::int64_t rank = -1, number = -1, capability = 0;  ///< -1, 0: not known
        std::int64_t switched = 0;                            ///< links to switches
    };
    struct Nic {
        std::size_t part = none;
        Mark mark = {};
        std::string name = {};
        std::optional<double> GBps = {};
    };

    NodeParts(const Mark& start, Findings& findings) : start_(start), findings_(findings) {}

    /// Adds an element. Throws ConfigError if there are too many.
    std::size_t add(Part part);
    void add(Gpu gpu);
    void add(Nic nic);
    void rename_last_nic(std::string name) { nics_.back().name = std::move(name); }
    std::size_t size() const { return parts_.size(); }
    Part& part(std::size_t index) { return parts_[index]; }
    std::vector<Gpu>& gpus() { return gpus_; }

    /// Notes what may be said of many elements, each of which would repeat its line.
    void note_once(const Mark& mark, const std::string& message);

    /// Orders the GPUs by their ranks, or else by their numbers, if these differ.
    void sort_gpus();
    /// Returns the node, without direct links between GPUs.
    Machine machine();
    /// Sets them, and the links to switches. Reports what cannot be.
    void set_links(Machine& machine, std::vector<std::vector<std::int64_t>> direct);

private:
    /// Returns how near two parts are: by the innermost one that holds both, or is one of them.
    Nearness between(std::size_t a, std::size_t b) const;
    /// Returns the bandwidth of the narrowest slot from a device upwards.
    std::optional<double> narrowest(std::size_t device) const;

    const Mark start_;
    Findings& findings_;
    std::vector<Part> parts_;
    std::vector<Gpu> gpus_;
    std::vector<Nic> nics_;
    std::set<std::string> said_;
};

/// Takes the node of a file in XML from its Reader, if there are no errors. Throws ConfigError if it is not XML.
template <class Reader>
void read_machine(const ForeignFile& file, Imported& imported) {
    Reader reader(file.start, imported.findings);
    try {
        parse_xml(file.text(), reader);
    } catch (const XmlError& error) {
        refuse_xml(file.start.source->name, file.text(), error);
    }
    Machine machine = reader.finish();
    if (imported.findings.errors.empty()) imported.machine = std::move(machine);
}

/// Returns the name of a text's first element; "" if it is not XML.
std::string_view first_element(std::string_view text);

}  // namespace syncline::config
