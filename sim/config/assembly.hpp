#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/config/document.hpp"
#include "sim/config/fields.hpp"
#include "sim/config/presets.hpp"
#include "sim/config/reader.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/training/placement.hpp"

/// What scenario, collective, topology and check have in common: a document is put together from several texts, then
/// read, and all that is wrong on the way is reported at once.
namespace syncline::config {

struct Argument;

class Assembly {
public:
    Library library;

    /// Runs `step`; the errors of a ConfigError that it throws are kept.
    void attempt(const std::function<void()>& step);
    void report(const Mark& mark, const std::string& message, const std::string& hint = "");

    /// A file that the command line names. A GraphML or DOT file is read as the topology that holds it.
    Node load_argument(const std::string& path);

    /// Replaces the names of files and of presets in `platform`, `platform.device`, `platform.transport`,
    /// `platform.fabric`, `workload`, and in the `overlay` and `selection` of `training`, `collective` and the document
    /// itself by what the files hold. To be done after every merge: a file's name then replaces the whole of what stood
    /// there, and a mapping changes it key by key.
    void expand_references(Node& document);
    /// The same for a platform's own `device`, `transport` and `fabric`.
    void expand_platform(Node& platform);
    /// The same for what describes a topology: the name of a shape stands for the shape as it is, even if a file has
    /// the same name; a GraphML or DOT file for the shape `graph`.
    void expand_topology(Node* node);
    /// The same for a selection, and for the overlays in its rows.
    void expand_selection(Node* node);

    void read(const Node& node, const std::string& what, const std::function<void(Fields&)>& body);

    /// Whether nothing has been wrong so far.
    bool sound() const { return errors_.empty(); }

    /// Throws ConfigError if anything was wrong, and forgets it: one Assembly can put several documents together.
    void finish();

    /// Files that are no YAML, as far as read() came across their names.
    const std::vector<OtherFile>& other_files() const { return other_files_; }

private:
    void expand(Node* node, const Kinds& kinds, const std::vector<std::string>& words = {});

    std::vector<Diagnostic> errors_;
    std::vector<Location> unread_;  ///< names of files that could not be read
    std::vector<OtherFile> other_files_;
};

/// An option of the command line as a document's entry, whose place is the option as it was typed.
Entry option_entry(Library& library, const Argument& argument);

/// Rejects `key` unless `cluster` has a device for each of `ranks`, and a node behind them for each of the parameter
/// servers that have nodes of their own. A cluster of as many nodes as are needed gets them.
void require_nodes(Fields& fields, const char* key, Cluster& cluster, const RankPlacement& placement,
                   std::int64_t ranks, std::int64_t servers);

/// Rejects `key` where the bytes of an exchange among `ranks` could not be counted in 64 bits; `all_pairs`: every rank
/// may send the buffer to every other.
void require_countable(Fields& fields, const char* key, double bytes, std::int64_t ranks, bool all_pairs);

/// Rejects `key` where a buffer in pieces, each of which takes `tasks` tasks, would make more than can be simulated.
void require_pieces(Fields& fields, const char* key, double bytes, double piece_bytes, std::int64_t tasks);

/// Rejects `key` where ranks × servers connections are more than can be simulated.
void require_connections(Fields& fields, const char* key, std::int64_t ranks, std::int64_t servers);

}  // namespace syncline::config
