#include "sim/platform/simgrid_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "sim/base/did_you_mean.hpp"
#include "sim/base/xml.hpp"

namespace syncline {

namespace {

const std::vector<std::string> elements{
    "AS",       "ASroute",       "backbone",    "bypassASroute", "bypassRoute", "bypassZoneRoute", "cabinet",
    "cluster",  "config",        "coordinates", "disk",          "host",        "host_link",       "link",
    "link_ctn", "model_prop",    "peer",        "platform",      "prop",        "route",           "router",
    "trace",    "trace_connect", "zone",        "zoneRoute"};

/// Settings of the network models. All others are about SimGrid's own output, memory and debugging.
const std::vector<std::string> settings{"network/TCP-gamma",      "network/bandwidth-factor", "network/crosstraffic",
                                        "network/latency-factor", "network/loopback-bw",      "network/loopback-lat",
                                        "network/model",          "network/weight-S",         "smpi/bw-factor",
                                        "smpi/lat-factor"};

bool one_of(const std::vector<std::string>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Returns how many numbers "0-3,7" means, as far as it can be read; SimGrid reports the rest.
std::size_t count_of(std::string_view radical) {
    std::size_t count = 0;
    while (!radical.empty()) {
        const std::string_view group = radical.substr(0, radical.find(','));
        radical.remove_prefix(std::min(radical.size(), group.size() + 1));
        const auto dash = group.find('-');
        std::uint64_t first = 0, last = 0;
        const auto read = [](std::string_view text, std::uint64_t& number) {
            const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
            return result.ec == std::errc() && result.ptr == text.data() + text.size();
        };
        if (dash == std::string_view::npos) {
            ++count;
        } else if (read(group.substr(0, dash), first) && read(group.substr(dash + 1), last) && last >= first &&
                   last < std::numeric_limits<std::uint32_t>::max()) {
            count += last - first + 1;
        } else {
            throw std::invalid_argument(fmt::format("'{}' is no range of numbers", group));
        }
    }
    return count;
}

class Checker : public XmlHandler {
public:
    void open(const XmlTag& tag) override {
        if (depth_++ == 0 && tag.name != "platform")
            throw XmlError(tag.line, "this is not a platform of SimGrid: it has no <platform> element");
        if (!one_of(elements, tag.name)) {
            const bool acts = tag.name == "actor" || tag.name == "process" || tag.name == "argument";
            throw Refused(tag.line, fmt::format("the element '{}' is not allowed", tag.name),
                          acts ? "remove it: Syncline starts what runs on the hosts"
                               : did_you_mean(tag.name, elements, "only hosts, links and routes are read"));
        }
        if (tag.name == "config") configures_ = true;
        if (configures_ && tag.name == "prop") {
            const std::string name = tag.attribute("id").value_or("");
            if (!one_of(settings, name))
                throw Refused(tag.line, fmt::format("the setting '{}' is not allowed", name),
                              did_you_mean(name, settings, "only settings of the network are read"));
        }
        for (std::size_t i = 0; i + 1 < tag.attributes.size(); i += 2) {
            const std::string_view name = tag.attributes[i];
            if (name.ends_with("_file") || (name == "file" && tag.name == "trace"))
                files.emplace_back(tag.attributes[i + 1]);
        }
        if (tag.attribute("state").value_or("ON") != "ON")
            throw Refused(tag.line, fmt::format("{} '{}' is off", tag.name, tag.attribute("id").value_or("")),
                          "remove it, or the attribute 'state'");
        if (tag.name == "host" || tag.name == "peer") ++hosts_;
        if (tag.name == "cluster" || tag.name == "cabinet") {
            try {
                hosts_ += count_of(tag.attribute("radical").value_or(""));
            } catch (const std::invalid_argument& error) {
                throw Refused(tag.line,
                              fmt::format("radical of '{}': {}", tag.attribute("id").value_or(""), error.what()),
                              "write it like 0-15,32");
            }
        }
        if (tag.name == "link" && ++links_ > most_simgrid_links)
            throw Refused(tag.line, fmt::format("the platform has more than {} links", most_simgrid_links),
                          "give `nodes` and `fabric` in place of 'simgrid_xml'");
        if (hosts_ > most_simgrid_hosts)
            throw Refused(tag.line, fmt::format("the platform has more than {} hosts", most_simgrid_hosts),
                          "give `nodes` and `fabric` in place of 'simgrid_xml'");
    }

    void close(std::string_view name, std::string_view) override {
        --depth_;
        if (name == "config") configures_ = false;
    }

    struct Refused : XmlError {
        Refused(std::size_t in_line, const std::string& what, std::string with_hint)
            : XmlError(in_line, what), hint(std::move(with_hint)) {}
        std::string hint;
    };

    std::vector<std::string> files;

private:
    int depth_ = 0;
    bool configures_ = false;
    std::size_t hosts_ = 0, links_ = 0;
};

}  // namespace

std::vector<std::string> check_simgrid_file(std::string_view text) {
    const auto refuse = [](const XmlError& error, std::string hint) {
        SimGridFileError problem(fmt::format("line {}: {}", error.line, error.what()));
        problem.hint = std::move(hint);
        return problem;
    };
    Checker checker;
    try {
        parse_xml(text, checker);
    } catch (const Checker::Refused& error) {
        throw refuse(error, error.hint);
    } catch (const XmlError& error) {
        throw refuse(error, "");
    }
    std::sort(checker.files.begin(), checker.files.end());
    checker.files.erase(std::unique(checker.files.begin(), checker.files.end()), checker.files.end());
    return checker.files;
}

}  // namespace syncline
