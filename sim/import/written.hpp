#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "sim/document/document.hpp"
#include "sim/import/foreign_keys.hpp"

namespace syncline::config {

/// Builds a mapping key by key. Values without a place get that of the mapping.
class Written {
public:
    explicit Written(const Mark& mark) : node_(mapping_at(mark)) {}
    /// Begins an entry of a workload's `layers`.
    Written(const Mark& mark, const std::string& name, const char* kind) : Written(mark) {
        set("name", name).set("kind", kind);
    }

    Written& set(const char* key, Node value) {
        node_.entries.push_back({key, value.mark, std::move(value)});
        return *this;
    }
    Written& set(const char* key, const std::string& text) { return set(key, scalar_at(node_.mark, text)); }
    Written& set(const char* key, const char* text) { return set(key, std::string(text)); }
    Written& set(const char* key, bool value) { return set(key, value ? "true" : "false"); }
    Written& set(const char* key, std::int64_t value) { return set(key, std::to_string(value)); }
    Written& set(const char* key, const Given& number) {
        return set(key, scalar_at(number.mark, std::to_string(number.value)));
    }
    /// Sets nothing without a number.
    Written& set(const char* key, const std::optional<Given>& number) { return number ? set(key, *number) : *this; }

    const Mark& mark() const { return node_.mark; }
    Node take() { return std::move(node_); }

private:
    Node node_;
};

}  // namespace syncline::config
