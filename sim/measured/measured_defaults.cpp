#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "sim/base/number.hpp"
#include "sim/measured/measured_parts.hpp"
#include "sim/measured/measured_texts.hpp"
#include "sim/plan/placement.hpp"

// What `syncline calibrate` fits, and from which rows, if the measurements do not say it.

namespace syncline::config {

namespace {

void put_text(Node& mapping, const char* key, const char* text) {
    put(mapping, key, scalar_at(mapping.mark, text));
}

Node parameter_at(const Mark& mark, const char* key, const char* least, const char* most, const char* unit) {
    Node parameter = mapping_at(mark);
    put_text(parameter, "key", key);
    put_text(parameter, "least", least);
    put_text(parameter, "most", most);
    if (*unit != '\0') put_text(parameter, "unit", unit);
    return parameter;
}

double value_of(const Node& row) {
    const Node* const value = row.find("value");
    return value ? number_in<double>(value->scalar).value_or(0) : 0;
}

/// Returns all rows of the first series.
std::vector<Node>* first_rows(Node& list) {
    Node* const series = list.find("series");
    if (!series || series->items.empty()) return nullptr;
    Node* const rows = series->items.front().find("rows");
    return rows && !rows->items.empty() ? &rows->items : nullptr;
}

bool any_calibrates(const Node& list) {
    const Node* const all = list.find("series");
    if (!all) return true;  // an error, which reading reports
    for (const Node& series : all->items)
        if (const Node* const rows = series.find("rows"))
            for (const Node& row : rows->items)
                if (row.find("calibrates")) return true;
    return false;
}

/// Returns whether the ranks of the scenario's collective are on several nodes.
bool spans_nodes(const Variant& variant) {
    std::set<std::uint32_t> nodes;
    for (const Place& place : place_ranks(variant.cluster, variant.collective->placement,
                                          static_cast<std::uint32_t>(variant.collective->ranks)))
        nodes.insert(place.node);
    return nodes.size() > 1;
}

/// Returns the entries of a mapping, or of a null, that have these keys.
std::vector<Entry> entries_of(const Node* mapping, std::initializer_list<std::string_view> keys) {
    std::vector<Entry> some;
    for (const std::string_view key : keys)
        if (const Entry* const entry = mapping && mapping->kind == Node::Kind::mapping ? mapping->entry(key) : nullptr)
            some.push_back(*entry);
    return some;
}

/// Makes `own`, a transport or a null, one of two numbers: a start-up time for each collective, which has the latencies
/// of all its steps, and a bandwidth inside or between nodes. What it says of the other side's bandwidth stays, and
/// what a collective takes of a device.
Node two_numbers(const Node& own, const Mark& mark, bool between) {
    Node transport = mapping_at(mark, entries_of(&own, {"channels", "pxn", "exchange_multiprocessors"}));
    put_text(transport, "name", "calibrated");
    Node reduction = mapping_at(mark);
    put_text(reduction, "rate", "unlimited");
    put(transport, "reduction", std::move(reduction));
    Node inside = mapping_at(mark);
    if (between)
        inside.entries = entries_of(own.find("inside_node"), {"bandwidth", "payload"});
    else
        for (Entry& entry : entries_of(&own, {"latency", "bandwidth", "payload", "host_bandwidth"}))
            transport.entries.push_back(std::move(entry));
    put(transport, "inside_node", std::move(inside));
    return transport;
}

}  // namespace

void MeasuredScenario::Parts::choose_rows() {
    std::vector<Node>* const rows = first_rows(list);
    if (!rows || any_calibrates(list)) return;
    const auto [least, most] = std::minmax_element(
        rows->begin(), rows->end(), [](const Node& a, const Node& b) { return value_of(a) < value_of(b); });
    put_text(*least, "calibrates", "true");
    if (least != most) put_text(*most, "calibrates", "true");
    chosen.push_back(rows->size() == 1 ? "no row calibrates, so the only one does"
                                       : "no row calibrates, so the smallest and the largest of the first series do");
}

void MeasuredScenario::Parts::choose_parameters() {
    Node* const platform = file.base.find("platform");
    if (list.find("parameters") || any_calibrates(list) || file.has_variants || !platform ||
        platform->kind != Node::Kind::mapping)
        return;
    const std::vector<Node>* const rows = first_rows(list);
    if (!rows) return;
    Node parameters = empty_at(list.mark, Node::Kind::sequence);
    const auto add = [&](const char* key, const char* least, const char* most, const char* unit = "") {
        parameters.items.push_back(parameter_at(list.mark, key, least, most, unit));
    };
    if (!file.base.find("collective")) {
        add("platform.device.speed", "0.05", "5");
        chosen.emplace_back("no parameters are listed, so the device's speed is fitted");
    } else {
        std::string unnamed;
        GridChoices grids;
        const Variant variant = read_variant(assembly, file.base, "base", unnamed, grids, inspect);
        assembly.finish();
        const bool between = spans_nodes(variant);
        const Node own = take(*platform, "transport");
        put(*platform, "transport", two_numbers(own, platform->mark, between));
        if (rows->size() > 1) add("platform.transport.launch", "0.1", "100000", "us");
        add(between ? "platform.transport.host_bandwidth" : "platform.transport.inside_node.bandwidth", "0.01", "10000",
            "GBps");
        const std::string instead = variant.cluster.transport.name;
        chosen.push_back(fmt::format("no parameters are listed, so {}the bandwidth {} nodes are fitted{}",
                                     rows->size() > 1 ? "a start-up time of collectives and " : "",
                                     between ? "between" : "inside",
                                     instead.empty() ? "" : fmt::format(", in place of transport '{}'", instead)));
    }
    put(list, "parameters", std::move(parameters));
}

}  // namespace syncline::config
