#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/units.hpp"

/// The field table: each key of our files is declared once, with its name, type, range, and what it means.
///
/// A struct's table is one function that visits its fields through this interface. Two things are made from it: the
/// reader, which fills the struct from a document and reports everything that is wrong (reader.hpp), and the JSON
/// Schema that editors use (schema.hpp). A default is the value that the struct's member holds before it is visited.
namespace syncline::config {

struct Key {
    const char* name;
    const char* doc;  ///< one sentence, for the schema
    bool required = false;
    bool file =
        false;  ///< of a section: the name of a file may stand in its place (the reader sees what the file holds)
    const char* unless = nullptr;  ///< required only where this other key is not given
};

/// Beyond "a finite number above zero with a unit", what a quantity's key takes.
struct QuantityRange {
    bool zero = false;           ///< zero is allowed
    const char* word = nullptr;  ///< this word stands for `word_value`: `unlimited`, `none`
    double word_value = 0;
    /// What lies outside is refused: values that no machine has come from a slip of the unit.
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
    /// The name of a file that is no YAML, relative to the text in which it stands. The body gets the file's path, as
    /// it is shown in messages, and what it holds.
    virtual void file(Key key, const std::function<void(const std::string& path, const std::string& text)>& body) = 0;
    virtual void flag(Key key, bool& value) = 0;
    virtual void integer(Key key, std::int64_t& value, std::int64_t least,
                         std::int64_t most = std::numeric_limits<std::int64_t>::max()) = 0;
    /// A list of exactly `size` whole numbers; one bare number stands for `size` equal ones.
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
    /// A number without a unit: a factor, a part.
    virtual void number(Key key, double& value, double least, double most) = 0;
    /// The same, or that many per cent of something: `2 %`. `percent` says which. `off`, if given, is a word for zero.
    virtual void number_or_percent(Key key, double& value, bool& percent, double least, double most,
                                   const char* off = nullptr) = 0;
    /// `value` becomes the index of the word that is given. With `list`, whole numbers from 0 may be given in its
    /// place; `value` is then the number of words.
    virtual void choice(Key key, int& value, const std::vector<std::string>& words,
                        std::vector<std::int64_t>* list = nullptr) = 0;
    /// A mapping of its own. `off`, if given, is a word that may stand in its place and means "as if the key were
    /// absent". The body runs only when the key holds a mapping (and always for the schema).
    virtual void section(Key key, const std::function<void(Fields&)>& body, const char* off = nullptr) = 0;
    /// A list of mappings, not empty; the body runs once for each.
    virtual void each(Key key, const std::function<void(Fields&)>& body) = 0;
    /// A quantity, or a list of mappings as `each` takes.
    virtual void quantity_or_each(Key key, double& value, Dimension dimension, QuantityRange range,
                                  const std::function<void(Fields&)>& body) = 0;
    /// A word as `choice` takes, or a mapping, for which the body runs and `value` stays what it is; -1 is no default.
    virtual void choice_or_section(Key key, int& value, const std::vector<std::string>& words,
                                   const std::function<void(Fields&)>& body) = 0;
    /// A whole number, or a mapping, for which the body runs and `value` stays what it is.
    virtual void integer_or_section(Key key, std::int64_t& value, std::int64_t least, std::int64_t most,
                                    const std::function<void(Fields&)>& body) = 0;
    /// A mapping from names of the user's choice to mappings; the body runs once for each. A body that visits no field
    /// leaves its mapping open: any keys are taken.
    virtual void named(Key key, const std::function<void(const std::string& name, Fields&)>& body) = 0;

    /// Says that the value of `key` (or this mapping as a whole, if the key is not there) is wrong for a reason that no
    /// single field can know. The schema ignores it. A key may be a path through mappings and lists, whose items count
    /// from 0, as far as there is one: `parallelism.layers.1.first`.
    virtual void reject(std::string_view key, const std::string& message, const std::string& hint) = 0;
    /// Whether the document gives `key`, which may be a path, too. Always false for the schema.
    virtual bool given(std::string_view key) const = 0;
    /// Whether nothing has been found wrong in this mapping so far, so that a check over several fields makes sense.
    /// Always false for the schema.
    virtual bool sound() const = 0;

    /// A choice whose values are enumerators.
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

    /// A choice among words that stand for themselves.
    void one_of(Key key, std::string& value, const std::vector<std::string>& words) {
        const auto at = std::find(words.begin(), words.end(), value);
        int index = at == words.end() ? 0 : static_cast<int>(at - words.begin());
        choice(key, index, words);
        value = words[static_cast<std::size_t>(index)];
    }
};

}  // namespace syncline::config
