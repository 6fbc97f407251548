#include "sim/import/command_line.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sim/base/number.hpp"

namespace syncline::config {

namespace {

bool is_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Words of a shell's text. Quotes around options are ignored, so that they are found in variables.
class Words {
public:
    explicit Words(const Mark& start) : text_(start.source->text), place_(start) {}

    struct Word {
        std::string text;
        Mark mark;
    };

    std::optional<Word> next() {
        skip_space();
        if (at_ == text_.size()) return std::nullopt;
        Word word{"", place_};
        while (at_ < text_.size() && !is_space()) {
            const char c = text_[at_];
            if (c == '\'' || c == '"') {
                if (!take_quoted(word.text)) break;
            } else if (c == '$') {
                take_dollar(word.text);
            } else if (c == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n') {
                step();
                take(word.text);
            } else {
                take(word.text);
            }
        }
        remember(word.text);
        return word;
    }

private:
    static constexpr std::size_t longest_value = 4096;

    void step() {
        if (text_[at_] == '\n')
            place_ = {place_.source, place_.line + 1, 1};
        else
            ++place_.column;
        ++at_;
    }
    void take(std::string& word) {
        if (word.size() < longest_value) word += text_[at_];
        step();
    }

    bool is_space() const {
        const char c = text_[at_];
        const bool continued = c == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n';
        return continued || at_ == loose_end_ || std::string_view(" \t\r\n();|&<>").find(c) != std::string_view::npos;
    }

    void skip_space() {
        while (at_ < text_.size()) {
            constexpr std::string_view batch = "#SBATCH";
            const std::string_view rest = std::string_view(text_).substr(at_);
            if (rest.starts_with(batch)) {
                for (std::size_t i = 0; i < batch.size(); ++i) step();
            } else if (rest.front() == '#') {
                while (at_ < text_.size() && text_[at_] != '\n') step();
            } else if (is_space()) {
                step();
            } else {
                return;
            }
        }
    }

    /// Takes a quoted part of a word; returns false if it holds options, whose words come next.
    bool take_quoted(std::string& word) {
        const char quote = text_[at_];
        const std::size_t end = std::min(text_.find(quote, at_ + 1), text_.size());
        const std::string_view inside = std::string_view(text_).substr(at_ + 1, end - at_ - 1);
        step();
        if (inside.find("--") != std::string_view::npos && inside.find_first_of(" \t\n") != std::string_view::npos) {
            loose_end_ = end;
            return false;
        }
        while (at_ < end) {
            if (quote == '"' && text_[at_] == '$')
                take_dollar(word);
            else
                take(word);
        }
        if (at_ < text_.size()) step();
        return true;
    }

    /// Takes a variable, or a product of some, and appends its value.
    void take_dollar(std::string& word) {
        const std::string_view rest = std::string_view(text_).substr(at_);
        std::size_t size = 1;
        std::optional<std::string> value;
        if (rest.starts_with("$((")) {
            const std::size_t end = rest.find("))");
            size = std::min(end, rest.size() - 2) + 2;
            if (end != std::string_view::npos) value = product(rest.substr(3, end - 3));
        } else if (rest.starts_with("${")) {
            size = std::min(rest.find('}'), rest.size() - 1) + 1;
            std::string_view name = rest.substr(2, size - 3);
            const std::size_t otherwise = name.find(":-");
            value = value_of(name.substr(0, otherwise));
            if (!value && otherwise != std::string_view::npos) value = std::string(name.substr(otherwise + 2));
        } else {
            while (size < rest.size() && is_name(rest[size])) ++size;
            value = value_of(rest.substr(1, size - 1));
        }
        const std::string text = value.value_or(std::string(rest.substr(0, size)));
        if (word.size() + text.size() <= longest_value) word += text;
        for (std::size_t i = 0; i < size; ++i) step();
    }

    std::optional<std::string> value_of(std::string_view name) const {
        const auto found = values_.find(name);
        return found == values_.end() ? std::nullopt : std::optional(found->second);
    }

    /// Returns the product of numbers and variables: `$NODES * 8`.
    std::optional<std::string> product(std::string_view expression) const {
        std::int64_t result = 1;
        while (true) {
            const std::size_t star = expression.find('*');
            std::string_view factor = expression.substr(0, star);
            while (!factor.empty() && (factor.front() == ' ' || factor.front() == '$' || factor.front() == '{'))
                factor.remove_prefix(1);
            while (!factor.empty() && (factor.back() == ' ' || factor.back() == '}')) factor.remove_suffix(1);
            const auto variable = value_of(factor);
            const auto number = number_in<std::int32_t>(variable ? *variable : factor);
            constexpr std::int64_t most = 1 << 30;
            if (!number || *number < 0 || (result *= *number) > most) return std::nullopt;
            if (star == std::string_view::npos) return std::to_string(result);
            expression.remove_prefix(star + 1);
        }
    }

    /// Remembers the variable that a word sets.
    void remember(const std::string& word) {
        const std::size_t equals = word.find('=');
        if (equals == 0 || equals == std::string::npos || equals + 1 == word.size()) return;
        if (!std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), is_name)) return;
        values_.insert_or_assign(word.substr(0, equals), word.substr(equals + 1));
    }

    const std::string& text_;
    std::size_t at_ = 0;
    std::size_t loose_end_ = std::string::npos;  ///< a quote that closes options
    Mark place_;
    std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace

Node options_in(const Mark& start) {
    constexpr std::size_t most_options = 5000;
    Node options = mapping_at(start);
    std::map<std::string, std::size_t> known;
    Entry* open = nullptr;  // an option that has no value yet
    Words words(start);
    while (auto word = words.next()) {
        std::string& text = word->text;
        const bool option =
            text.size() > 2 && text.starts_with("--") && std::isalpha(static_cast<unsigned char>(text[2])) != 0;
        if (!option) {
            if (open) open->value = scalar_at(word->mark, text);
            open = nullptr;
            continue;
        }
        const std::size_t equals = text.find('=');
        std::string name = text.substr(2, equals == std::string::npos ? equals : equals - 2);
        std::replace(name.begin(), name.end(), '_', '-');
        if (options.entries.size() >= most_options)
            throw ConfigError({{locate(word->mark), "this file has too many options", "the maximum is 5000"}});
        const auto [place, fresh] = known.emplace(name, options.entries.size());
        if (fresh) options.entries.push_back({name, word->mark, {}});
        Entry& entry = options.entries[place->second];
        entry.mark = word->mark;
        entry.value = scalar_at(word->mark, equals == std::string::npos ? "true" : text.substr(equals + 1));
        open = equals == std::string::npos ? &entry : nullptr;
    }
    return options;
}

}  // namespace syncline::config
