#include "sim/report/page_messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "sim/explain/window_messages.hpp"
#include "sim/report/parts.hpp"
#include "sim/taskgraph/phase_words.hpp"

namespace syncline {

namespace {

/// What an algorithm does, in the words of files.
struct AlgorithmWords {
    std::string operation, algorithm;
};
using Words = std::map<const CollectiveAlgorithm*, AlgorithmWords>;

Words words_of(const Lowered& training) {
    Words words;
    const auto add = [&](const std::shared_ptr<const CollectiveAlgorithm>& algorithm, const AlgorithmSpec& spec) {
        if (algorithm) words.try_emplace(algorithm.get(), AlgorithmWords{spec.operation, spec.name});
    };
    for (const std::vector<BucketExchange>& exchanges : training.reductions)
        for (const BucketExchange& exchange : exchanges) add(exchange.chosen.algorithm, exchange.chosen.spec);
    for (const BucketExchange& exchange : training.gatherings) add(exchange.chosen.algorithm, exchange.chosen.spec);
    const auto add_activations = [&](const ActivationExchange& exchange) {
        // Algorithms without a name exchange with neighbours, or blocks of unequal sizes.
        if (exchange.in_library()) return add(exchange.algorithm, exchange.spec);
        add(exchange.algorithm, {exchange.between_neighbours() ? "" : exchange.spec.operation, ""});
    };
    const auto add_layers = [&](const Arrangement& arrangement) {
        for (const PlacedLayer& layer : arrangement.layers) {
            LayerExchanges::each(layer.exchanges, add_activations);
            std::ranges::for_each(layer.exchanges.weights, add_activations);
        }
    };
    add_layers(training.arrangement);
    for (const RankKind& kind : training.kinds) add_layers(kind.arrangement);
    return words;
}

AlgorithmWords words_of(const WindowExchange& exchange, const Words& known) {
    if (exchange.phase == Phase::push) return {"push", served_allreduce};
    if (exchange.phase == Phase::pull) return {"pull", served_allreduce};
    const auto found = known.find(exchange.algorithm);
    if (found == known.end() || found->second.operation.empty()) return {word(exchange.phase), ""};
    return found->second;
}

/// Numbers entries in the order in which they are first used.
template <class Entry>
class Numbers {
public:
    std::size_t of(const Entry& entry) {
        const auto [found, added] = numbers_.try_emplace(entry, entries_.size());
        if (added) entries_.push_back(entry);
        return found->second;
    }
    const std::vector<Entry>& entries() const { return entries_; }

private:
    std::map<Entry, std::size_t> numbers_;
    std::vector<Entry> entries_;
};

/// Rounds to a decimal that is short as text.
class Rounded {
public:
    explicit Rounded(double window_s)
        : per_s_(std::pow(10, std::clamp(digits - std::ceil(std::log10(window_s)), 0.0, 15.0))) {}
    double operator()(double seconds) const { return std::round(seconds * per_s_) / per_s_; }

private:
    static constexpr double digits = 9;
    double per_s_;
};

Json processes_of(const TaskGraph& graph, std::int64_t ranks) {
    Json names = Json::array();
    for (ProcessId process = 0; process < graph.processes().size(); ++process)
        names.push_back(process_name(graph, process, ranks));
    return names;
}

Json nodes_of(const Cluster& cluster, const TaskGraph& graph) {
    Json nodes = Json::array();
    if (cluster.native) return nodes;
    std::int64_t used = 0;
    for (const Process& process : graph.processes())
        used = std::max<std::int64_t>(used, process.place.node + std::int64_t{1});
    const Topology fabric = drawn_fabric(cluster, used);
    const auto ports = static_cast<std::uint32_t>(cluster.node.nics);
    for (const Process& process : graph.processes()) {
        const Place& place = process.place;
        const auto port = place.on_device() ? static_cast<std::uint32_t>(cluster.node.nic(place.device)) : 0;
        nodes.push_back(fabric.graph[place.in_fabric() ? place.vertex() : place.node * ports + port].name);
    }
    return nodes;
}

Json object(const WindowExchange& exchange, const AlgorithmWords& words) {
    Json json{{"what", exchange.what},   {"operation", words.operation}, {"algorithm", words.algorithm},
              {"bytes", exchange.bytes}, {"blocks", exchange.blocks},    {"members", exchange.members},
              {"steps", exchange.steps}};
    if (exchange.slices > 1 && exchange.blocks > 0) json["slices"] = exchange.slices;
    if (!exchange.owners.empty()) json["owners"] = exchange.owners;
    return json;
}

Json runs_of_blocks(const std::vector<Blocks>& blocks) {
    Json runs = Json::array();
    for (const Blocks& run : blocks) runs.push_back({run.block, run.count});
    return runs;
}

/// Number of iterations whose messages are drawn in a window of more.
constexpr std::uint32_t most_iterations = 4;

std::string note_of(const WindowMessages& window, std::uint32_t iterations, const std::string& last) {
    if (window.left_out == 0) return "";
    const std::size_t count = window.messages.size();
    std::string note = fmt::format("{} of {} messages are shown: ", count, count + window.left_out);
    if (window.cut)
        note += "the first ones of ";
    else if (window.thinned)
        note += "those of the processes up to ";
    if (window.thinned) note += last;
    if (window.shortened)
        note += fmt::format("{}in the first {} of {} iterations", window.thinned ? ", " : "those ", most_iterations,
                            iterations);
    return note + ".";
}

/// `iterations`: number in the window.
Json messages_of(const Cluster& cluster, const TimelineView& view, std::int64_t ranks, std::uint32_t iterations,
                 const Words& words, const PageLimits& limits) {
    const double window_s = view.window.end_s - view.window.start_s;
    if (view.timeline.trace.empty() || window_s <= 0) return nullptr;
    const Trace& trace = view.timeline.trace;
    const WindowMessages window =
        messages_in_window(view, {limits.messages, window_s * std::min(1.0, double{most_iterations} / iterations)});

    Numbers<std::uint32_t> routes, links, exchanges;
    Json paths = Json::array();
    const auto route_of = [&](const WindowMessage& message) -> std::int64_t {
        const std::uint32_t route = message.record->route;
        if (trace.routes[route].empty()) return -1;
        const std::size_t number = routes.of(route);
        if (number < paths.size()) return static_cast<std::int64_t>(number);
        Json& path = paths.emplace_back(Json::array());
        for (const std::uint32_t link : trace.routes[route]) path.push_back(links.of(link));
        return static_cast<std::int64_t>(number);
    };
    const auto column = [&](auto value) {
        Json values = Json::array();
        for (const WindowMessage& message : window.messages) values.push_back(value(message));
        return values;
    };
    const Rounded rounded(window_s);
    const auto time = [&](double seconds) { return rounded(seconds - view.window.start_s); };
    using One = const WindowMessage&;
    Json columns{
        {"from", column([](One one) { return one.from; })},
        {"to", column([](One one) { return one.to; })},
        {"bytes", column([](One one) { return one.record->bytes; })},
        {"start_s", column([&](One one) { return time(one.record->start_s()); })},
        {"end_s", column([&](One one) { return time(one.record->end_s()); })},
        {"through_s", column([&](One one) { return time(one.record->through_s); })},
        {"exchange", column([&](One one) { return exchanges.of(one.exchange); })},
        {"step", column([](One one) { return one.step; })},
        {"block", column([](One one) { return one.block; })},
        {"blocks", column([](One one) { return one.blocks; })},
        {"contributions", column([](One one) { return one.contributions; })},
        {"route", column(route_of)},
        {"reduces", column([](One one) { return one.adds ? 1 : 0; })},
    };
    if (std::ranges::any_of(window.messages, [](One one) { return one.micro_batch > 0; }))
        columns["micro_batch"] = column([](One one) { return one.micro_batch; });
    for (std::size_t i = 0; i < window.messages.size(); ++i)
        if (!window.messages[i].more.empty())
            columns["more"][std::to_string(i)] = runs_of_blocks(window.messages[i].more);

    Json json;
    json["processes"] = processes_of(view.graph, ranks);
    json["nodes"] = nodes_of(cluster, view.graph);
    json["links"] = Json::array();
    for (const std::uint32_t link : links.entries())
        json["links"].push_back({{"name", trace.links[link].name}, {"bandwidth_Bps", trace.links[link].bandwidth_Bps}});
    json["routes"] = std::move(paths);
    json["exchanges"] = Json::array();
    for (const std::uint32_t number : exchanges.entries())
        json["exchanges"].push_back(object(window.exchanges[number], words_of(window.exchanges[number], words)));
    json.update(columns);
    json["left_out"] = window.left_out;
    json["note"] = note_of(window, iterations, process_name(view.graph, window.last, ranks));
    return json;
}

}  // namespace

Json page_messages(const Lowered& training, const TimelineView& view, const PageLimits& limits) {
    return messages_of(training.cluster, view, training.plan.ranks, training.averaged, words_of(training), limits);
}

Json page_messages(const Cluster& cluster, const TimelineView& view, std::int64_t ranks, const PageLimits& limits) {
    return messages_of(cluster, view, ranks, 1, {}, limits);
}

Json page_messages(const Cluster& cluster, const ExchangeRecording& recording, const PageLimits& limits) {
    Words words;
    const TaskGraph& graph = recording.view.graph;
    for (ExchangeId id = 0; id < graph.exchanges(); ++id)
        words[graph.exchange(id).algorithm.get()] = {recording.spec.operation, recording.spec.name};
    return messages_of(cluster, recording.view, recording.ranks, recording.view.iteration + 1, words, limits);
}

}  // namespace syncline
