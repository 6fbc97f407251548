#include "sim/platform/simgrid_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/base/did_you_mean.hpp"
#include "sim/base/xml_reader.hpp"

namespace syncline {

namespace {

const std::vector<std::string> elements{
    "AS",        "ASroute", "backbone", "bypassASroute", "bypassRoute", "bypassZoneRoute",
    "cabinet",   "cluster", "config",   "coordinates",   "disk",        "host",
    "host_link", "link",    "link_ctn", "model_prop",    "peer",        "platform",
    "prop",      "route",   "router",   "zone",          "zoneRoute"};

/// Settings of the network models.
const std::vector<std::string> settings{"network/TCP-gamma",      "network/bandwidth-factor", "network/crosstraffic",
                                        "network/latency-factor", "network/loopback-bw",      "network/loopback-lat",
                                        "network/weight-S",       "smpi/bw-factor",           "smpi/lat-factor"};

/// Beginnings of settings that describe what SimGrid does not do here: which network model it has, how it solves for
/// processors, disks and flows, runs actors, writes its own timelines, and replays MPI programs. Public platforms have
/// them (https://simgrid.org/doc/latest/Configuring_SimGrid.html). SimGrid does not see them.
const std::vector<std::string> without_effect{"bmf/",
                                              "clean-atexit",
                                              "contexts/",
                                              "cpu/",
                                              "debug/",
                                              "disk/",
                                              "exception/",
                                              "host/",
                                              "maxmin/",
                                              "model-check",
                                              "path",
                                              "plugin",
                                              "precision/",
                                              "smpi/",
                                              "storage/",
                                              "surf/",
                                              "tracing",
                                              "verbose-exit",
                                              "vm/",
                                              "network/coordinates",
                                              "network/maxmin-selective-update",
                                              "network/model",
                                              "network/optim",
                                              "network/sender",
                                              "network/solver",
                                              "ns3/"};

bool one_of(const std::vector<std::string>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Returns the number, or nothing if the text is none.
std::optional<double> number(std::string_view text) {
    double value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool good = result.ec == std::errc() && result.ptr == text.data() + text.size() && std::isfinite(value);
    return good ? std::optional(value) : std::nullopt;
}

bool is_number(std::string_view text, bool zero) {
    const auto value = number(text);
    return value && (*value > 0 || (zero && *value == 0));
}

bool has_effect(std::string_view setting) {
    return closest(setting, settings) ||  // or else it is misspelt
           std::none_of(without_effect.begin(), without_effect.end(),
                        [&](const std::string& begin) { return setting.starts_with(begin); });
}

/// Returns true if this is a list of sizes and factors: "65472:0.94;15424:0.69".
bool are_factors(std::string_view list) {
    for (;;) {
        const std::string_view part = list.substr(0, list.find(';'));
        const auto colon = part.find(':');
        if (colon == std::string_view::npos || !is_number(part.substr(colon + 1), false)) return false;
        const std::string_view size = part.substr(0, colon);
        std::int32_t bytes = 0;  // as SimGrid reads it
        const auto result = std::from_chars(size.data(), size.data() + size.size(), bytes);
        if (result.ec != std::errc() || result.ptr != size.data() + size.size() || bytes < 0) return false;
        if (part.size() == list.size()) return true;
        list.remove_prefix(part.size() + 1);
    }
}

/// Returns true if SimGrid accepts this value; for another one it ends the process.
bool is_value(std::string_view setting, std::string_view value) {
    if (setting == "network/crosstraffic") return one_of({"0", "1", "yes", "no", "on", "off", "true", "false"}, value);
    if (setting.starts_with("smpi/")) return are_factors(value);
    return is_number(value, !setting.ends_with("-factor") && setting != "network/loopback-bw");
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

struct TraceWord {
    std::string_view word;
    TraceOf of;
};

/// Attributes of hosts, peers and links that name a file with a trace.
constexpr TraceWord host_attributes[]{
    {"speed_file", TraceOf::speed}, {"availability_file", TraceOf::speed}, {"state_file", TraceOf::host_state}},
    link_attributes[]{{"bandwidth_file", TraceOf::bandwidth},
                      {"latency_file", TraceOf::latency},
                      {"state_file", TraceOf::link_state}};
std::optional<TraceOf> find(std::span<const TraceWord> words, std::string_view word) {
    for (const TraceWord& known : words)
        if (known.word == word) return known.of;
    return std::nullopt;
}

std::string id(const XmlTag& tag) {
    return tag.attribute("id").value_or("");
}

/// Returns the name of a setting; older versions of SimGrid wrote "_" for "-".
std::string setting_of(const XmlTag& tag) {
    std::string name = id(tag);
    std::ranges::replace(name, '_', '-');
    return name;
}

/// Checks the elements, copies them without traces, and notes these.
class Checker : public XmlHandler {
public:
    struct Use {
        XmlLocation place;
        std::string element;
        std::string file;  ///< empty: it is off from the start
        TraceOf of;
    };

    void open(const XmlTag& tag) override {
        if (depth_++ == 0 && tag.name != "platform")
            throw XmlError(tag.place, "this is not a platform of SimGrid: it has no <platform> element");
        if (!one_of(elements, tag.name)) {
            const bool trace = tag.name == "trace" || tag.name == "trace_connect";
            const bool acts = tag.name == "actor" || tag.name == "process" || tag.name == "argument";
            throw XmlError(tag.place, fmt::format("the element '{}' is not allowed", tag.name),
                           acts    ? "remove it: Syncline starts what runs on the hosts"
                           : trace ? "name a file at the link or the host, as in bandwidth_file='trace.txt'"
                                   : did_you_mean(tag.name, elements, "only hosts, links and routes are read"));
        }
        const bool idle = configures_ && tag.name == "prop" && !has_effect(setting_of(tag));
        if (idle) note(tag);
        if (idle || left_out_ > 0) {
            ++left_out_;
            return;
        }
        if (tag.name == "config") configures_ = true;
        if (configures_ && tag.name == "prop") require_setting(tag);
        size_.open(tag);
        copy(tag);
    }

    void close(std::string_view name, std::string_view content) override {
        --depth_;
        if (left_out_ > 0) {
            --left_out_;
            return;
        }
        size_.close(name);
        if (name == "config") configures_ = false;
        text += fmt::format("{}</{}>", escaped(content), name);
    }

    std::string text = "<?xml version='1.0'?><!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">";
    std::vector<Use> uses;
    std::vector<std::string> idle_settings;
    XmlLocation first_idle;

private:
    void note(const XmlTag& idle) {
        constexpr std::size_t most = 20;
        if (idle_settings.empty()) first_idle = idle.place;
        if (idle_settings.size() < most && !one_of(idle_settings, id(idle))) idle_settings.push_back(id(idle));
    }

    static void require_setting(const XmlTag& tag) {
        const std::string name = setting_of(tag), value = tag.attribute("value").value_or("");
        if (!one_of(settings, name))
            throw XmlError(tag.place, fmt::format("the setting '{}' is not allowed", name),
                           did_you_mean(name, settings, "only settings of the network are read"));
        if (!is_value(name, value))
            throw XmlError(tag.place, fmt::format("'{}' is no value of the setting '{}'", value, name));
    }

    void copy(const XmlTag& tag) {
        std::span<const TraceWord> names;
        if (tag.name == "link") names = link_attributes;
        if (tag.name == "host" || tag.name == "peer") names = host_attributes;
        for (; line_ < tag.place.line; ++line_) text += '\n';
        text += fmt::format("<{}", tag.name);
        const auto use = [&](std::string_view name, std::string_view file, TraceOf of) {
            text += fmt::format(" {0}=\"{1}{2}{1}\"", name, SimGridFile::mark, uses.size());
            uses.push_back({tag.place, id(tag), std::string(file), of});
        };
        for (std::size_t i = 0; i + 1 < tag.attributes.size(); i += 2) {
            const std::string_view name = tag.attributes[i], value = tag.attributes[i + 1];
            if (const auto of = find(names, name)) {
                if (!value.empty()) use(name, value, *of);
            } else if (name == "state") {  // of older versions; now a trace says it
                if (value == "OFF" && !names.empty() && tag.attribute("state_file").value_or("").empty())
                    use("state_file", "", *find(names, "state_file"));
            } else {
                const bool sets = configures_ && tag.name == "prop" && name == "id";
                text += fmt::format(" {}=\"{}\"", name, escaped(sets ? setting_of(tag) : value));
            }
        }
        text += '>';
    }

    int depth_ = 0, left_out_ = 0;  // left out: open elements that are not copied
    std::size_t line_ = 1;
    bool configures_ = false;
    SimGridSize size_;
};

}  // namespace

SimGridFile check_simgrid_file(const std::string& file, std::string_view text,
                               const std::function<std::string(const std::string& name)>& beside) {
    const auto read = [&](const std::string& name, TraceOf of) {
        if (name.empty()) return SimGridTrace{{{0, 0}}, {}};
        const std::string content = beside(name);
        try {
            return parse_simgrid_trace(content, of);
        } catch (const XmlError& error) {
            refuse_xml((std::filesystem::path(file).parent_path() / name).string(), content, error);
        }
    };
    try {
        Checker checker;
        parse_xml(text, checker);
        SimGridFile result;
        result.text = std::move(checker.text);
        if (!checker.idle_settings.empty())
            result.warning = {locate_xml(file, text, checker.first_idle),
                              fmt::format("without effect here: '{}'", fmt::join(checker.idle_settings, "', '")),
                              one_of(checker.idle_settings, "network/model")
                                  ? "the platform's `network: {model: ...}` chooses the model"
                                  : "only settings of the network are read"};
        std::map<std::pair<std::string, TraceOf>, std::size_t> numbers;
        struct Read {
            std::size_t points;
            bool begins_off;
        };
        std::vector<Read> traces;
        std::size_t points = 0;
        for (const auto& [place, element, name, of] : checker.uses) {
            const auto [known, first] = numbers.try_emplace({name, of}, result.traces.size());
            if (first) {
                const SimGridTrace trace = read(name, of);
                result.traces.push_back(text_of(trace));
                traces.push_back({trace.points.size(), trace.points.front() == SimGridTrace::Point{0, 0}});
            }
            result.uses.push_back(known->second);
            if (of == TraceOf::host_state && traces[known->second].begins_off) result.off.insert(element);
            points += traces[known->second].points;
            if (points > most_trace_points)
                throw XmlError(place, fmt::format("the traces of all links and hosts have more than {} points",
                                                  most_trace_points));
        }
        return result;
    } catch (const XmlError& error) {
        refuse_xml(file, text, error);
    }
}

}  // namespace syncline
