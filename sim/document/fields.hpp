#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/units.hpp"

/// The field table: each key of our files is declared once, with its name, type, range and meaning, in one function
/// that visits the fields of a struct. The reader fills the struct from a document and reports all errors (reader.hpp);
/// the JSON Schema is generated (json_schema.hpp). A default is the value that the member holds before it is visited.
namespace syncline::config {

class Fields;

/// Up to three other keys.
struct OtherKeys {
    OtherKeys(const char* one = nullptr, const char* another = nullptr, const char* further = nullptr)
        : first(one), second(another), third(further) {}
    const char *first, *second, *third;
};

struct Key {
    const char* name;
    const char* doc;  ///< description; json_schema.cpp adds whether it is required, and its default
    bool required = false;
    bool file = false;      ///< the name of a file may replace a section (the reader sees the file's content)
    OtherKeys unless = {};  ///< required only if none of these keys is given
    /// Runs for a mapping, which may then replace the value, whatever the value's type; the value stays unchanged.
    const std::function<void(Fields&)>* body = nullptr;
};

/// The range of a quantity's key, if it differs from "a finite number above zero with a unit".
struct QuantityRange {
    bool zero = false;           ///< zero is allowed
    const char* word = nullptr;  ///< this word means `word_value`: `unlimited`, `none`
    double word_value = 0;
    /// Values outside are rejected: values that no machine has come from a wrong unit.
    double least = 0;
    double most = std::numeric_limits<double>::infinity();
};

class Fields {
public:
    Fields() = default;
    Fields(const Fields&) = delete;
    Fields& operator=(const Fields&) = delete;
    virtual ~Fields() = default;

    virtual void text(Key key, std::string& value) = 0;
    /// A list of texts, not empty.
    virtual void texts(Key key, std::vector<std::string>& values) = 0;
    /// Returns the content of a file that such a file names, relative to it. Throws ConfigError.
    using Beside = std::function<std::string(const std::string& name)>;
    /// Takes the path of a file that is not YAML, as shown in messages, and its content. May throw ConfigError.
    using FileReader = std::function<void(const std::string& path, const std::string& text, const Beside& beside)>;
    /// The name of such a file, relative to the text that contains it.
    virtual void file(Key key, const FileReader& body) = 0;
    /// Names of files that need not be text, relative to the text that contains them: one name, which may have `{rank}`
    /// for 0, 1, … as far as such files exist, or a list. The body may throw ConfigError.
    using PathsReader = std::function<void(const std::vector<std::string>& paths)>;
    virtual void paths(Key key, const PathsReader& body) = 0;
    virtual void flag(Key key, bool& value) = 0;
    virtual void integer(Key key, std::int64_t& value, std::int64_t least,
                         std::int64_t most = std::numeric_limits<std::int64_t>::max()) = 0;
    /// A whole number from 1, or a word, which means 0.
    virtual void integer_or_word(Key key, std::int64_t& value, std::int64_t most, const char* word) = 0;
    /// A list of exactly `size` whole numbers; a single number means `size` equal ones.
    virtual void integers(Key key, std::vector<std::int64_t>& values, std::size_t size, std::int64_t least) = 0;
    /// A list of whole numbers, not empty.
    virtual void integer_list(Key key, std::vector<std::int64_t>& values, std::int64_t least,
                              std::int64_t most = std::numeric_limits<std::int64_t>::max()) = 0;
    /// One whole number of at least 1, or a list of whole numbers from 0.
    virtual void count_or_list(Key key, std::int64_t& count, std::vector<std::int64_t>& list, std::int64_t most) = 0;
    virtual void quantity(Key key, double& value, Dimension dimension, QuantityRange range = {}) = 0;
    /// One quantity, or a list of them, not empty.
    virtual void quantities(Key key, std::vector<double>& values, Dimension dimension, QuantityRange range = {}) = 0;
    /// Whole numbers of bytes: one size, a list of them, or a geometric range (size_range.hpp).
    virtual void sizes(Key key, std::vector<std::uint64_t>& values) = 0;
    /// A number without a unit: a factor or a part.
    virtual void number(Key key, double& value, double least, double most) = 0;
    /// A number, or a percentage: `2 %`. `percent` becomes which of the two. `off`, if given, is a word for zero.
    virtual void number_or_percent(Key key, double& value, bool& percent, double least, double most,
                                   const char* off = nullptr) = 0;
    /// One of several words. `value` becomes the index of the word that is given. With `list`, whole numbers from 0 may
    /// be given instead; `value` is then the number of words. -1 means no default.
    virtual void choice(Key key, int& value, const std::vector<std::string>& words,
                        std::vector<std::int64_t>* list = nullptr) = 0;
    /// A mapping. `off`, if given, is a word that may replace it and means "as if the key were absent". The body runs
    /// only if the key holds a mapping (and always for the schema).
    virtual void section(Key key, const std::function<void(Fields&)>& body, const char* off = nullptr) = 0;
    /// A list of mappings, not empty; the body runs once for each.
    virtual void each(Key key, const std::function<void(Fields&)>& body) = 0;
    /// A quantity, or a list of mappings as in `each`.
    virtual void quantity_or_each(Key key, double& value, Dimension dimension, QuantityRange range,
                                  const std::function<void(Fields&)>& body) = 0;
    /// A mapping from arbitrary names to mappings; the body runs once for each. If the body visits no field, any keys
    /// are accepted.
    virtual void named(Key key, const std::function<void(const std::string& name, Fields&)>& body) = 0;

    /// Reports an error in the value of `key` (or in this mapping as a whole, if the key is missing) that no single
    /// field can detect. The schema ignores it. A key may be a path through mappings and lists, whose items count from
    /// 0, and is followed as far as it exists: `parallelism.layers.1.first`.
    virtual void reject(std::string_view key, const std::string& message, const std::string& hint) = 0;
    /// Returns whether the document gives `key`, which may also be a path. Always false for the schema.
    virtual bool given(std::string_view key) const = 0;
    /// Returns whether this mapping has no errors so far, so that a check over several fields makes sense.
    /// Always false for the schema.
    virtual bool sound() const = 0;

    /// Describe a value, or a mapping in its place: see Key::body.
    using Body = std::function<void(Fields&)>;
    void choice_or_section(Key key, int& value, const std::vector<std::string>& words, const Body& body) {
        key.body = &body;
        choice(key, value, words);
    }
    void quantity_or_section(Key key, double& value, Dimension dimension, QuantityRange range, const Body& body) {
        key.body = &body;
        quantity(key, value, dimension, range);
    }
    void integer_or_section(Key key, std::int64_t& value, std::int64_t least, std::int64_t most, const Body& body) {
        key.body = &body;
        integer(key, value, least, most);
    }
    void number_or_section(Key key, double& value, double least, double most, const Body& body) {
        key.body = &body;
        number(key, value, least, most);
    }
    void percent_or_section(Key key, double& value, bool& percent, double least, double most, const char* off,
                            const Body& body) {
        key.body = &body;
        number_or_percent(key, value, percent, least, most, off);
    }

    /// Describe a value that has no default, and is set only if the key is given.
    void quantity(Key key, std::optional<double>& value, Dimension dimension, QuantityRange range = {}) {
        double given_value = -1;
        quantity(key, given_value, dimension, range);
        if (given(key.name)) value = given_value;
    }
    void number(Key key, std::optional<double>& value, double least, double most) {
        double given_value = least - 1;
        number(key, given_value, least, most);
        if (given(key.name)) value = given_value;
    }
    void flag(Key key, std::optional<bool>& value) {
        bool given_value = false;
        flag(key, given_value);
        if (given(key.name)) value = given_value;
    }

    /// Describes a choice whose values are enumerators.
    template <class Enum>
    void one_of(Key key, Enum& value, const std::vector<std::pair<std::string, Enum>>& options) {
        std::vector<std::string> words;
        int index = 0;
        for (std::size_t i = 0; i < options.size(); ++i) {
            words.push_back(options[i].first);
            if (options[i].second == value) index = static_cast<int>(i);
        }
        choice(key, index, words);
        value = options[static_cast<std::size_t>(index)].second;
    }

    /// Describes a choice whose values are the words themselves.
    void one_of(Key key, std::string& value, const std::vector<std::string>& words) {
        const auto at = std::find(words.begin(), words.end(), value);
        int index = at == words.end() ? 0 : static_cast<int>(at - words.begin());
        choice(key, index, words);
        value = words[static_cast<std::size_t>(index)];
    }
};

}  // namespace syncline::config
