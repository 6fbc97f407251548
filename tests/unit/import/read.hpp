#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "sim/document/yaml_text.hpp"
#include "sim/import/foreign.hpp"

/// What the readers of foreign files find.
namespace syncline::test {

struct Read {
    config::Library library;
    config::Imported imported;

    /// Returns the value of a key as YAML in a line; "" if there is none.
    static std::string text(const config::Node& mapping, const char* key) {
        const config::Node* const value = mapping.find(key);
        return value ? config::flow_text(*value) : "";
    }
    std::string notes() const {
        std::string all;
        for (const Diagnostic& note : imported.findings.notes) all += note.message + "\n";
        return all;
    }
    std::string errors() const { return placed(imported.findings.errors); }

protected:
    static std::string placed(const std::vector<Diagnostic>& list) {
        std::string all;
        for (const Diagnostic& one : list)
            all += fmt::format("{}:{}: {}\n", one.where.line, one.where.column, one.message);
        return all;
    }
};

}  // namespace syncline::test
