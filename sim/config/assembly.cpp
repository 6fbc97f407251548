#include "sim/config/assembly.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "sim/config/reader.hpp"

namespace syncline::config {

namespace {

bool same_place(const Location& a, const Location& b) {
    // All of `--set` are line 1 of a file of that name: only their texts differ.
    return a.file == b.file && a.line == b.line && a.column == b.column && a.source_line == b.source_line;
}

void add(std::vector<Diagnostic>& errors, const Diagnostic& error) {
    const bool known = std::any_of(errors.begin(), errors.end(), [&](const Diagnostic& other) {
        return same_place(other.where, error.where) && other.message == error.message;
    });
    if (!known) errors.push_back(error);
}

}  // namespace

void Assembly::attempt(const std::function<void()>& step) {
    try {
        step();
    } catch (const ConfigError& error) {
        for (const Diagnostic& diagnostic : error.diagnostics()) add(errors_, diagnostic);
    }
}

void Assembly::report(const Mark& mark, const std::string& message, const std::string& hint) {
    add(errors_, {locate(mark), message, hint});
}

void Assembly::expand(Node* node) {
    if (node == nullptr || node->kind != Node::Kind::scalar) return;
    const Mark reference = node->mark;
    attempt([&] {
        unread_.push_back(locate(reference));
        library.expand(*node);
        unread_.pop_back();
    });
}

void Assembly::expand_device(Node& platform) {
    expand(platform.find("device"));
}

void Assembly::expand_references(Node& document) {
    if (Node* platform = document.find("platform")) {
        expand(platform);
        expand_device(*platform);
    }
    expand(document.find("workload"));
}

void Assembly::read(const Node& node, const std::string& what, const std::function<void(Fields&)>& body) {
    std::vector<Diagnostic> found;
    config::read(node, what, body, found);
    for (const Diagnostic& error : found) {
        // A file that could not be read leaves its name where the reader expects a mapping: that has been said already.
        const bool unread = std::any_of(unread_.begin(), unread_.end(),
                                        [&](const Location& place) { return same_place(place, error.where); });
        if (!unread) add(errors_, error);
    }
}

void Assembly::finish() const {
    if (errors_.empty()) return;
    // In the order in which a person goes through the files, not in that of the field tables.
    std::vector<std::string> files;
    const auto position = [&](const Diagnostic& error) {
        const auto file = std::find(files.begin(), files.end(), error.where.file);
        return std::tuple(file - files.begin(), error.where.line, error.where.column);
    };
    for (const Diagnostic& error : errors_) {
        if (std::find(files.begin(), files.end(), error.where.file) == files.end()) files.push_back(error.where.file);
    }
    std::vector<Diagnostic> sorted = errors_;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](const Diagnostic& a, const Diagnostic& b) { return position(a) < position(b); });
    throw ConfigError(std::move(sorted));
}

void require_nodes(Fields& fields, const char* key, const Cluster& cluster, std::int64_t ranks, std::int64_t servers) {
    if (ranks + servers <= cluster.nodes) return;
    const std::string who = servers == 0 ? fmt::format("{} ranks", ranks)
                                         : fmt::format("{} ranks and {} servers of their own", ranks, servers);
    fields.reject(key, fmt::format("{} do not fit platform '{}', which has {} nodes", who, cluster.name, cluster.nodes),
                  fmt::format("`--set platform.nodes={}` makes it larger", ranks + servers));
}

void require_countable(Fields& fields, const char* key, double bytes, std::int64_t ranks) {
    constexpr double most = 9e18;
    const double sent = 2 * bytes * static_cast<double>(ranks);
    if (sent > most)
        fields.reject(key, fmt::format("{} ranks would exchange {}", ranks, format_quantity(sent, Dimension::bytes)),
                      fmt::format("at most {} can be counted", format_quantity(most, Dimension::bytes)));
}

void require_connections(Fields& fields, const char* key, std::int64_t ranks, std::int64_t servers) {
    constexpr std::int64_t most = 1 << 22;
    if (ranks * servers > most)
        fields.reject(key, fmt::format("{} ranks and {} servers are {} connections", ranks, servers, ranks * servers),
                      fmt::format("at most {} can be simulated", most));
}

}  // namespace syncline::config
