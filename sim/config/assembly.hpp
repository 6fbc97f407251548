#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/config/document.hpp"
#include "sim/config/fields.hpp"
#include "sim/platform/cluster.hpp"

/// What scenario, collective and check have in common: a document is put together from several texts, then read, and
/// all that is wrong on the way is reported at once.
namespace syncline::config {

class Assembly {
public:
    Library library;

    /// Runs `step`; the errors of a ConfigError that it throws are kept.
    void attempt(const std::function<void()>& step);
    void report(const Mark& mark, const std::string& message, const std::string& hint = "");

    /// Replaces the names of files in `platform`, `platform.device` and `workload` by what the files hold. To be done
    /// after every merge: a file's name then replaces the whole of what stood there, and a mapping changes it key by
    /// key.
    void expand_references(Node& document);
    /// The same for a platform's own `device`.
    void expand_device(Node& platform);

    void read(const Node& node, const std::string& what, const std::function<void(Fields&)>& body);

    /// Throws ConfigError if anything was wrong.
    void finish() const;

private:
    void expand(Node* node);

    std::vector<Diagnostic> errors_;
    std::vector<Location> unread_;  ///< names of files that could not be read
};

/// Rejects `key` unless `cluster` has a node for each of `ranks`, and for each of the parameter servers that have nodes
/// of their own.
void require_nodes(Fields& fields, const char* key, const Cluster& cluster, std::int64_t ranks, std::int64_t servers);

/// Rejects `key` where the bytes of an exchange among `ranks` could not be counted in 64 bits.
void require_countable(Fields& fields, const char* key, double bytes, std::int64_t ranks);

/// Rejects `key` where ranks × servers connections are more than can be simulated.
void require_connections(Fields& fields, const char* key, std::int64_t ranks, std::int64_t servers);

}  // namespace syncline::config
