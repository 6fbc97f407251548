#include "sim/platform/simgrid_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

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

/// Returns how many numbers "0-3,7" means. Throws if it cannot be read.
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
        if (dash == std::string_view::npos && read(group, first)) {
            ++count;
        } else if (dash != std::string_view::npos && read(group.substr(0, dash), first) &&
                   read(group.substr(dash + 1), last) && last >= first &&
                   last < std::numeric_limits<std::uint32_t>::max()) {
            count += last - first + 1;
        } else {
            throw std::invalid_argument(fmt::format("'{}' is no range of numbers", group));
        }
    }
    return count;
}

bool is_number(std::string_view text, bool zero) {
    double number = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
    return result.ec == std::errc() && result.ptr == text.data() + text.size() && std::isfinite(number) &&
           (number > 0 || (zero && number == 0));
}

/// Returns true if SimGrid accepts this value; for another one it ends the process. Factors may depend on the size:
/// "65472:0.94;15424:0.69".
bool is_value(std::string_view setting, std::string_view value) {
    if (setting == "network/crosstraffic") return one_of({"0", "1", "yes", "no", "on", "off", "true", "false"}, value);
    const bool factor = setting.ends_with("-factor");
    while (factor && value.find(':') != std::string_view::npos) {
        const std::string_view part = value.substr(0, value.find(';'));
        const auto colon = part.find(':');
        if (colon == std::string_view::npos || !is_number(part.substr(0, colon), true) ||
            !is_number(part.substr(colon + 1), false))
            return false;
        if (part.size() == value.size()) return true;
        value.remove_prefix(part.size() + 1);
    }
    return is_number(value, !factor && setting != "network/loopback-bw");
}

/// Returns `text` for an attribute or an element.
std::string escaped(std::string_view text) {
    std::string result;
    for (const char letter : text) {
        const auto code = static_cast<unsigned char>(letter);
        if (letter == '&' || letter == '<' || letter == '>' || letter == '"' || code < ' ')
            result += fmt::format("&#{};", code);
        else
            result += letter;
    }
    return result;
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
        if (configures_ && tag.name == "prop") require_setting(tag);
        for (std::size_t i = 0; i + 1 < tag.attributes.size(); i += 2) {
            const std::string_view name = tag.attributes[i];
            if (name.ends_with("_file") || (name == "file" && tag.name == "trace"))
                result.files.emplace_back(tag.attributes[i + 1]);
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
        copy(tag);
    }

    void close(std::string_view name, std::string_view text) override {
        --depth_;
        if (name == "config") configures_ = false;
        result.text += fmt::format("{}</{}>", escaped(text), name);
    }

    struct Refused : XmlError {
        Refused(std::size_t in_line, const std::string& what, std::string with_hint)
            : XmlError(in_line, what), hint(std::move(with_hint)) {}
        std::string hint;
    };

    SimGridFile result{.text = "<?xml version='1.0'?><!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">",
                       .files = {}};

private:
    static void require_setting(const XmlTag& tag) {
        const std::string name = tag.attribute("id").value_or(""), value = tag.attribute("value").value_or("");
        if (name == "network/model")
            throw Refused(tag.line, "the setting 'network/model' is not allowed",
                          "the platform's `network: {model: ...}` chooses the model");
        if (!one_of(settings, name))
            throw Refused(tag.line, fmt::format("the setting '{}' is not allowed", name),
                          did_you_mean(name, settings, "only settings of the network are read"));
        if (!is_value(name, value))
            throw Refused(tag.line, fmt::format("'{}' is no value of the setting '{}'", value, name), "");
    }

    void copy(const XmlTag& tag) {
        for (; line_ < tag.line; ++line_) result.text += '\n';
        result.text += fmt::format("<{}", tag.name);
        for (std::size_t i = 0; i + 1 < tag.attributes.size(); i += 2)
            result.text += fmt::format(" {}=\"{}\"", tag.attributes[i], escaped(tag.attributes[i + 1]));
        result.text += '>';
    }

    int depth_ = 0;
    std::size_t line_ = 1;
    bool configures_ = false;
    std::size_t hosts_ = 0, links_ = 0;
};

}  // namespace

SimGridFile check_simgrid_file(std::string_view text) {
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
    std::vector<std::string>& files = checker.result.files;
    std::sort(files.begin(), files.end());
    files.erase(std::unique(files.begin(), files.end()), files.end());
    return std::move(checker.result);
}

}  // namespace syncline
