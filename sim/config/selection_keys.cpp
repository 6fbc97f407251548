#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/config/counts.hpp"
#include "sim/config/file_kinds.hpp"
#include "sim/config/keys.hpp"
#include "sim/config/platform_parts.hpp"

namespace syncline::config {

namespace {

/// Returns the algorithms of all operations, each once.
std::vector<std::string> all_algorithms() {
    std::vector<std::string> names;
    for (const std::string& operation : operation_names())
        for (const std::string& name : algorithm_names(operation))
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    return names;
}

void describe(Fields& fields, ProtocolTerms& protocol) {
    constexpr QuantityRange times{.word = "none", .most = 3600};
    fields.text({"name", "Name shown in results: `LL`.", true}, protocol.name);
    fields.quantity({"launch", "Launch time on every rank, before the first step: `6.6 us`."}, protocol.launch_s,
                    Dimension::seconds, times);
    fields.quantity({"launch_per_rank", "Launch time for each rank of the group, in addition to `launch`: `2.8 us`."},
                    protocol.launch_per_rank_s, Dimension::seconds, times);
    fields.section({"latency", "Latency of every message, in addition to that of the links."}, [&](Fields& inner) {
        inner.quantity({"inside", "Latency inside a node: `0.6 us`."}, protocol.inside_latency_s, Dimension::seconds,
                       times);
        inner.quantity({"between", "Latency between nodes: `2.7 us`."}, protocol.between_latency_s, Dimension::seconds,
                       times);
    });
    fields.number(
        {"bandwidth_factor", "Ratio of data to transferred bytes, flags included: 0.5 if half of them are flags."},
        protocol.bandwidth_factor, 0.001, 1);
    constexpr QuantityRange rates{.word = "unlimited", .word_value = unlimited, .least = 1, .most = 1e18};
    fields.section({"bandwidth", "Maximum rate of data, of all channels together."}, [&](Fields& inner) {
        inner.quantity({"inside", "Maximum rate of data between a rank and its node: `130 GBps`."}, protocol.inside_Bps,
                       Dimension::bandwidth, rates);
        inner.quantity({"between", "Maximum rate of data between a node and others: `20.4 GBps`."},
                       protocol.between_Bps, Dimension::bandwidth, rates);
    });
    fields.quantity({"copy", "Rate of a copy of one N-th of the buffer among N ranks, which ends the collective."},
                    protocol.copy_Bps, Dimension::bandwidth, rates);
    fields.quantity({"chunk_latency",
                     "Time that switches inside nodes take for a round of NVLS chunks, one per channel and rank, in "
                     "addition to that of the bytes: `4 us`."},
                    protocol.chunk_latency_s, Dimension::seconds, times);
    std::int64_t channels = protocol.channels;
    fields.integer({"channels", "Number of channels of these chunks: 16 on H100."}, channels, 1, most_channels);
    protocol.channels = static_cast<std::uint32_t>(channels);
}

/// Describes the keys that choose an algorithm, in a row or in one of its candidates.
void describe(Fields& fields, Candidate& candidate, const std::vector<std::string>& names, const char* unless) {
    candidate.algorithm.name = names.front();
    const Key key{"algorithm", "Name of an algorithm of the operation.", unless == nullptr, false, unless};
    fields.one_of(key, candidate.algorithm.name, names);
    describe_algorithm(fields, candidate.algorithm);
    fields.section({"protocol", "Protocol of its messages, if it differs from the transport's."},
                   [&](Fields& inner) { describe(inner, candidate.protocol); });
}

void describe(Fields& fields, SelectionCondition& condition) {
    constexpr QuantityRange sizes{.least = 1, .most = 1e15};
    fields.quantity({"below", "Upper bound of the buffer's size, exclusive: `2 KiB`."}, condition.below_bytes,
                    Dimension::bytes, sizes);
    fields.quantity({"block_below", "Upper bound of the size of one N-th of the buffer among N ranks, exclusive."},
                    condition.block_below_bytes, Dimension::bytes, sizes);
    const auto ranks = [&](Key key, std::optional<std::uint32_t>& value) {
        std::int64_t number = 0;
        fields.integer(key, number, 1, largest_group);
        if (fields.given(key.name)) value = static_cast<std::uint32_t>(number);
    };
    ranks({"ranks_below", "Upper bound of the number of ranks, exclusive."}, condition.ranks_below);
    ranks({"ranks_from", "Minimum number of ranks."}, condition.ranks_from);
    ranks({"nodes_below", "Upper bound of the number of nodes that have a rank, exclusive: 2 for groups in one node."},
          condition.nodes_below);
    ranks({"nodes_from", "Minimum number of nodes that have a rank."}, condition.nodes_from);
    ranks({"node_ranks_below", "Upper bound of the number of ranks on a node, exclusive: 2 for one rank on each."},
          condition.node_ranks_below);
    fields.flag({"even_ranks", "Parity of the number of ranks: even (`true`) or odd (`false`). Default: both."},
                condition.even_ranks);
    fields.flag({"power_of_two", "Number of ranks: a power of two (`true`), or not (`false`). Default: both."},
                condition.power_of_two);
}

void describe(Fields& fields, SelectionRow& row) {
    Candidate single;
    std::string& operation = single.algorithm.operation;
    fields.one_of({"operation", "Operation to which the row applies.", true}, operation, operation_names());
    const bool known = fields.given("operation") && fields.sound();
    std::vector<std::string> names = known ? algorithm_names(operation) : all_algorithms();
    if (!known || operation == "allreduce") names.push_back(in_network_allreduce);
    describe(fields, row.condition);
    describe(fields, single, names, "least_time");
    fields.each(
        {"least_time",
         "Candidates that are possible; the one with the minimum predicted time is chosen, by NCCL's formulas; "
         "replaces `algorithm`."},
        [&](Fields& inner) {
            Candidate candidate;
            candidate.algorithm.operation = operation;
            describe(inner, candidate, names, nullptr);
            if (inner.sound() && !is_predictable(operation, candidate.algorithm.name))
                inner.reject(
                    "algorithm",
                    fmt::format("there is no predicted time for '{}' of {}", candidate.algorithm.name, operation),
                    "there is one for 'ring' of allreduce, reduce-scatter and allgather, for 'pat' of the "
                    "last two, for 'nccl-tree', 'double-binary-tree' and 'in-network' of allreduce, and for 'direct' "
                    "of all-to-all");
            row.candidates.push_back(std::move(candidate));
        });
    if (row.candidates.empty()) return row.candidates.push_back(std::move(single));
    for (const char* key : {"algorithm", "overlay", "segment", "peers", "protocol"})
        if (fields.given(key))
            fields.reject(key, fmt::format("'{}' and 'least_time' exclude each other", key),
                          "each candidate has its own");
}

}  // namespace

void describe(Fields& fields, Selection& selection) {
    fields.text({"name", "Name shown in results and explanations."}, selection.name);
    std::set<std::string> ended;
    fields.each(
        {"rows", "Rows of the table; the first row of an operation whose conditions are all met applies.", true},
        [&](Fields& inner) {
            SelectionRow row;
            describe(inner, row);
            if (inner.sound() && ended.contains(row.operation()))
                inner.reject("operation", fmt::format("this row for {} is never reached", row.operation()),
                             "an earlier row has no condition");
            if (row.condition.always()) ended.insert(row.operation());
            selection.rows.push_back(std::move(row));
        });
    if (!fields.sound()) return;
    for (const std::string& operation : operation_names())
        if (selection.covers(operation) && !ended.contains(operation))
            fields.reject("rows", fmt::format("all rows for {} have conditions, so possibly none applies", operation),
                          "add a last row without conditions");
}

void describe_selection(Fields& fields, std::optional<Selection>& selection) {
    fields.section({"selection",
                    "Selection of the algorithm by size and group, in place of `algorithm`: the keys of a table, its "
                    "file, or the name of one in platforms/selections/.",
                    false, true},
                   [&](Fields& inner) { describe(inner, selection.emplace()); });
}

void describe_selection(Fields& fields, std::shared_ptr<const Selection>& selection) {
    fields.section({"selection",
                    "How the library chooses algorithms and protocols of collectives whose algorithm is not written: "
                    "the keys of a table, its file, or the name of one in platforms/selections/.",
                    false, true},
                   [&](Fields& inner) {
                       Selection own;
                       describe(inner, own);
                       selection = std::make_shared<const Selection>(std::move(own));
                   });
}

}  // namespace syncline::config
