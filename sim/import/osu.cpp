#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/number.hpp"
#include "sim/import/measured_logs.hpp"

// OSU micro-benchmarks (mvapich.cse.ohio-state.edu): `# OSU MPI-CUDA Allreduce Latency Test v7.5`, then lines of size
// and time in us. The number of ranks is not printed.

namespace syncline::config {

namespace {

/// The tests, our operations, and whether a size is that which a rank contributes, or sends to each other one.
constexpr struct {
    const char *name, *operation;
    bool of_a_rank;
} tests[] = {{"Allreduce", "allreduce", false}, {"Reduce_scatter", "reduce-scatter", false},
             {"Broadcast", "broadcast", false}, {"Reduce", "reduce", false},
             {"Allgather", "allgather", true},  {"All-to-All Personalized Exchange", "all-to-all", true},
             {"Gather", "gather", true},        {"Scatter", "scatter", true}};

/// What the first comment says.
struct Title {
    PlacedText line;
    std::string name, version;  ///< "Allreduce Latency", "7.5"
};

std::optional<Title> title_of(const Mark& start) {
    for (const PlacedText& line : lines_of(start)) {
        const std::size_t from = line.text.find("# OSU "), to = line.text.rfind(" Test");
        if (from != 0 || to == std::string_view::npos) continue;
        std::string_view name = line.text.substr(0, to).substr(std::string_view("# OSU ").size());
        name.remove_prefix(std::min(name.find(' '), name.size()));  // MPI, MPI-CUDA, NCCL
        if (name.empty()) continue;
        const std::size_t version = line.text.find(" v", to);
        return Title{line, std::string(name.substr(1)),
                     version == std::string_view::npos ? "" : std::string(line.text.substr(version + 2))};
    }
    return std::nullopt;
}

}  // namespace

bool is_osu(const ForeignFile& file) {
    return file.document.kind == Node::Kind::null && title_of(file.start).has_value();
}

void read_osu(const ForeignFile& file, Imported& imported) {
    Findings& findings = imported.findings;
    const std::optional<Title> title = title_of(file.start);
    if (!title) return findings.fail(file.start, "there is no line `# OSU … Test`");
    MeasuredCollective measured{fmt::format("OSU {} {}", title->name, title->version), "", 0, title->line.mark, {}};
    const bool one_way = title->name == "Latency", bandwidth = title->name == "Bandwidth";
    for (const auto& test : tests)
        if (title->name == std::string(test.name) + " Latency") {
            measured.operation = test.operation;
            imported.sizes_of_a_rank = test.of_a_rank;
        }
    if (one_way || bandwidth) {
        // A message from one rank to another.
        measured.operation = "broadcast";
        measured.ranks = 2;
        findings.note(title->line.mark,
                      "a message is written as a broadcast between two ranks, in one node unless they are placed: "
                      "`--set collective.placement=round-robin`");
    }
    if (measured.operation.empty())
        return findings.fail(title->line.mark, fmt::format("the test '{}' is not read", title->name),
                             "latencies of blocking collectives, `osu_latency` and `osu_bw` are");
    // With 64 messages under way a small one shows none of its latency.
    constexpr std::uint64_t least_alone = 1 << 20;
    constexpr std::uint64_t most_bytes = 1'000'000'000'000;
    std::size_t hidden = 0;
    for (const PlacedText& line : lines_of(file.start)) {
        if (line.text.front() == '#') continue;
        const std::vector<PlacedText> words = words_of(line);
        if (words.size() < 2) continue;
        const auto bytes = number_in<std::uint64_t>(words[0].text);
        if (!bytes || *bytes == 0) continue;
        const auto value = number_in<double>(words[1].text);
        if (*bytes > most_bytes || !value || !std::isfinite(*value) || *value <= 0) {
            findings.fail(words[1].mark, fmt::format("'{} {}' is no size with a time", words[0].text, words[1].text));
            continue;
        }
        // MB/s are 1e6 B/s, so that bytes divided by them are us.
        if (!bandwidth)
            measured.points.push_back({*bytes, *value, words[1].mark});
        else if (*bytes >= least_alone)
            measured.points.push_back({*bytes, static_cast<double>(*bytes) / *value, words[1].mark});
        else
            ++hidden;
    }
    if (hidden > 0)
        findings.note(
            title->line.mark,
            fmt::format("{} sizes below 1 MiB left out: 64 messages are under way, which hide latencies", hidden));
    add_measured(imported, measured);
}

}  // namespace syncline::config
