#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string_view>

#include "sim/base/number.hpp"
#include "sim/base/utf8.hpp"
#include "sim/import/machine_files.hpp"
#include "sim/import/word_lines.hpp"

namespace syncline::config {

namespace {

using Line = std::vector<PlacedText>;

constexpr char no_comments = '\0';

/// Returns the words of the next line that has any, those of a comment or a quotation without its sign; empty at the
/// end.
Line next_line(WordLines& lines) {
    for (Line words = lines.next(); !words.empty(); words = lines.next()) {
        const std::string_view first = words[0].text;
        if (first == "#" || first == ">" || first == "//") words.erase(words.begin());
        if (!words.empty()) return words;
    }
    return {};
}

/// Returns whether a word is `stem` and a number: GPU0.
bool is_numbered(std::string_view word, std::string_view stem) {
    return word.starts_with(stem) && number_in<std::uint32_t>(word.substr(stem.size())).has_value();
}

/// Returns the NVLinks of a cell: NV18.
std::optional<std::int64_t> nvlinks_of(std::string_view cell) {
    if (!cell.starts_with("NV")) return std::nullopt;
    const auto number = number_in<std::uint16_t>(cell.substr(2));
    return number && *number > 0 ? std::optional<std::int64_t>(*number) : std::nullopt;
}

/// Returns the path over PCIe of a cell. SOC was SYS before 2018.
std::optional<Nearness> path_of(std::string_view cell) {
    constexpr std::pair<std::string_view, Nearness> words[] = {
        {"PIX", Nearness::pix},   {"PXB", Nearness::pxb}, {"PHB", Nearness::phb},
        {"NODE", Nearness::node}, {"SYS", Nearness::sys}, {"SOC", Nearness::sys},
    };
    for (const auto& [word, path] : words)
        if (cell == word) return path;
    return std::nullopt;
}

bool is_cell(std::string_view word) {
    return word == "X" || nvlinks_of(word) || path_of(word);
}

/// Returns whether a line is the head of a matrix: GPU0, and a second GPU or affinities. A row has cells after its
/// name.
bool is_head(const Line& line) {
    if (line.size() < 2 || !is_numbered(line[0].text, "GPU") || is_cell(line[1].text)) return false;
    return is_numbered(line[1].text, "GPU") ||
           std::any_of(line.begin(), line.end(), [](const PlacedText& word) { return word.text == "Affinity"; });
}

/// The columns of a matrix before those of affinities.
class Matrix {
public:
    Matrix(const Line& head, Findings& findings) : findings_(findings) {
        for (const PlacedText& word : head) {
            if (word.text == "CPU" || word.text == "NUMA" || word.text == "GPU") break;
            if (!columns_.emplace(word.text, names_.size()).second)
                findings_.fail(word.mark, fmt::format("{} is listed twice", printable(word.text)));
            gpus_ += is_numbered(word.text, "GPU") ? 1 : 0;
            names_.push_back(word);
            if (gpus_ > Machine::most_gpus || names_.size() - gpus_ > Machine::most_nics)
                throw ConfigError(
                    {{locate(word.mark), "there are too many columns", "the maximum is 256 GPUs and 256 NICs"}});
            if (names_.size() > gpus_ && is_numbered(word.text, "GPU"))
                findings_.fail(word.mark, "GPUs come before NICs here", "copy the output of `nvidia-smi topo -m`");
        }
        rows_.resize(names_.size());
    }

    /// Takes a row; returns false if the line is none.
    bool take(const Line& line) {
        const auto column = columns_.find(line[0].text);
        if (column == columns_.end()) {
            if (line.size() < 2 || !is_cell(line[1].text)) return false;
            findings_.fail(line[0].mark, fmt::format("{} is no column of this matrix", printable(line[0].text)),
                           "copy the whole output of `nvidia-smi topo -m`");
            return true;
        }
        if (!rows_[column->second].empty()) return false;
        for (std::size_t i = 0; i < names_.size(); ++i) {
            if (i + 1 >= line.size() || !is_cell(line[i + 1].text)) {
                fail_cell(line, i);
                return true;
            }
            if ((line[i + 1].text == "X") != (i == column->second)) {
                findings_.fail(line[i + 1].mark,
                               fmt::format("the row of {} has '{}' in the column of {}", line[0].text, line[i + 1].text,
                                           names_[i].text),
                               "X is each part itself");
                return true;
            }
        }
        rows_[column->second].assign(line.begin() + 1, line.begin() + 1 + static_cast<std::ptrdiff_t>(names_.size()));
        for (std::size_t i = 0; i < names_.size(); ++i) check_pair(column->second, i);
        return true;
    }

    Machine machine(const Mark& start) {
        Machine machine;
        machine.mark = names_.empty() ? start : names_[0].mark;
        const auto missing = std::find_if(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(gpus_),
                                          [](const Line& row) { return row.empty(); });
        if (findings_.errors.empty() && missing != rows_.begin() + static_cast<std::ptrdiff_t>(gpus_)) {
            const PlacedText& name = names_[static_cast<std::size_t>(missing - rows_.begin())];
            findings_.fail(name.mark, fmt::format("the row of {} is missing", name.text),
                           "copy the whole output of `nvidia-smi topo -m`");
        }
        for (std::size_t i = 0; i < gpus_; ++i) {
            if (names_[i].text == fmt::format("GPU{}", i)) continue;
            findings_.note(names_[i].mark,
                           fmt::format("devices are numbered in order: {} is device {}", names_[i].text, i));
            break;
        }
        if (!findings_.errors.empty()) return machine;
        for (std::size_t i = 0; i < gpus_; ++i) {
            machine.gpus.push_back({std::string(names_[i].text), rows_[i][i].mark});
            machine.nvlinks.emplace_back();
            machine.paths.emplace_back();
            for (std::size_t j = 0; j < gpus_; ++j) {
                machine.nvlinks[i].push_back(nvlinks_of(rows_[i][j].text).value_or(0));
                machine.paths[i].push_back(path_of(rows_[i][j].text).value_or(Nearness::unknown));
            }
        }
        for (std::size_t i = gpus_; i < names_.size(); ++i) {
            machine.nics.push_back({printable(names_[i].text), names_[i].mark, {}, {}, {}});
            for (std::size_t j = 0; j < gpus_; ++j)
                machine.nics.back().to.push_back(path_of(rows_[j][i].text).value_or(Nearness::unknown));
        }
        return machine;
    }

private:
    void fail_cell(const Line& line, std::size_t column) {
        const PlacedText& row = line[0];
        if (column + 1 >= line.size())
            return findings_.fail(
                line.back().mark,
                fmt::format("the row of {} ends before the column of {}", row.text, printable(names_[column].text)),
                "copy the whole output of `nvidia-smi topo -m`, without wrapped lines");
        findings_.fail(line[column + 1].mark,
                       fmt::format("'{}' is no connection", printable(line[column + 1].text.substr(0, 40))),
                       "NV and a number, PIX, PXB, PHB, NODE or SYS");
    }

    void check_pair(std::size_t row, std::size_t column) {
        if (rows_[column].empty() || row == column) return;
        const PlacedText &here = rows_[row][column], &there = rows_[column][row];
        if (here.text != there.text)
            findings_.fail(here.mark,
                           fmt::format("{} to {} is '{}' here, but '{}' in line {}", names_[row].text,
                                       printable(names_[column].text), here.text, there.text, there.mark.line));
    }

    Findings& findings_;
    std::map<std::string_view, std::size_t> columns_;
    std::vector<PlacedText> names_;
    std::size_t gpus_ = 0;
    std::vector<Line> rows_;
};

/// Gives NICs the names of the legend: `NIC0: mlx5_0`.
void name_nics(Machine& machine, const Line& line) {
    if (line.size() != 2 || !line[0].text.ends_with(':')) return;
    const std::string_view number = line[0].text.substr(0, line[0].text.size() - 1);
    for (Machine::Nic& nic : machine.nics)
        if (nic.name == number) nic.name = fmt::format("{} ({})", number, printable(line[1].text.substr(0, 40)));
}

}  // namespace

bool is_topology_matrix(const ForeignFile& file) {
    WordLines lines(file.start, no_comments);
    for (Line line = next_line(lines); !line.empty(); line = next_line(lines))
        if (is_head(line)) return true;
    return false;
}

void read_topology_matrix(const ForeignFile& file, Imported& imported) {
    Findings& findings = imported.findings;
    WordLines lines(file.start, no_comments);
    Line line = next_line(lines);
    while (!line.empty() && !is_head(line)) line = next_line(lines);
    if (line.empty()) return findings.fail(file.start, "there is no line with GPU0, GPU1, …", "`nvidia-smi topo -m`");
    Matrix matrix(line, findings);
    do line = next_line(lines);
    while (!line.empty() && matrix.take(line));
    Machine machine = matrix.machine(file.start);
    if (!findings.errors.empty()) return;
    for (; !line.empty(); line = next_line(lines)) {
        if (is_head(line)) {
            findings.note(line.front().mark, "left out: a second matrix");
            break;
        }
        name_nics(machine, line);
    }
    imported.machine = std::move(machine);
}

}  // namespace syncline::config
