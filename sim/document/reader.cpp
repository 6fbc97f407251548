#include "sim/document/reader.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "sim/base/abbreviations.hpp"
#include "sim/base/did_you_mean.hpp"
#include "sim/base/number.hpp"
#include "sim/base/utf8.hpp"
#include "sim/document/read_text.hpp"
#include "sim/document/size_range.hpp"
#include "sim/document/whole_number.hpp"

namespace syncline::config {

namespace {

constexpr std::size_t most_errors = 50;

/// Collects the errors and files that one reading finds.
class Findings {
public:
    Findings(std::vector<Diagnostic>& errors, std::vector<OtherFile>* files) : errors_(errors), files_(files) {}

    void note(const Node& name, const std::filesystem::path& path, const std::string& text) {
        if (files_) files_->push_back({name.mark, name.scalar, path, text});
    }

    /// Returns whether further errors are dropped: of a list of a million wrong values the first ones are enough.
    bool enough() const { return count_ == most_errors; }

    void add(const Diagnostic& error) {
        if (enough()) return;
        ++count_;
        const bool known = std::any_of(errors_.begin(), errors_.end(), [&](const auto& other) {
            return same_place(other.where, error.where) && other.message == error.message;
        });
        if (!known) errors_.push_back(error);
    }

private:
    std::vector<Diagnostic>& errors_;
    std::vector<OtherFile>* files_;
    std::size_t count_ = 0;
};

std::string quoted_list(const std::vector<std::string>& words) {
    return fmt::format("'{}'", fmt::join(words, "', '"));
}

std::string suggestion(const std::string& word, const std::vector<std::string>& known, const char* others = "") {
    return did_you_mean(word, known, known.empty() ? "" : fmt::format("write {}one of {}", others, quoted_list(known)));
}

/// Does the same for a key, which the field may call otherwise.
std::string key_suggestion(const std::string& word, const std::vector<std::string>& known) {
    const Abbreviation* const meant = find_abbreviation(word);
    if (meant == nullptr || meant->key.empty()) return suggestion(word, known);
    return fmt::format("did you mean '{}' ({})?", meant->key, meant->text);
}

std::optional<double> plain_number(std::string_view text, double least, double most) {
    const auto number = number_in<double>(text);
    return number && *number >= least && *number <= most ? number : std::nullopt;
}

/// One mapping of the document. `what` names it in messages.
class Reader : public Fields {
public:
    Reader(const Node& node, std::string what, Findings& findings)
        : node_(node), what_(std::move(what)), findings_(findings) {}

    void text(Key key, std::string& value) override {
        if (const Node* node = find(key))
            if (auto text = word(key, *node)) value = std::move(*text);
    }

    void texts(Key key, std::vector<std::string>& values) override {
        if (const Node* node = find(key))
            read_list(key, *node, values, "texts", [&](const Node& item) { return word(key, item); });
    }

    void file(Key key, const FileReader& body) override {
        const Node* node = scalar(key, "the name of a file");
        if (!node) return;
        const std::filesystem::path path = referred_file(*node);
        const Text file = read_text(path, largest_other_file);
        if (!file.text) return fail(node->mark, file.error, file.hint);
        findings_.note(*node, path, *file.text);
        std::size_t left = largest_other_file - file.text->size();
        const auto beside = [&](const std::string& name) {
            const std::filesystem::path further = path.parent_path() / name;
            const Text text = read_text(further, left);
            if (!text.text)
                throw ConfigError({{locate(node->mark), fmt::format("{}: {}", shown(path), text.error), text.hint}});
            findings_.note(*node, further, *text.text);
            left -= text.text->size();
            return *text.text;
        };
        try {
            body(shown(path), *file.text, beside);
        } catch (const ConfigError& error) {
            sound_ = false;
            for (const Diagnostic& problem : error.diagnostics()) findings_.add(problem);
        }
    }

    void paths(Key key, const PathsReader& body) override {
        const Node* node = find(key);
        if (!node) return;
        const std::vector<Node> one{*node};
        const std::vector<Node>& names = node->kind == Node::Kind::sequence ? node->items : one;
        std::vector<std::string> paths;
        if (names.empty()) return fail(node->mark, fmt::format("'{}' has no items", key.name));
        for (const Node& name : names) {
            if (name.kind != Node::Kind::scalar)
                return fail(name.mark, fmt::format("'{}' is {}, not the name of a file", key.name, kind_of(name)));
            if (!add_files(name, paths)) return;
        }
        try {
            body(paths);
        } catch (const ConfigError& error) {
            sound_ = false;
            for (const Diagnostic& problem : error.diagnostics()) findings_.add(problem);
        }
    }

    void flag(Key key, bool& value) override {
        const Node* node = scalar(key, "true or false");
        if (!node) return;
        if (node->quoted || (node->scalar != "true" && node->scalar != "false"))
            return fail(node->mark, fmt::format("'{}' is {}, not true or false", key.name, kind_of(*node)));
        value = node->scalar == "true";
    }

    void integer(Key key, std::int64_t& value, std::int64_t least, std::int64_t most) override {
        const Node* node = key.body ? find(key) : scalar(key, "a whole number");
        const auto number = node ? whole(key, *node, least, most) : std::nullopt;
        if (number) value = *number;
    }

    void integer_or_word(Key key, std::int64_t& value, std::int64_t most, const char* word) override {
        const Node* node = scalar(key, fmt::format("a whole number or '{}'", word).c_str());
        if (!node) return;
        if (node->scalar == word)
            value = 0;
        else if (const auto number = whole(key, *node, 1, most))
            value = *number;
    }

    void integers(Key key, std::vector<std::int64_t>& values, std::size_t size, std::int64_t least) override {
        const Node* node = find(key);
        if (!node) return;
        constexpr auto most = std::numeric_limits<std::int64_t>::max();
        if (node->kind != Node::Kind::sequence) {
            const auto number = whole(key, *node, least, most);
            if (number) values.assign(size, *number);
            return;
        }
        std::vector<std::int64_t> numbers;
        for (const Node& item : node->items)
            if (const auto number = whole(key, item, least, most)) numbers.push_back(*number);
        if (node->items.size() != size)
            return fail(node->mark, fmt::format("'{}' has {} numbers, not {}", key.name, node->items.size(), size));
        if (numbers.size() == size) values = std::move(numbers);
    }

    void integer_list(Key key, std::vector<std::int64_t>& values, std::int64_t least, std::int64_t most) override {
        if (const Node* node = find(key))
            read_list(key, *node, values, "whole numbers",
                      [&](const Node& item) { return whole(key, item, least, most); });
    }

    void count_or_list(Key key, std::int64_t& count, std::vector<std::int64_t>& list, std::int64_t most) override {
        const Node* node = find(key);
        if (!node) return;
        if (node->kind == Node::Kind::sequence) return integer_list(key, list, 0, most);
        if (const auto number = whole(key, *node, 1, most)) count = *number;
    }

    void quantity(Key key, double& value, Dimension dimension, QuantityRange range) override {
        if (const Node* node = find(key))
            if (const auto number = measure(key, *node, dimension, range)) value = *number;
    }

    void quantities(Key key, std::vector<double>& values, Dimension dimension, QuantityRange range) override {
        const auto one = [&](const Node& item) { return measure(key, item, dimension, range); };
        const Node* node = find(key);
        if (!node) return;
        if (node->kind == Node::Kind::sequence) return read_list(key, *node, values, "numbers with a unit", one);
        if (const auto number = one(*node)) values = {*number};
    }

    void sizes(Key key, std::vector<std::uint64_t>& values) override {
        const Node* node = find(key);
        if (!node) return;
        const auto one = [&](const Node& item) -> std::optional<std::uint64_t> {
            const auto bytes = measure(key, item, Dimension::bytes, {.zero = true, .most = largest_size});
            if (!bytes) return {};
            if (*bytes == std::floor(*bytes)) return static_cast<std::uint64_t>(*bytes);
            fail(item.mark, fmt::format("'{}' is not a whole number of bytes", key.name));
            return {};
        };
        if (node->kind == Node::Kind::sequence && node->items.size() > most_sizes)
            return fail(node->mark, fmt::format("the list has more than {} sizes", most_sizes));
        if (node->kind == Node::Kind::sequence) return read_list(key, *node, values, "sizes", one);
        if (node->kind != Node::Kind::scalar || !is_size_range(node->scalar)) {
            if (const auto bytes = one(*node)) values = {*bytes};
            return;
        }
        SizeRange range = parse_size_range(node->scalar);
        if (range.sizes.empty()) return fail(node->mark, fmt::format("'{}': {}", key.name, range.error), range.hint);
        values = std::move(range.sizes);
    }

    void number(Key key, double& value, double least, double most) override {
        const Node* node = scalar(key, "a number");
        if (!node) return;
        const auto number = node->quoted ? std::nullopt : plain_number(node->scalar, least, most);
        if (!number)
            return fail(node->mark,
                        fmt::format("'{}' is {}, not a number from {} to {}", key.name, kind_of(*node), least, most));
        value = *number;
    }

    void number_or_percent(Key key, double& value, bool& percent, double least, double most, const char* off) override {
        const Node* node = scalar(key, "a number");
        if (!node) return;
        if (off && node->scalar == off) return void(value = 0);
        std::string_view text = node->scalar;
        const bool sign = text.ends_with('%');
        if (sign) text.remove_suffix(1);
        while (sign && text.ends_with(' ')) text.remove_suffix(1);
        const auto number = node->quoted && !sign ? std::nullopt : plain_number(text, least, most);
        if (!number)
            return fail(node->mark,
                        fmt::format("'{}' is {}, not a number from {} to {}, with or without '%'", key.name,
                                    kind_of(*node), least, most),
                        off ? fmt::format("or '{}'", off) : "");
        value = *number;
        percent = sign;
    }

    void choice(Key key, int& value, const std::vector<std::string>& words, std::vector<std::int64_t>* list) override {
        const Node* listed = list ? node_.find(key.name) : nullptr;
        if (listed && listed->kind == Node::Kind::sequence) {
            value = static_cast<int>(words.size());
            return integer_list(key, *list, 0, 1 << 24);
        }
        const Node* node = key.body ? find(key) : scalar(key, "a word");
        if (!node) return;
        const auto found = std::find(words.begin(), words.end(), node->scalar);
        if (node->kind != Node::Kind::scalar || found == words.end())
            return fail(node->mark, fmt::format("'{}' cannot be {}", key.name, kind_of(*node)),
                        suggestion(node->scalar, words, key.body ? "keys, or " : ""));
        value = static_cast<int>(found - words.begin());
    }

    void section(Key key, const std::function<void(Fields&)>& body, const char* off) override {
        const Node* node = find(key);
        if (!node) return;
        if (off && node->kind == Node::Kind::scalar && node->scalar == off) return;
        if (node->kind == Node::Kind::mapping) return inside(*node, key.name, body);
        std::string hint = off ? fmt::format("write keys, or '{}'", off) : "";
        if (key.file) hint = "write keys, or the name of a file";
        fail(node->mark, fmt::format("'{}' is {}, not a mapping", key.name, kind_of(*node)), hint);
    }

    void each(Key key, const std::function<void(Fields&)>& body) override {
        const Node* node = find(key);
        if (!node) return;
        if (node->kind != Node::Kind::sequence)
            return fail(node->mark, fmt::format("'{}' is {}, not a list", key.name, kind_of(*node)));
        inside_each(key, *node, body);
    }

    void quantity_or_each(Key key, double& value, Dimension dimension, QuantityRange range,
                          const std::function<void(Fields&)>& body) override {
        const Node* node = find(key);
        if (!node) return;
        if (node->kind == Node::Kind::sequence) return inside_each(key, *node, body);
        if (const auto number = measure(key, *node, dimension, range)) value = *number;
    }

    void named(Key key, const std::function<void(const std::string&, Fields&)>& body) override {
        const Node* node = find(key);
        if (!node) return;
        if (node->kind != Node::Kind::mapping)
            return fail(node->mark, fmt::format("'{}' is {}, not a mapping", key.name, kind_of(*node)));
        for (const Entry& entry : node->entries) {
            if (entry.key.empty()) fail(entry.mark, fmt::format("a name in '{}' is empty", key.name));
            inside(entry.value, entry.key, [&](Fields& fields) { body(entry.key, fields); });
        }
    }

    void reject(std::string_view key, const std::string& message, const std::string& hint) override {
        fail(follow(key).node->mark, message, hint);
    }

    bool given(std::string_view key) const override { return follow(key).whole; }
    bool sound() const override { return sound_; }

    /// Runs `body`, then reports unknown keys and missing required keys.
    void run(const std::function<void(Fields&)>& body) {
        if (node_.kind != Node::Kind::mapping)
            return fail(node_.mark, fmt::format("{} is {}, not a mapping", what_, kind_of(node_)));
        body(*this);
        if (!known_.empty()) report_unknown();
        if (missing_.empty()) return;
        const char* form = missing_.size() == 1 ? "missing key {} in {}" : "missing keys {} in {}";
        fail(node_.mark, fmt::format(fmt::runtime(form), quoted_list(missing_), what_));
    }

private:
    /// Adds the file of this name, or those of the ranks. Notes a digest of their contents in place of the text, which
    /// may be long.
    bool add_files(const Node& name, std::vector<std::string>& paths) {
        constexpr std::string_view mark = "{rank}";
        const std::filesystem::path path = referred_file(name);
        const std::string written = path.string();
        const std::size_t at = written.find(mark);
        std::string digests;
        for (std::size_t rank = 0;; ++rank) {
            std::string file = written;
            if (at != std::string::npos) file.replace(at, mark.size(), std::to_string(rank));
            if (std::error_code none; rank > 0 && !std::filesystem::exists(file, none)) break;
            const Text text = read_text(file, largest_trace_file);
            if (!text.text) {
                fail(name.mark, text.error, text.hint);
                return false;
            }
            digests += fmt::format("{:016x} ", XXH3_64bits(text.text->data(), text.text->size()));
            paths.push_back(shown(file));
            if (at == std::string::npos) break;
        }
        findings_.note(name, path, digests);
        return true;
    }

    void fail(const Mark& mark, const std::string& message, const std::string& hint = "") {
        sound_ = false;
        if (!findings_.enough()) findings_.add({locate(mark), message, hint});
    }

    struct Followed {
        const Node* node;  ///< the last existing node on the path
        bool whole;        ///< `node` is at the end of the path
    };

    Followed follow(std::string_view path) const {
        const Node* node = &node_;
        while (!path.empty()) {
            const std::string_view part = path.substr(0, path.find('.'));
            const Node* next = node->find(part);
            if (node->kind == Node::Kind::sequence) {
                const auto item = number_in<std::size_t>(part);
                if (item && *item < node->items.size()) next = &node->items[*item];
            }
            if (!next) return {node, false};
            node = next;
            path.remove_prefix(std::min(path.size(), part.size() + 1));
        }
        return {node, true};
    }

    void inside(const Node& node, const std::string& what, const std::function<void(Fields&)>& body) {
        Reader inner(node, what, findings_);
        inner.run(body);
        sound_ = sound_ && inner.sound_;
    }

    void inside_each(const Key& key, const Node& list, const std::function<void(Fields&)>& body) {
        if (list.items.empty()) return fail(list.mark, fmt::format("'{}' has no items", key.name));
        for (std::size_t i = 0; i < list.items.size(); ++i)
            inside(list.items[i], fmt::format("item {} of {}", i + 1, key.name), body);
    }

    /// Returns the value of `key` if the key is given and its value is not empty. Reads a mapping that replaces it.
    const Node* find(const Key& key) {
        known_.emplace_back(key.name);
        const Node* node = node_.find(key.name);
        const auto missing = [&](const char* other) { return !other || !node_.find(other); };
        const bool required = key.required || (key.unless.first && missing(key.unless.first) &&
                                               missing(key.unless.second) && missing(key.unless.third));
        if (!node && required) {
            sound_ = false;
            missing_.emplace_back(key.name);
        }
        if (node && key.body && node->kind == Node::Kind::mapping) {
            inside(*node, key.name, *key.body);
            return nullptr;
        }
        if (!node || node->kind != Node::Kind::null) return node;
        fail(node->mark, fmt::format("'{}' has no value", key.name),
             key.required ? "" : "remove the key to use its default");
        return nullptr;
    }

    bool check_scalar(const Key& key, const Node& node, const char* expected) {
        if (node.kind == Node::Kind::scalar) return true;
        fail(node.mark, fmt::format("'{}' is {}, not {}", key.name, kind_of(node), expected));
        return false;
    }

    const Node* scalar(const Key& key, const char* expected) {
        const Node* node = find(key);
        return node && check_scalar(key, *node, expected) ? node : nullptr;
    }

    /// Reads the items of a list with `read`. If one is wrong, `values` stay unchanged.
    template <class Value, class Read>
    void read_list(const Key& key, const Node& node, std::vector<Value>& values, const char* what, const Read& read) {
        if (node.kind != Node::Kind::sequence)
            return fail(node.mark, fmt::format("'{}' is {}, not a list of {}", key.name, kind_of(node), what));
        if (node.items.empty()) return fail(node.mark, fmt::format("'{}' has no items", key.name));
        std::vector<Value> result;
        for (const Node& item : node.items)
            if (auto value = read(item)) result.push_back(std::move(*value));
        if (result.size() == node.items.size()) values = std::move(result);
    }

    std::optional<std::string> word(const Key& key, const Node& node) {
        if (!check_scalar(key, node, "a text")) return {};
        if (!node.scalar.empty() && !has_control(node.scalar)) return node.scalar;
        const char* what = node.scalar.empty() ? "is empty" : "contains a control character";
        fail(node.mark, fmt::format("'{}' {}", key.name, what));
        return {};
    }

    std::optional<double> measure(const Key& key, const Node& node, Dimension dimension, const QuantityRange& range) {
        if (!check_scalar(key, node, "a number with a unit")) return {};
        if (range.word && node.scalar == range.word) return range.word_value;
        const Quantity quantity = parse_quantity(node.scalar, dimension);
        std::string error, hint;
        if (!quantity.value) {
            error = fmt::format("'{}': {}", key.name, quantity.error);
            hint = quantity.hint;
            if (range.word)
                hint = did_you_mean(node.scalar, {range.word}, fmt::format("{}, or '{}'", hint, range.word));
        } else if (range.zero && *quantity.value < 0) {
            error = fmt::format("'{}' is {}, but must not be negative", key.name, node.scalar);
        } else if (!range.zero && *quantity.value <= 0) {
            error = fmt::format("'{}' is {}, but must be above zero", key.name, node.scalar);
            if (range.word) hint = fmt::format("or '{}'", range.word);
        } else if (*quantity.value < range.least || *quantity.value > range.most) {
            error = fmt::format("'{}' is {}, which is out of range", key.name, node.scalar);
            hint = fmt::format("from {} to {}", format_quantity(range.least, dimension),
                               format_quantity(range.most, dimension));
        } else {
            return quantity.value;
        }
        fail(node.mark, error, hint);
        return {};
    }

    std::optional<std::int64_t> whole(const Key& key, const Node& node, std::int64_t least, std::int64_t most) {
        const WholeNumber number = parse_whole(node, least, most);
        if (!number.value) fail(node.mark, fmt::format("'{}': {}", key.name, number.error), number.hint);
        return number.value;
    }

    void report_unknown() {
        for (const Entry& entry : node_.entries) {
            if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
            sound_ = false;
            if (findings_.enough()) return;
            fail(entry.mark, fmt::format("unknown key '{}'", entry.key), key_suggestion(entry.key, known_));
            // A misspelt key is not also reported as missing.
            if (const auto meant = closest(entry.key, known_)) std::erase(missing_, *meant);
        }
    }

    const Node& node_;
    const std::string what_;
    Findings& findings_;
    bool sound_ = true;
    std::vector<std::string> known_;
    std::vector<std::string> missing_;
};

}  // namespace

void read(const Node& node, const std::string& what, const std::function<void(Fields&)>& body,
          std::vector<Diagnostic>& errors, std::vector<OtherFile>* files) {
    Findings findings(errors, files);
    Reader(node, what, findings).run(body);
}

}  // namespace syncline::config
