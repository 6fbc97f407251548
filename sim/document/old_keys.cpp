#include "sim/document/old_keys.hpp"

#include <fmt/format.h>

#include <cstring>

#include "sim/base/warning.hpp"

namespace syncline::config {

namespace {

constexpr const char* renamed_in = "reduction";
constexpr const char* now = "where";

void rename_in(Node& reduction) {
    for (Entry& entry : reduction.entries) {
        if ((entry.key != "on" && entry.key != "true") || reduction.find(now)) continue;
        warn({locate(entry.mark), fmt::format("'{}' of '{}' is now called '{}'", entry.key, renamed_in, now),
              fmt::format("write `{}: {}`; YAML 1.1 reads `on` as true", now, entry.value.scalar)});
        entry.key = now;
    }
}

}  // namespace

void rename_old_keys(Node& document) {
    for (Entry& entry : document.entries) {
        if (entry.key == renamed_in) rename_in(entry.value);
        rename_old_keys(entry.value);
    }
    for (Node& item : document.items) rename_old_keys(item);
}

std::string current_path(const std::string& path) {
    for (const char* old : {"on", "true"}) {
        const std::string end = fmt::format("{}.{}", renamed_in, old);
        const bool whole =
            path.size() == end.size() || (path.size() > end.size() && path[path.size() - end.size() - 1] == '.');
        if (path.ends_with(end) && whole) return path.substr(0, path.size() - std::strlen(old)) + now;
    }
    return path;
}

std::string current_path(const std::string& path, const Mark& mark) {
    const std::string current = current_path(path);
    if (current != path)
        warn({locate(mark), fmt::format("'{}' is now called '{}'", path, current), "YAML 1.1 reads `on` as true"});
    return current;
}

}  // namespace syncline::config
