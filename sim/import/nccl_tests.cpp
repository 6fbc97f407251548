#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "sim/base/number.hpp"
#include "sim/import/measured_logs.hpp"

// NVIDIA/nccl-tests: what its programs print, in all versions since 2.0 (src/common.cu, src/util.cu), and the JSON of
// `-J`. The size of a row is that of the whole buffer, as in our key `bytes`.

namespace syncline::config {

namespace {

/// The programs, and our operations.
constexpr std::pair<const char*, const char*> programs[] = {
    {"all_reduce_perf", "allreduce"}, {"all_gather_perf", "allgather"}, {"reduce_scatter_perf", "reduce-scatter"},
    {"alltoall_perf", "all-to-all"},  {"broadcast_perf", "broadcast"},  {"scatter_perf", "scatter"},
    {"gather_perf", "gather"},        {"reduce_perf", "reduce"}};

/// Returns our operation of a program that the text names; "" if it names none.
std::string operation_in(std::string_view text) {
    for (const auto& [program, operation] : programs) {
        const std::size_t at = text.find(program);
        if (at == std::string_view::npos) continue;
        if (at == 0 || (text[at - 1] != '_' && std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0))
            return operation;
    }
    return "";
}

/// Returns another program of nccl-tests that the text names; "" if it names none.
std::string other_program_in(std::string_view text) {
    for (const char* const program : {"sendrecv_perf", "hypercube_perf"})
        if (text.find(program) != std::string_view::npos) return program;
    return "";
}

bool is_comment(const PlacedText& line) {
    const std::size_t first = line.text.find_first_not_of(" \t");
    return first != std::string_view::npos && line.text[first] == '#';
}

/// What rows cannot be used for, with the first of them.
struct LeftOutRows {
    std::size_t number = 0;
    Mark first;

    void add(const Mark& mark) {
        if (number++ == 0) first = mark;
    }
};

void note_rows(Findings& findings, const LeftOutRows& rows, const char* what) {
    if (rows.number > 0)
        findings.note(rows.first, fmt::format("{} row{} {}", rows.number, rows.number == 1 ? "" : "s", what));
}

/// Reads the lines of a log.
class NcclTests {
public:
    NcclTests(const ForeignFile& file, Imported& imported) : findings_(imported.findings), imported_(imported) {
        measured_.source = "nccl-tests";
        measured_.mark = file.start;
        for (const PlacedText& line : lines_of(file.start)) {
            if (is_comment(line))
                read_comment(line);
            else if (!read_row(line))
                look_for_program(line);
        }
    }

    void finish() {
        if (measured_.operation.empty()) measured_.operation = started_;
        if (measured_.operation.empty() && !other_.empty())
            findings_.fail(measured_.mark, fmt::format("the log is of {}, which is no collective of ours", other_));
        measured_.ranks = static_cast<std::int64_t>(ranks_.size());
        imported_.hosts = static_cast<std::int64_t>(hosts_.size());
        note_rows(findings_, wrong_, "with wrong results (#wrong) left out");
        note_rows(findings_, halves_, "without out-of-place times left out");
        note_rows(findings_, empty_, "of no bytes left out");
        note_rows(findings_, unchecked_, "whose results were not checked (N/A)");
        findings_.note(measured_.mark, "times out of place are taken; those in place and bandwidths are not used");
        add_measured(imported_, measured_);
    }

private:
    void read_comment(const PlacedText& line) {
        std::vector<PlacedText> words = words_of(line);
        if (words.front().text == "#") words.erase(words.begin());
        if (words.empty()) return;
        const auto is = [&](std::size_t number, std::string_view text) {
            return words.size() > number && words[number].text == text;
        };
        if (is(0, "nThread")) return begin(line);
        if (is(0, "nccl-tests") && is(1, "version") && words.size() > 2)
            measured_.source = fmt::format("nccl-tests {}", words[2].text);
        if (is(0, "Collective") && is(2, "starting:") && words.size() > 3) return begin_named(words[3]);
        if (is(0, "Rank") && words.size() > 2) return read_rank(words);
        if (is(0, "size") && is(1, "count")) read_header(words);
    }

    /// A run begins. Of a second one in the file the operation must be the same.
    void begin(const PlacedText& line) {
        if (!measured_.points.empty() && !named_)
            findings_.fail(line.mark, "another run begins here, and the file does not say of which operation",
                           "put each run into a file of its own");
        ranks_.clear();
        hosts_.clear();
        header_.clear();
    }

    void begin_named(const PlacedText& word) {
        named_ = true;
        const std::string operation = operation_in(word.text);
        if (operation.empty())
            return findings_.fail(word.mark, fmt::format("'{}' is no collective of ours", word.text));
        if (!measured_.operation.empty() && measured_.operation != operation)
            return findings_.fail(word.mark, "this file has runs of several operations",
                                  "put each operation into a file of its own");
        measured_.operation = operation;
    }

    void read_rank(const std::vector<PlacedText>& words) {
        constexpr std::size_t most_ranks = 1 << 20;
        const auto rank = number_in<std::int64_t>(words[1].text);
        if (!rank || *rank < 0 || ranks_.size() >= most_ranks) return;
        ranks_.insert(*rank);
        for (std::size_t i = 2; i + 1 < words.size(); ++i) {
            if (words[i].text == "on") hosts_.insert(std::string(words[i + 1].text));
            if (words[i].text == "Group" && words[i + 1].text != "0" && !std::exchange(split_, true))
                findings_.fail(words[i + 1].mark, "several groups measure at once, and share links",
                               "measure without NCCL_TESTS_SPLIT");
        }
    }

    /// Finds the columns: until 2.10 only tests with a reduction or a root have them.
    void read_header(const std::vector<PlacedText>& words) {
        header_.clear();
        time_ = wrong_column_ = 0;
        for (const PlacedText& word : words) {
            if (word.text == "timestamp") break;
            const std::size_t place = header_.size();
            if (time_ == 0 && word.text == "cputime")
                findings_.fail(word.mark, "these are times of the CPU (`-C`), not of the collectives");
            if (time_ == 0 && (word.text == "time" || word.text == "cputime")) time_ = place;
            if (wrong_column_ == 0 && (word.text == "#wrong" || word.text == "error")) wrong_column_ = place;
            header_.emplace_back(word.text);
        }
    }

    /// Returns whether the line is a row.
    bool read_row(const PlacedText& line) {
        if (time_ == 0 || wrong_column_ <= time_) return false;
        const std::vector<PlacedText> words = words_of(line);
        constexpr std::size_t least_words = 9;  // a row with times in place only
        if (words.size() < least_words) return false;
        const auto bytes = number_in<std::uint64_t>(words[0].text), count = number_in<std::uint64_t>(words[1].text);
        if (!bytes || !count) return false;
        if (words.size() < header_.size()) {
            halves_.add(line.mark);
            return true;
        }
        const PlacedText &time = words[time_], &wrong = words[wrong_column_];
        const auto us = number_in<double>(time.text);
        if (!us || !std::isfinite(*us) || *us <= 0) {
            findings_.fail(time.mark, fmt::format("'{}' is no time in us", time.text));
            return true;
        }
        const auto elements = number_in<double>(wrong.text);
        const bool counted = header_[wrong_column_] == "#wrong";  // `error` is the largest difference
        if (counted && elements && *elements > 0) {
            wrong_.add(wrong.mark);
        } else if (*bytes == 0) {
            empty_.add(line.mark);
        } else {
            if (!elements) unchecked_.add(wrong.mark);
            add_point(line, {*bytes, *us, time.mark});
        }
        return true;
    }

    void add_point(const PlacedText& line, const MeasuredPoint& point) {
        constexpr std::size_t most_rows = 100'000;
        constexpr std::uint64_t most_bytes = 1'000'000'000'000'000;
        if (measured_.points.size() >= most_rows)
            throw ConfigError(
                {{locate(line.mark), "this log has too many rows", fmt::format("the maximum is {}", most_rows)}});
        if (point.bytes > most_bytes) return findings_.fail(line.mark, "this size is beyond 1 PB");
        measured_.points.push_back(point);
    }

    /// A line of the script that begins the run may name the program.
    void look_for_program(const PlacedText& line) {
        if (started_.empty()) started_ = operation_in(line.text);
        if (other_.empty()) other_ = other_program_in(line.text);
    }

    Findings& findings_;
    Imported& imported_;
    MeasuredCollective measured_;
    std::string started_, other_;
    std::set<std::int64_t> ranks_;
    std::set<std::string> hosts_;
    bool split_ = false, named_ = false;
    std::vector<std::string> header_;
    std::size_t time_ = 0, wrong_column_ = 0;
    LeftOutRows wrong_, halves_, empty_, unchecked_;
};

/// Reads the file that `-J` writes.
void read_json(const ForeignFile& file, Imported& imported) {
    Findings& findings = imported.findings;
    MeasuredCollective measured{"nccl-tests", "", 0, file.start, {}};
    if (const Node* const arguments = file.document.find("args"); arguments && !arguments->items.empty())
        measured.operation = operation_in(arguments->items.front().scalar);
    if (const Node* const config = file.document.find("config")) {
        ForeignKeys keys(*config, findings, "config.");
        const auto threads = keys.whole({"nthreads"}), devices = keys.whole({"ngpus"});
        const Node* const processes = config->find("devices");
        // The list has one entry for each process, also if a process has several devices.
        if (threads && devices && processes) {
            measured.ranks = threads->value * devices->value * static_cast<std::int64_t>(processes->items.size());
            if (measured.ranks > largest_given) findings.fail(processes->mark, "these are too many ranks");
            std::set<std::string> hosts;
            for (const Node& one : processes->items)
                if (const Node* const host = one.find("hostname")) hosts.insert(host->scalar);
            imported.hosts = static_cast<std::int64_t>(hosts.size());
        }
    }
    LeftOutRows wrong, empty;
    const Node* const results = file.document.find("results");
    if (!results) return findings.fail(file.start, "this file has no key 'results'");
    for (const Node& row : results->items) {
        ForeignKeys keys(row, findings, "results.");
        constexpr std::int64_t most_bytes = 1'000'000'000'000'000;
        const Given bytes = keys.needed({"size"}, most_bytes, 0);
        const Node* const half = keys.find({"out_of_place"});
        if (!half) {
            findings.note(row.mark, "a row without out-of-place times is left out");
            continue;
        }
        ForeignKeys times(*half, findings, "results.out_of_place.");
        const auto us = times.number({"time"}), errors = times.number({"nwrong"});
        if (!us || *us <= 0)
            findings.fail(half->mark, "this row has no time");
        else if (errors && *errors > 0)
            wrong.add(row.mark);
        else if (bytes.value == 0)
            empty.add(row.mark);
        else
            measured.points.push_back({static_cast<std::uint64_t>(bytes.value), *us, half->mark});
    }
    note_rows(findings, wrong, "with wrong results (nwrong) left out");
    note_rows(findings, empty, "of no bytes left out");
    findings.note(file.start, "times out of place are taken; those in place and bandwidths are not used");
    add_measured(imported, measured);
}

}  // namespace

bool is_nccl_tests(const ForeignFile& file) {
    if (file.document.kind == Node::Kind::mapping)
        return file.document.find("nccl_version") != nullptr && file.document.find("results") != nullptr;
    const std::string& text = file.text();
    return text.find("out-of-place") != std::string::npos && text.find("algbw") != std::string::npos;
}

void read_nccl_tests(const ForeignFile& file, Imported& imported) {
    if (file.document.kind == Node::Kind::mapping)
        read_json(file, imported);
    else
        NcclTests(file, imported).finish();
}

}  // namespace syncline::config
