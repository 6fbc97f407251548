#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/document/document.hpp"
#include "sim/document/fields.hpp"
#include "sim/document/presets.hpp"
#include "sim/document/reader.hpp"

/// Assembles a document from several texts and reads it; all errors on the way are reported together. Scenario,
/// collective, topology and check use it.
namespace syncline::config {

struct Argument;

class Assembly {
public:
    Library library;

    /// Runs `step` and keeps the errors of a ConfigError that it throws.
    void attempt(const std::function<void()>& step);
    /// Adds an error. Throws ConfigError with all of them if there are 200.
    void report(const Mark& mark, const std::string& message, const std::string& hint = "");

    /// Loads a file that the command line names. A GraphML or DOT file is read as the topology that holds it, another
    /// program's network as a platform.
    Node load_argument(const std::string& path);

    /// Returns the workload in the file that `word` names, which may be a foreign one. Throws ConfigError.
    Node workload_in(const Node& word);

    /// Replaces the names of files and of presets in `platform`, `platform.device`, `platform.transport`,
    /// `platform.fabric`, `workload`, `training.framework`, and in the `overlay` and `selection` of `training`,
    /// `collective` and the document itself by the content of the files. A platform's name that ends in `.xml` is that
    /// of SimGrid's format. Must be called after every merge: a file's
    /// name then replaces the whole previous value, and a mapping changes it key by key.
    void expand_references(Node& document);
    /// Does the same for a platform's own `device`, `transport` and `fabric`.
    void expand_platform(Node& platform);
    /// Does the same for a topology. The name of a shape means the shape with its defaults, even if a file has the same
    /// name; a GraphML or DOT file means the shape `graph`, and a foreign file the fabric that it describes.
    void expand_topology(Node* node);
    /// Does the same for a selection, and for the overlays in its rows.
    void expand_selection(Node* node);
    /// Does the same for a framework and its `base`, whose keys it changes; texts for readers are removed.
    void expand_framework(Node* node);

    void read(const Node& node, const std::string& what, const std::function<void(Fields&)>& body);

    /// Returns whether there are no errors so far.
    bool sound() const { return errors_.empty(); }

    /// Throws ConfigError if there were errors, and clears them: one Assembly can assemble several documents.
    void finish();

    /// Returns the files that are not YAML and whose names read() found.
    const std::vector<OtherFile>& other_files() const { return other_files_; }
    /// Returns the same, and forgets them.
    std::vector<OtherFile> take_other_files() { return std::exchange(other_files_, {}); }

private:
    void expand(Node* node, const Kinds& kinds);
    Node platform_in(const Node& word);
    Node topology_in(const Node& word);

    std::vector<Diagnostic> errors_;
    std::vector<Location> unread_;  ///< names of files that could not be read
    std::vector<OtherFile> other_files_;
};

/// Returns an option of the command line as an entry of a document; its location is the option as typed.
Entry option_entry(Library& library, const Argument& argument);

}  // namespace syncline::config
