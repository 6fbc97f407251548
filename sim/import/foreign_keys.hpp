#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/document/document.hpp"
#include "sim/import/findings.hpp"

namespace syncline::config {

/// A number of a foreign file, with its place.
struct Given {
    std::int64_t value = 0;
    Mark mark;
};

/// Maximum of a foreign file's dimension, so that products of three stay within 64 bits.
inline constexpr std::int64_t largest_given = 1 << 20;

/// The keys of a mapping in a foreign file, most of which have several spellings and many of which mean nothing here.
/// Those that nobody asks for are reported. A null counts as absent.
class ForeignKeys {
public:
    using Names = std::initializer_list<const char*>;

    /// `path` is put before keys in messages: `zero_optimization.`. Both arguments must outlive the object.
    ForeignKeys(const Node& mapping, Findings& findings, std::string path = "")
        : mapping_(mapping), findings_(findings), path_(std::move(path)) {}

    /// Returns the value of the first of these keys that is there.
    const Node* find(Names names);
    /// Returns whether a key is there and null, which may mean something else than its absence.
    bool is_null(const char* name);

    /// Return the value of the first of these keys; nothing if none is there. A value of another type or out of range
    /// is an error, in whose place `least` is returned.
    std::optional<Given> whole(Names names, std::int64_t most = largest_given, std::int64_t least = 1);
    std::optional<double> number(Names names);
    std::optional<bool> flag(Names names);
    std::optional<std::string> word(Names names);

    /// Does the same; if none is there, an error says that the first is missing.
    Given needed(Names names, std::int64_t most = largest_given, std::int64_t least = 1);

    /// Marks keys, divided by spaces, as read that say nothing about what is simulated. The text must outlive the
    /// object.
    void ignore(std::string_view names);
    /// Notes all keys that were not read.
    void report_others() const;

    const Mark& mark() const { return mapping_.mark; }
    const Node& node() const { return mapping_; }
    Findings& findings() { return findings_; }

private:
    const Node& mapping_;
    Findings& findings_;
    const std::string path_;
    std::set<std::string_view> read_;
};

/// Returns the whole number that a scalar is, also as JSON writes it: `2e8`, `4096.0`.
std::optional<std::int64_t> foreign_whole(const Node& node);

}  // namespace syncline::config
