#include "sim/document/yaml.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "sim/document/read_text.hpp"
#include "sim/document/surrogates.hpp"

namespace syncline::config {

namespace {

constexpr std::size_t deepest = 64;
constexpr std::size_t most_syntax_errors = 20;
constexpr std::size_t most_keys = 10'000;  // of a mapping: looking for one takes time that grows with their number

const std::string core_tag = "tag:yaml.org,2002:";

/// Builds a Node from yaml-cpp's events, which have correct marks and show duplicate keys.
class Builder : public YAML::EventHandler {
public:
    explicit Builder(const Source& source) : source_(source) { document_.mark.source = &source; }

    /// Throws ConfigError if there was an error.
    Node finish() {
        if (key_error_) errors_.push_back(*key_error_);
        if (!errors_.empty()) throw ConfigError(errors_);
        return std::move(document_);
    }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (documents_++ > 0)
            stop(place(mark), "a second document begins here", "a file holds one document; check the indentation");
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        check_anchor(mark, anchor);
        // yaml-cpp marks a missing value at the next token; the mark of the key or the list is more helpful.
        Mark here = place(mark);
        if (!open_.empty()) here = open_.back().key ? open_.back().key->mark : open_.back().node.mark;
        add(empty_at(here, Node::Kind::null));
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        fail(place(mark), "aliases are not supported", "write the value out");
        add(scalar_at(place(mark), ""));
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        check_anchor(mark, anchor);
        check_tag(mark, tag);
        Node node = scalar_at(place(mark), with_pairs(value));
        node.quoted = tag == "!" || tag == core_tag + "str";
        add(std::move(node));
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value style) override {
        check_anchor(mark, anchor);
        check_tag(mark, tag);
        open(Node::Kind::sequence, place(mark), style == YAML::EmitterStyle::Flow);
    }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value style) override {
        check_anchor(mark, anchor);
        check_tag(mark, tag);
        open(Node::Kind::mapping, place(mark), style == YAML::EmitterStyle::Flow);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapEnd() override { close(); }

    void fail(const Mark& mark, const std::string& message, const std::string& hint) {
        errors_.push_back({locate(mark), message, hint});
        if (errors_.size() == most_syntax_errors) throw ConfigError(errors_);
    }
    [[noreturn]] void stop(const Mark& mark, const std::string& message, const std::string& hint) {
        errors_.push_back({locate(mark), message, hint});
        throw ConfigError(errors_);
    }
    Mark place(const YAML::Mark& mark) const { return {&source_, mark.line + 1, mark.column + 1}; }

    /// Returns the place of an error from yaml-cpp. For an unclosed bracket this is the bracket.
    Mark place(const YAML::Exception& error) const {
        for (auto last = open_.rbegin(); last != open_.rend(); ++last) {
            const bool list = last->node.kind == Node::Kind::sequence;
            const std::string message = list ? YAML::ErrorMsg::END_OF_SEQ_FLOW : YAML::ErrorMsg::END_OF_MAP_FLOW;
            if (last->brackets && error.msg == message) return last->node.mark;
        }
        return place(error.mark);
    }

private:
    /// A list or a mapping whose end has not been reached.
    struct Open {
        Node node;
        bool brackets;
        std::unique_ptr<Node> key;               ///< the key of a mapping whose value comes next
        std::map<std::string, Mark> known_keys;  ///< of a mapping
    };

    bool at_key() const { return !open_.empty() && open_.back().node.kind == Node::Kind::mapping && !open_.back().key; }

    void open(Node::Kind kind, const Mark& mark, bool brackets) {
        if (open_.size() == deepest)
            stop(mark, "this is nested too deeply", fmt::format("the maximum is {} levels", deepest));
        open_.push_back({empty_at(mark, kind), brackets, nullptr, {}});
    }

    void close() {
        Node node = std::move(open_.back().node);
        open_.pop_back();
        add(std::move(node));
    }

    void add(Node node) {
        if (open_.empty())
            document_ = std::move(node);
        else if (at_key())
            add_key(std::move(node));
        else if (open_.back().key)
            add_entry(*std::exchange(open_.back().key, nullptr), std::move(node));
        else
            open_.back().node.items.push_back(std::move(node));
    }

    void add_key(Node key) {
        if (key.kind != Node::Kind::scalar && !key_error_)
            key_error_ = Diagnostic{locate(key.mark), "a key must be a plain word", ""};
        if (key.scalar == "<<" && !key.quoted) fail(key.mark, "merge keys are not supported", "write the keys out");
        open_.back().key = std::make_unique<Node>(std::move(key));
    }

    void add_entry(const Node& key, Node value) {
        if (key.kind != Node::Kind::scalar) return;
        if (open_.back().known_keys.size() == most_keys)
            throw ConfigError({{locate(key.mark), fmt::format("a mapping has more than {} keys", most_keys),
                                "a study's axes make variants without naming each"}});
        const auto [first, fresh] = open_.back().known_keys.emplace(key.scalar, key.mark);
        if (fresh)
            open_.back().node.entries.push_back({key.scalar, key.mark, std::move(value)});
        else
            fail(key.mark, fmt::format("duplicate key '{}'", key.scalar),
                 fmt::format("it is first given in line {}", first->second.line));
    }

    void check_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
        if (anchor != 0) fail(place(mark), "anchors are not supported", "write the value out where it is used");
    }

    void check_tag(const YAML::Mark& mark, const std::string& tag) {
        if (!tag.empty() && tag != "?" && tag != "!" && !tag.starts_with(core_tag))
            fail(place(mark), fmt::format("unknown tag '{}'", tag), "remove it");
    }

    const Source& source_;
    Node document_;
    int documents_ = 0;
    std::vector<Open> open_;
    std::vector<Diagnostic> errors_;
    // Reported last, and only if the rest is YAML: an unclosed bracket makes yaml-cpp see keys where there are none.
    std::optional<Diagnostic> key_error_;
};

/// Returns a helpful message and hint for a message of yaml-cpp, which says little more than which of its functions
/// failed, and reports only the consequences of a tab.
std::pair<std::string, std::string> in_plain_words(std::string message, const std::string& line) {
    using namespace YAML;
    const auto tab = line.find('\t');
    if (tab != std::string::npos && tab < line.find_first_not_of(" \t")) message = ErrorMsg::TAB_IN_INDENTATION;
    static const std::map<std::string, std::pair<const char*, const char*>> words{
        {ErrorMsg::MAP_VALUE, {"unexpected ':'", "check the indentation; put a text that contains ': ' in quotes"}},
        {ErrorMsg::MAP_KEY, {"unexpected key", "check the indentation"}},
        {ErrorMsg::BLOCK_ENTRY, {"unexpected '-'", "check the indentation"}},
        {ErrorMsg::END_OF_MAP, {"this does not belong to the mapping above", "check the indentation"}},
        {ErrorMsg::END_OF_SEQ, {"this does not belong to the list above", "check the indentation"}},
        {ErrorMsg::END_OF_MAP_FLOW, {"this '{' is not closed", "a '}' or a ',' is missing"}},
        {ErrorMsg::END_OF_SEQ_FLOW, {"this '[' is not closed", "a ']' or a ',' is missing"}},
        {ErrorMsg::FLOW_END, {"this bracket closes nothing", ""}},
        {ErrorMsg::EOF_IN_SCALAR, {"a quote is not closed", ""}},
        {ErrorMsg::DOC_IN_SCALAR, {"a quote is not closed before the document ends", ""}},
        {ErrorMsg::UNKNOWN_TOKEN,
         {"no value can begin with this character", "put a text that begins with it in quotes"}},
        {ErrorMsg::UNKNOWN_ANCHOR, {"aliases are not supported", "put a text that begins with '*' in quotes"}},
        {ErrorMsg::TAB_IN_INDENTATION, {"a tab in the indentation", "indent with spaces"}},
    };
    if (message.starts_with(ErrorMsg::INVALID_UNICODE))
        return {"this escape is no character",
                R"(half of a pair needs the other half next to it, as in "\ud83d\ude00")"};
    const auto known = words.find(message);
    if (known == words.end()) return {"this is not YAML: " + message, ""};
    return known->second;
}

}  // namespace

Node parse_yaml(const Source& source, std::size_t skip) {
    check_text(source);
    // Spaces in place of the skipped text keep the marks correct. Trailing space would hide an unclosed quote from
    // yaml-cpp.
    const std::string_view text = source.text;
    const std::string blank(skip, ' ');
    const auto end = text.find_last_not_of(" \t\r\n") + 1;
    std::istringstream stream(end > skip ? blank + without_pairs(std::string(text.substr(skip, end - skip))) : "");
    Builder builder(source);
    try {
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(builder)) {
        }
    } catch (const YAML::Exception& error) {
        Mark mark = builder.place(error);
        if (error.msg.starts_with(YAML::ErrorMsg::INVALID_UNICODE) && mark.column > 1) {  // marked at its end
            const auto begin = locate(mark).source_line.rfind('\\', static_cast<std::size_t>(mark.column) - 2);
            if (begin != std::string::npos) mark.column = static_cast<int>(begin) + 1;
        }
        const auto [message, hint] = in_plain_words(error.msg, locate(mark).source_line);
        builder.stop(mark, message, hint);
    }
    return builder.finish();
}

}  // namespace syncline::config
