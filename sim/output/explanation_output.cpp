#include "sim/output/explanation_output.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "sim/base/counted.hpp"
#include "sim/base/pattern.hpp"
#include "sim/base/percent.hpp"
#include "sim/base/version.hpp"
#include "sim/output/cells.hpp"
#include "sim/output/fidelity_text.hpp"
#include "sim/output/notes.hpp"
#include "sim/output/row_groups.hpp"
#include "sim/output/time_bars.hpp"
#include "sim/output/writers.hpp"

namespace syncline {

using namespace text;

namespace {

/// The parts of a rank's time, by field.
constexpr std::pair<const char*, double RankParts::*> rank_parts[] = {
    {"compute_s", &RankParts::compute_s},
    {"hidden_communication_s", &RankParts::hidden_communication_s},
    {"exposed_communication_s", &RankParts::exposed_communication_s},
    {"reduction_s", &RankParts::reduction_s},
    {"copies_s", &RankParts::copies_s},
    {"waiting_s", &RankParts::waiting_s},
    {"idle_s", &RankParts::idle_s}};

Json object(const RankParts& parts, std::size_t rank) {
    Json json{{"rank", rank}};
    for (const auto& [field, part] : rank_parts) json[field] = parts.*part;
    return json;
}

Json object(const LinkParts& link) {
    const bool recorded = !link.profile.empty();
    Json users = Json::array();
    for (const LinkShare& share : link.shares) users.push_back({{"what", share.what}, {"bytes", share.bytes}});
    return {{"link", link.link},
            {"bandwidth_Bps", link.bandwidth_Bps},
            {"bytes", link.bytes},
            {"busy_s", recorded ? Json(link.busy_s) : Json(nullptr)},
            {"utilisation", link.utilisation},
            {"lost_s", recorded ? Json(link.lost_s) : Json(nullptr)},
            {"alike", link.alike},
            {"profile", link.profile},
            {"users", std::move(users)}};
}

Json object(const Theory& theory) {
    Json terms = Json::array(), differences = Json::array();
    for (const TheoryTerm& term : theory.terms)
        terms.push_back({{"symbol", term.symbol},
                         {"meaning", term.meaning},
                         {"value", number_or_null(term.value)},
                         {"unit", term.unit}});
    for (const Difference& one : theory.differences)
        differences.push_back({{"cause", one.cause}, {"seconds", one.seconds}, {"text", one.text}});
    return {{"formula", theory.formula},
            {"terms", std::move(terms)},
            {"closed_form_s", number_or_null(theory.closed_form_s)},
            {"lower_bound_s", theory.lower_bound_s},
            {"lower_bound_of", theory.lower_bound},
            {"simulated_s", theory.simulated_s},
            {"differences", std::move(differences)}};
}

Json object(const WhatIf& what_if) {
    return {{"change", what_if.change},
            {"text", what_if.text},
            {"iteration_time_s", number_or_null(what_if.iteration_time_s)},
            {"throughput_samples_per_s", number_or_null(what_if.throughput_samples_per_s)},
            {"speed_up", what_if.problem.empty() ? Json(what_if.speed_up) : Json(nullptr)},
            {"problem", text_or_null(what_if.problem)}};
}

std::string parts_table(const Explanation& e, const TableLayout& layout) {
    std::vector<Column> columns{{"rank"},
                                {"compute"},
                                {"(overlapped comm.)"},
                                {"exposed comm."},
                                {"reduction", "", Shown::if_any},
                                {"copies", "", Shown::if_any},
                                {"waiting", "", Shown::if_any},
                                {"idle", "", Shown::if_any},
                                {"total"}};
    const auto cells = [](const RankParts& parts) {
        return Row{seconds(parts.compute_s),
                   fmt::format("({})", seconds(parts.hidden_communication_s)),
                   seconds(parts.exposed_communication_s),
                   seconds(parts.reduction_s),
                   seconds(parts.copies_s),
                   seconds(parts.waiting_s),
                   seconds(parts.idle_s),
                   seconds(parts.sum_s())};
    };
    const auto add = [&](const std::string& name, Row row) {
        row.insert(row.begin(), name);
        add_row(columns, row);
    };
    RankParts mean;
    for (const auto& [field, part] : rank_parts) {
        for (const RankParts& parts : e.ranks) mean.*part += parts.*part;
        mean.*part /= static_cast<double>(e.ranks.size());
    }
    std::vector<std::pair<Row, std::vector<std::size_t>>> rows{{cells(e.ranks[e.last_rank]), {e.last_rank}}};
    for (std::size_t rank = 0; rank < e.ranks.size(); ++rank) {
        if (rank == e.last_rank) continue;
        const Row row = cells(e.ranks[rank]);
        const auto same = std::ranges::find(rows, row, &std::pair<Row, std::vector<std::size_t>>::first);
        if (same == rows.end())
            rows.push_back({row, {rank}});
        else
            same->second.push_back(rank);
    }
    constexpr std::size_t few = 8;
    if (rows.size() > few) rows.resize(1);
    for (const auto& [row, ranks] : rows) {
        std::string name = fmt::format("{}", ranks.front());
        if (ranks.front() == e.last_rank) name += " (last)";
        if (ranks.size() > 1) name += fmt::format(" and {} more", ranks.size() - 1);
        add(name, row);
    }
    if (rows.size() > 1 || rows.front().second.size() < e.ranks.size()) add("mean", cells(mean));
    return Table(std::move(columns), layout).text();
}

/// Returns a line about the exchanges inside layers, each of which is many small tasks; empty if there are none.
std::string core_phases_line(const Explanation& e) {
    std::vector<std::string> parts;
    double sum = 0;
    for (const PhaseShare& one : e.phases) {
        if (one.phase != "context" && one.phase != "dispatch" && one.phase != "combine") continue;
        parts.push_back(fmt::format("{} {}", percent(one.share), one.phase));
        sum += one.share;
    }
    if (parts.empty()) return "";
    return fmt::format("\n{} between ranks that divide experts or sequences: {}", percent(sum), fmt::join(parts, ", "));
}

std::string path_table(const Explanation& e, const TableLayout& layout) {
    constexpr std::size_t shown = 10;
    std::vector<Row> rows{{"share", "time", "kind", "task", "link"}};
    std::map<PathKind, double> by_kind;
    for (const PathShare& share : e.shares) by_kind[share.kind] += share.share;
    std::string kinds;
    for (const auto& [kind, share] : by_kind)
        kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", percent(share), name_of(kind));
    kinds += core_phases_line(e);
    auto groups = grouped(
        e.shares, &PathShare::what,
        [](const Group<PathShare>& group, const PathShare& other) {
            return group.first.kind == other.kind &&
                   same_time(group.first.seconds / static_cast<double>(group.count), other.seconds);
        },
        [](Group<PathShare>& group, const PathShare& other) {
            group.first.seconds += other.seconds;
            group.first.share += other.share;
            group.first.links += other.links;
        });
    std::ranges::stable_sort(groups, std::greater<>{}, [](const auto& group) { return group.first.seconds; });
    for (std::size_t i = 0; i < std::min(shown, groups.size()); ++i) {
        const PathShare& share = groups[i].first;
        rows.push_back({percent(share.share), seconds(share.seconds), name_of(share.kind),
                        name_of_group(groups[i], &PathShare::what),
                        share.links == 0   ? "-"
                        : share.links == 1 ? share.link
                                           : fmt::format("{} and {} more", share.link, share.links - 1)});
    }
    return kinds + "\n\n" + aligned(rows, 3, layout) + and_more(groups, shown);
}

std::string links_table(const Explanation& e, const TableLayout& layout) {
    const bool recorded = e.level == "messages";
    std::vector<Row> rows{{"link", "bytes", "utilisation", "busy", "lost to sharing", "top user"}};
    std::set<std::string> told;
    for (const LinkParts& link : e.links) {
        if (link.alike > 1 && !told.insert(pattern_of(link.link)).second) continue;
        rows.push_back({name_of_group(Group<LinkParts>{link, link.alike}, &LinkParts::link), bytes(link.bytes),
                        percent(link.utilisation),
                        recorded ? percent(e.window_s > 0 ? link.busy_s / e.window_s : 0) : "-",
                        recorded ? seconds(link.lost_s) : "-", link.shares.empty() ? "-" : link.shares.front().what});
    }
    return aligned(rows, 1, layout);
}

std::string buckets_table(const Explanation& e, const TableLayout& layout) {
    constexpr std::size_t shown = 10;
    auto most = grouped(
        e.buckets, &BucketParts::what,
        [](const Group<BucketParts>& group, const BucketParts& other) { return group.first.bytes == other.bytes; },
        [](Group<BucketParts>& group, const BucketParts& other) {
            group.first.start_s = std::min(group.first.start_s, other.start_s);
            group.first.end_s = std::max(group.first.end_s, other.end_s);
            group.first.communication_s += other.communication_s;
            group.first.exposed_s += other.exposed_s;
        });
    std::ranges::stable_sort(most, std::greater<>{}, [](const auto& group) { return group.first.exposed_s; });
    std::vector<Row> rows{{"exchange", "bytes", "start", "end", "in flight", "exposed"}};
    for (std::size_t i = 0; i < std::min(shown, most.size()); ++i) {
        const BucketParts& one = most[i].first;
        const bool several = most[i].count > 1;
        rows.push_back({name_of_group(most[i], &BucketParts::what), bytes(one.bytes) + (several ? " each" : ""),
                        seconds(one.start_s), seconds(one.end_s), seconds(one.communication_s),
                        seconds(one.exposed_s)});
    }
    return aligned(rows, 0, layout) + and_more(most, shown);
}

std::string layers_table(const Explanation& e, const TableLayout& layout) {
    constexpr std::size_t shown = 5;
    auto most = grouped(
        e.layers, &LayerParts::layer,
        [](const Group<LayerParts>& group, const LayerParts& other) {
            const auto count = static_cast<double>(group.count);
            return same_time(group.first.forward_s / count, other.forward_s) &&
                   same_time(group.first.backward_s / count, other.backward_s);
        },
        [](Group<LayerParts>& group, const LayerParts& other) {
            group.first.forward_s += other.forward_s;
            group.first.backward_s += other.backward_s;
        });
    std::ranges::stable_sort(most, std::greater<>{},
                             [](const auto& group) { return group.first.forward_s + group.first.backward_s; });
    std::vector<Row> rows{{"layer", "forward", "backward"}};
    for (std::size_t i = 0; i < std::min(shown, most.size()); ++i)
        rows.push_back({name_of_group(most[i], &LayerParts::layer), seconds(most[i].first.forward_s),
                        seconds(most[i].first.backward_s)});
    return aligned(rows, 0, layout) + and_more(most, shown);
}

std::string kernels_table(const Explanation& e, const TableLayout& layout) {
    constexpr std::size_t shown = 20;
    std::vector<Row> rows{{"kernel", "pass", "count", "each", "all", "bound by"}};
    double sum_s = 0, rest_s = 0;
    for (std::size_t i = 0; i < e.kernels.size(); ++i) {
        const KernelParts& one = e.kernels[i];
        sum_s += one.seconds;
        if (i >= shown) {
            rest_s += one.seconds;
            continue;
        }
        const bool kernel = one.pass.has_value();
        rows.push_back({one.kernel, kernel ? name_of(*one.pass) : "-", kernel ? fmt::format("{:.6g}", one.count) : "-",
                        kernel ? seconds(one.seconds / one.count) : "-", seconds(one.seconds),
                        one.bound ? name_of(*one.bound) : "-"});
    }
    if (e.kernels.size() > shown)
        rows.push_back({fmt::format("{} more", e.kernels.size() - shown), "", "", "", seconds(rest_s), ""});
    rows.push_back({"total", "", "", "", seconds(sum_s), ""});
    return aligned(rows, 2, layout);
}

std::string value_of(const TheoryTerm& term) {
    if (!term.value) return "-";
    if (term.unit == "s") return seconds(*term.value);
    if (term.unit == "B") return bytes(static_cast<std::uint64_t>(*term.value));
    return fmt::format("{:.4g}{}{}", *term.value, term.unit.empty() ? "" : " ", term.unit);
}

/// Describes the formula and, if there is no closed form of the iteration, the reason, which may replace or follow it.
std::string formula_text(const Theory& theory) {
    const std::string none = "; " + theory.why_not;
    if (theory.formula == theory.why_not || theory.formula == no_exchange)
        return fmt::format("  closed form: {}{}\n", theory.formula,
                           theory.formula == no_exchange && !theory.why_not.empty() ? none : "");
    const bool follows = theory.formula.ends_with(none);
    std::string text = fmt::format("  formula, for exchanges of S bytes: {}\n",
                                   theory.formula.substr(0, theory.formula.size() - (follows ? none.size() : 0)));
    if (!theory.why_not.empty()) text += fmt::format("  closed form of the iteration: {}\n", theory.why_not);
    return text;
}

std::string theory_text(const Theory& theory) {
    std::string text = fmt::format("lower bound {} ({}), closed form {}, simulated {}\n", seconds(theory.lower_bound_s),
                                   theory.lower_bound, seconds(theory.closed_form_s), seconds(theory.simulated_s));
    text += formula_text(theory);
    for (const TheoryTerm& term : theory.terms)
        text += fmt::format("  {} = {}: {}\n", term.symbol, value_of(term), term.meaning);
    for (const Difference& one : theory.differences) {
        const double size_s = std::abs(one.seconds);
        std::string much;
        if (size_s > 1e-9 * theory.simulated_s)
            much = fmt::format(" {} {}", one.seconds > 0 ? "costs" : "saves", seconds(size_s));
        text += fmt::format("- {}{}: {}\n", one.cause, much, one.text);
    }
    return text;
}

/// Formats a change of the throughput: "+12.3 %", "-12.3 %", "< 0.1 %", "0 %".
std::string gain(double part) {
    return (part >= 0.001 ? "+" : "") + percent(std::abs(part) < 1e-6 ? 0 : part);
}

std::string what_if_table(const std::vector<WhatIf>& all, const TableLayout& layout) {
    std::vector<Row> rows{{"change", "iteration", "samples/s", "gain", "description"}};
    std::string left_out;
    for (const WhatIf& one : all) {
        if (one.problem.empty())
            rows.push_back({one.change, seconds(one.iteration_time_s),
                            one.throughput_samples_per_s ? fmt::format("{:.1f}", *one.throughput_samples_per_s) : "-",
                            gain(one.speed_up - 1), one.text});
        else
            left_out += fmt::format("not simulated: {}: {}\n", one.change, one.problem);
    }
    return (rows.size() > 1 ? aligned(rows, 1, layout) : "") + left_out;
}

std::string to_table(const Explanation& e, const TableLayout& layout) {
    std::string text = fmt::format("{}: an iteration of {} on {} takes {}\n\n", e.result.variant, e.result.workload,
                                   counted(e.result.ranks, "rank"), seconds(e.result.time.iteration_s));
    text += fmt::format("{}\n\n", fmt::join(broken(e.diagnosis, layout.width), "\n"));
    if (const std::string bars = time_bars({&e.result}, layout); !bars.empty()) text += bars + "\n";
    if (!e.level_reason.empty()) text += fmt::format("Exchanges are not broken down: {}.\n\n", e.level_reason);
    if (const std::string note = folded(e.result.folded); !note.empty()) text += note + "\n\n";
    if (const std::string lines = notes(e.result.notes); !lines.empty()) text += lines + "\n";
    if (e.iterations > 1) text += fmt::format("Times below are totals over {} iterations.\n\n", e.iterations);
    text += "Time breakdown by rank\n\n" + parts_table(e, layout);
    if (!e.layers.empty())
        text += "\nComputation by layer on the rank that finishes last\n\n" + layers_table(e, layout);
    if (!e.kernels.empty()) text += "\nWhat that rank's device computes\n\n" + kernels_table(e, layout);
    if (e.optimizer_step_s > 0 && e.kernels.empty())
        text += fmt::format("\nThe optimizer's step takes {} there.\n", seconds(e.optimizer_step_s));
    if (e.offload_copies_s > 0)
        text +=
            fmt::format("Copies of gradients to the host and of weights back take {}.\n", seconds(e.offload_copies_s));
    if (!e.buckets.empty()) text += "\nExchanges of that rank, most exposed first\n\n" + buckets_table(e, layout);
    text += "\nCritical path\n\n" + path_table(e, layout);
    if (!e.links.empty()) text += "\nBusiest links\n\n" + links_table(e, layout);
    text += "\nTheory and simulation\n\n" + theory_text(e.theory);
    if (!e.what_if.empty()) text += "\nWhat-if analysis\n\n" + what_if_table(e.what_if, layout);
    return text;
}

}  // namespace

const char* name_of(PathKind kind) {
    constexpr std::array names{"compute", "transfer", "latency", "overhead", "copy", "reduction", "timer", "waiting"};
    return names[static_cast<std::size_t>(kind)];
}

Json object(const Explanation& e) {
    Json ranks = Json::array(), layers = Json::array(), kernels = Json::array(), buckets = Json::array(),
         path = Json::array(), shares = Json::array(), phases = Json::array(), links = Json::array(),
         changes = Json::array();
    for (std::size_t rank = 0; rank < e.ranks.size(); ++rank) ranks.push_back(object(e.ranks[rank], rank));
    for (const LayerParts& layer : e.layers)
        layers.push_back({{"layer", layer.layer}, {"forward_s", layer.forward_s}, {"backward_s", layer.backward_s}});
    for (const KernelParts& one : e.kernels)
        kernels.push_back({{"kernel", one.kernel},
                           {"pass", one.pass ? Json(name_of(*one.pass)) : Json(nullptr)},
                           {"bound", one.bound ? Json(name_of(*one.bound)) : Json(nullptr)},
                           {"count", one.pass ? Json(one.count) : Json(nullptr)},
                           {"seconds", one.seconds}});
    for (const BucketParts& bucket : e.buckets)
        buckets.push_back({{"what", bucket.what},
                           {"bytes", bucket.bytes},
                           {"start_s", bucket.start_s},
                           {"end_s", bucket.end_s},
                           {"communication_s", bucket.communication_s},
                           {"exposed_s", bucket.exposed_s}});
    for (const PathPiece& piece : e.path)
        path.push_back({{"kind", name_of(piece.kind)},
                        {"what", piece.what},
                        {"where", piece.where},
                        {"link", text_or_null(piece.link)},
                        {"start_s", piece.start_s},
                        {"end_s", piece.end_s}});
    for (const PathShare& share : e.shares)
        shares.push_back({{"kind", name_of(share.kind)},
                          {"what", share.what},
                          {"link", text_or_null(share.link)},
                          {"links", share.links},
                          {"pieces", share.pieces},
                          {"seconds", share.seconds},
                          {"share", share.share}});
    for (const PhaseShare& one : e.phases)
        phases.push_back({{"phase", one.phase}, {"seconds", one.seconds}, {"share", one.share}});
    for (const LinkParts& link : e.links) links.push_back(object(link));
    for (const WhatIf& change : e.what_if) changes.push_back(object(change));
    return {{"variant", e.result.variant},
            {"diagnosis", e.diagnosis},
            {"limited_by", text_or_null(e.result.limited_by)},
            {"iteration_time_s", e.result.time.iteration_s},
            {"level", e.level},
            {"level_reason", text_or_null(e.level_reason)},
            {"iterations", e.iterations},
            {"window_s", e.window_s},
            {"last_rank", e.last_rank},
            {"uncontended_iteration_time_s", number_or_null(e.uncontended_time_s)},
            {"ranks", std::move(ranks)},
            {"layers", std::move(layers)},
            {"kernels", std::move(kernels)},
            {"optimizer_step_s", e.optimizer_step_s},
            {"offload_copies_s", e.offload_copies_s},
            {"buckets", std::move(buckets)},
            {"critical_path_shares", std::move(shares)},
            {"critical_path_phases", std::move(phases)},
            {"critical_path", std::move(path)},
            {"links", std::move(links)},
            {"theory", object(e.theory)},
            {"what_if", std::move(changes)},
            {"notes", e.result.notes}};
}

std::string to_json(const ExplainReport& report) {
    Json explanations = Json::array();
    for (const Explanation& one : report.explanations) explanations.push_back(object(one));
    return dumped(Json{
        {"schema_version", result_schema_version}, {"name", report.name}, {"explanations", std::move(explanations)}});
}

std::string to_csv(const ExplainReport& report) {
    std::vector<std::string> cells{"variant", "rank", "window_s"};
    for (const auto& [name, part] : rank_parts) cells.emplace_back(name);
    std::string text = line(cells);
    for (const Explanation& e : report.explanations)
        for (std::size_t rank = 0; rank < e.ranks.size(); ++rank) {
            cells = {quoted(e.result.variant), field(rank), field(e.window_s)};
            for (const auto& [name, part] : rank_parts) cells.push_back(field(e.ranks[rank].*part));
            text += line(cells);
        }
    return text;
}

std::string to_table(const ExplainReport& report, const TableLayout& layout) {
    std::string text;
    for (const Explanation& one : report.explanations) text += (text.empty() ? "" : "\n\n") + to_table(one, layout);
    return text;
}

}  // namespace syncline
