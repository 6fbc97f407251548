#include "sim/base/dot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace syncline {

namespace {

bool in_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           (static_cast<unsigned char>(c) & 0x80) != 0;
}

/// A sign, which is its own text, or a name: a word, a number, or what is in quotes.
struct Token {
    enum class Kind { sign, word, quoted, end } kind = Kind::end;
    std::string text;
    std::size_t position = 0;

    bool is(std::string_view sign) const { return kind == Kind::sign && text == sign; }
    bool names() const { return kind == Kind::word || kind == Kind::quoted; }
    /// Keywords are the same in capital letters.
    bool is_keyword(std::string_view keyword) const {
        return kind == Kind::word && std::ranges::equal(text, keyword, [](char a, char b) { return (a | 0x20) == b; });
    }
};

class Tokens {
public:
    explicit Tokens(std::string_view text) : text_(text) { next(); }

    const Token& now() const { return now_; }

    /// Returns the present token, and goes to the next one.
    Token take() {
        Token taken = std::move(now_);
        next();
        return taken;
    }

private:
    void next() {
        skip_spaces();
        now_ = {Token::Kind::end, "", next_};
        if (next_ == text_.size()) return;
        const char c = text_[next_];
        const bool minus = c == '-' && next_ + 1 < text_.size() && in_name(text_[next_ + 1]);
        if (c == '"') {
            now_.kind = Token::Kind::quoted;
            quoted();
        } else if (c == '<') {
            now_.kind = Token::Kind::quoted;
            skip_html();
        } else if (in_name(c) || minus) {
            now_.kind = Token::Kind::word;
            const auto* const end = std::find_if_not(text_.begin() + next_ + 1, text_.end(), in_name);
            now_.text = {text_.begin() + next_, end};
            next_ += now_.text.size();
        } else {
            now_.kind = Token::Kind::sign;
            now_.text = text_.substr(next_, c == '-' ? 2 : 1);
            next_ += now_.text.size();
        }
    }

    void skip_spaces() {
        while (next_ < text_.size()) {
            next_ = std::min(text_.find_first_not_of(" \t\r\n", next_), text_.size());
            const std::string_view rest = text_.substr(next_);
            if (rest.starts_with("//") || rest.starts_with('#')) {
                next_ = std::min(text_.find('\n', next_), text_.size());
            } else if (rest.starts_with("/*")) {
                const std::size_t end = text_.find("*/", next_ + 2);
                if (end == std::string_view::npos) throw DotError(next_, "this comment does not end");
                next_ = end + 2;
            } else {
                return;
            }
        }
    }

    /// Reads what is in quotes, and further quotes that a plus sign adds.
    void quoted() {
        while (true) {
            const std::size_t begin = next_++;
            for (; next_ < text_.size() && text_[next_] != '"'; ++next_) {
                const char escaped = text_[next_] == '\\' && next_ + 1 < text_.size() ? text_[next_ + 1] : '\0';
                if (escaped == '"' || escaped == '\\' || escaped == '\n') ++next_;
                if (escaped == '\n') continue;
                if (escaped == '\\') now_.text += '\\';
                now_.text += text_[next_];
            }
            if (next_ == text_.size()) throw DotError(begin, "these quotes do not end");
            const std::size_t end = ++next_;
            skip_spaces();
            if (next_ == text_.size() || text_[next_] != '+') {
                next_ = end;
                return;
            }
            ++next_;
            skip_spaces();
            if (next_ == text_.size() || text_[next_] != '"') throw DotError(next_, "quotes should be here");
        }
    }

    void skip_html() {
        int depth = 0;
        do {
            if (next_ == text_.size()) throw DotError(now_.position, "this HTML does not end");
            depth += text_[next_] == '<' ? 1 : text_[next_] == '>' ? -1 : 0;
            ++next_;
        } while (depth > 0);
    }

    std::string_view text_;
    std::size_t next_ = 0;
    Token now_;
};

class DotReader {
public:
    DotReader(std::string_view text, const std::vector<std::string>& attributes,
              const std::function<void(std::size_t, std::size_t)>& grows)
        : tokens_(text), attributes_(attributes), grows_(grows) {}

    DotGraph read() {
        strict_ = now().is_keyword("strict");
        if (strict_) tokens_.take();
        graph_.directed = now().is_keyword("digraph");
        if (!graph_.directed && !now().is_keyword("graph")) refuse("a graph begins with 'graph' or 'digraph'");
        tokens_.take();
        if (now().names()) tokens_.take();
        need("{");
        Scope scope{Values(attributes_.size()), Values(attributes_.size()), {}};
        statements(scope);
        need("}");
        if (now().kind != Token::Kind::end) refuse("the graph has ended, and only one can be read");
        return std::move(graph_);
    }

private:
    using Values = std::vector<DotValue>;
    using Vertices = std::vector<std::size_t>;

    struct Scope {
        Values of_vertices, of_edges;  ///< defaults
        Vertices named;
    };

    const Token& now() const { return tokens_.now(); }

    [[noreturn]] void refuse(const std::string& message) const {
        if (now().kind == Token::Kind::end) throw DotError(now().position, "the graph does not end");
        throw DotError(now().position, message);
    }

    void need(std::string_view sign) {
        if (!now().is(sign)) refuse(fmt::format("'{}' should be here", sign));
        tokens_.take();
    }

    Token name() {
        if (!now().names()) refuse("a name should be here");
        return tokens_.take();
    }

    void statements(Scope& scope) {
        while (!now().is("}"))
            if (now().is(";") || now().is(","))
                tokens_.take();
            else
                statement(scope);
    }

    void statement(Scope& scope) {
        for (const auto& [keyword, defaults] : {std::pair<const char*, Values*>{"graph", nullptr},
                                                {"node", &scope.of_vertices},
                                                {"edge", &scope.of_edges}}) {
            if (!now().is_keyword(keyword)) continue;
            tokens_.take();
            if (!now().is("[") && !now().is("=")) refuse("'[' should be here");
            const Values given = attributes();
            if (defaults != nullptr) set(*defaults, given);
            return;
        }
        const std::size_t position = now().position;
        std::vector<Vertices> chain;
        const bool one = !now().is("{") && !now().is_keyword("subgraph");
        if (one) {
            Token first = name();
            if (now().is("=")) {  // an attribute of the graph
                tokens_.take();
                name();
                return;
            }
            chain.push_back({vertex(std::move(first.text), scope)});
            skip_port();
        } else {
            chain.push_back(subgraph(scope));
        }
        while (now().is("--") || now().is("->")) {
            if (now().is("->") != graph_.directed)
                refuse(graph_.directed ? "edges of a digraph are '->'" : "edges of a graph are '--'");
            tokens_.take();
            chain.push_back(operand(scope));
        }
        const Values given = attributes();
        if (chain.size() == 1 && one) set(graph_.vertices[chain.front().front()].values, given);
        Values values = scope.of_edges;
        set(values, given);
        for (std::size_t i = 1; i < chain.size(); ++i)
            for (const std::size_t from : chain[i - 1])
                for (const std::size_t to : chain[i]) connect(from, to, values, given, position);
    }

    Vertices operand(Scope& scope) {
        if (now().is("{") || now().is_keyword("subgraph")) return subgraph(scope);
        Token one = name();
        skip_port();
        return {vertex(std::move(one.text), scope)};
    }

    void skip_port() {
        while (now().is(":")) {
            tokens_.take();
            name();
        }
    }

    /// Reads `{...}`, `subgraph {...}`, `subgraph s {...}`, or `subgraph s`, whose vertices were named before.
    Vertices subgraph(Scope& outer) {
        std::optional<std::string> name;
        if (now().is_keyword("subgraph")) {
            tokens_.take();
            if (now().names()) name = tokens_.take().text;
        }
        Vertices vertices;
        if (name) vertices = subgraphs_[*name];
        if (!name || now().is("{")) {
            constexpr int deepest = 100;
            if (++depth_ > deepest) refuse("subgraphs are nested too deeply");
            need("{");
            Scope scope{outer.of_vertices, outer.of_edges, std::move(vertices)};
            statements(scope);
            need("}");
            --depth_;
            vertices = std::move(scope.named);
        }
        std::ranges::sort(vertices);
        vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
        constexpr std::size_t most_copied = 20'000'000;
        if ((copied_ += vertices.size()) > most_copied) refuse("the subgraphs have too many vertices");
        outer.named.insert(outer.named.end(), vertices.begin(), vertices.end());
        if (name) subgraphs_[*name] = vertices;
        return vertices;
    }

    std::size_t vertex(std::string name, Scope& scope) {
        const auto [found, added] = numbers_.try_emplace(std::move(name), graph_.vertices.size());
        if (added) {
            grows_(graph_.vertices.size() + 1, graph_.edges.size());
            graph_.vertices.push_back({found->first, scope.of_vertices});
        }
        scope.named.push_back(found->second);
        return found->second;
    }

    void connect(std::size_t from, std::size_t to, const Values& values, const Values& given, std::size_t position) {
        if (strict_) {
            const auto ends = !graph_.directed && to < from ? std::pair{to, from} : std::pair{from, to};
            const auto [found, added] = connected_.try_emplace(ends, graph_.edges.size());
            if (!added) return set(graph_.edges[found->second].values, given);
        }
        grows_(graph_.vertices.size(), graph_.edges.size() + 1);
        graph_.edges.push_back({from, to, values, position});
    }

    /// Reads any number of lists in brackets.
    Values attributes() {
        Values given(attributes_.size());
        while (now().is("[")) {
            tokens_.take();
            while (!now().is("]")) {
                const std::string key = name().text;
                need("=");
                Token value = name();
                const auto found = std::ranges::find(attributes_, key);
                if (found != attributes_.end())
                    given[static_cast<std::size_t>(found - attributes_.begin())] = {std::move(value.text),
                                                                                    value.position};
                if (now().is(",") || now().is(";")) tokens_.take();
            }
            tokens_.take();
        }
        return given;
    }

    static void set(Values& values, const Values& given) {
        for (std::size_t i = 0; i < values.size(); ++i)
            if (!given[i].text.empty()) values[i] = given[i];
    }

    Tokens tokens_;
    const std::vector<std::string>& attributes_;
    const std::function<void(std::size_t, std::size_t)>& grows_;
    bool strict_ = false;
    DotGraph graph_;
    std::unordered_map<std::string, std::size_t> numbers_;
    std::map<std::string, Vertices> subgraphs_;
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> connected_;  ///< edges of a strict graph, by their ends
    int depth_ = 0;
    std::size_t copied_ = 0;
};

}  // namespace

DotGraph read_dot(std::string_view text, const std::vector<std::string>& attributes,
                  const std::function<void(std::size_t vertices, std::size_t edges)>& grows) {
    return DotReader(text, attributes, grows).read();
}

}  // namespace syncline
