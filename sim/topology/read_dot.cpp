#include <boost/graph/graphviz.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string_view>
#include <vector>

#include "sim/topology/graph_file.hpp"

namespace syncline {

namespace {

bool in_word(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == '_' || letter == '.' || (static_cast<unsigned char>(letter) & 0x80) != 0;
}

/// Estimates in one pass how much work a text is for Boost's parser: `{a b c} -- {d e f}` is nine edges, so a short
/// text can describe more edges than fit in memory, and nested subgraphs recurse.
class Skim {
public:
    explicit Skim(std::string_view text) : text_(text), rest_(text) {
        while (!rest_.empty()) step();
    }

    /// Returns the text in a form that Boost 1.74 can read: it knows neither groups without the word `subgraph` nor
    /// HTML.
    std::string plain() const {
        std::string result;
        std::size_t done = 0;
        for (const Edit& edit : edits_) {
            result.append(text_.substr(done, edit.begin - done)).append(edit.instead);
            done = edit.end;
        }
        return result.append(text_.substr(done));
    }

private:
    struct Group {
        std::size_t names_before;
        std::size_t left;  ///< vertices on the left side of the edge that ends at this group; 0: no edge
    };

    const std::string_view text_;
    std::string_view rest_;
    struct Edit {
        std::size_t begin, end;
        const char* instead;
    };
    std::vector<Edit> edits_;
    std::vector<Group> open_;
    std::size_t names_ = 0, edges_ = 0, copied_ = 0;
    std::size_t left_ = 0;  ///< vertices on the left side of an edge whose right side comes next; 0: no edge
    std::size_t last_ = 0;  ///< number of vertices of the operand just read
    bool after_subgraph_ = false;

    void step() {
        if (rest_.starts_with("//") || rest_.starts_with('#')) return skip_to("\n");
        if (rest_.starts_with("/*")) return skip_to("*/");
        if (rest_.starts_with('[')) return skip_attributes();
        if (rest_.starts_with('"')) {
            skip_string();
            return name();
        }
        if (rest_.starts_with('<')) {
            skip_html();
            return name();
        }
        if (rest_.starts_with("--") || rest_.starts_with("->")) {
            left_ = last_;
            return rest_.remove_prefix(2);
        }
        if (in_word(rest_[0])) return word();
        if (rest_[0] == '{') enter();
        if (rest_[0] == '}') leave();
        rest_.remove_prefix(1);
    }

    void skip_to(std::string_view end) {
        const auto found = rest_.find(end, 1);
        rest_.remove_prefix(found == std::string_view::npos ? rest_.size() : found + end.size());
    }

    void skip_string() {
        std::size_t end = 1;
        while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2 : 1;
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
    }

    std::size_t place() const { return text_.size() - rest_.size(); }

    void skip_html() {
        const std::size_t begin = place();
        int depth = 0;
        do {
            depth += rest_[0] == '<' ? 1 : rest_[0] == '>' ? -1 : 0;
            rest_.remove_prefix(1);
        } while (depth > 0 && !rest_.empty());
        edits_.push_back({begin, place(), "\"\""});
    }

    void skip_attributes() {
        while (!rest_.empty() && rest_[0] != ']')
            if (rest_[0] == '"')
                skip_string();
            else if (rest_[0] == '<')
                skip_html();
            else
                rest_.remove_prefix(1);
    }

    void word() {
        const auto end = std::find_if_not(rest_.begin(), rest_.end(), in_word);
        std::string word(rest_.begin(), end);
        rest_.remove_prefix(word.size());
        for (char& letter : word) letter = static_cast<char>(letter | 0x20);
        if (word == "subgraph")
            after_subgraph_ = true;
        else
            name();
    }

    void name() {
        ++names_;
        // `subgraph x` without braces repeats the members of x: at most all names so far.
        const auto next = std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size());
        const bool opens = after_subgraph_ && rest_.substr(next).starts_with('{');
        if (opens) return;
        operand(after_subgraph_ ? names_ : 1);
        after_subgraph_ = false;
    }

    void operand(std::size_t vertices) {
        edges_ += left_ * vertices;
        require_not_too_many(edges_);
        left_ = 0;
        last_ = vertices;
    }

    void enter() {
        if (!open_.empty() && !after_subgraph_) edits_.push_back({place(), place(), " subgraph "});
        after_subgraph_ = false;
        open_.push_back({names_, left_});
        left_ = 0;
        // The parser recurses, and copies the list of vertices at every subgraph.
        constexpr std::size_t deepest_nesting = 100;
        copied_ += names_;
        if (open_.size() > deepest_nesting || copied_ > 20'000'000)
            throw TopologyError("", "too many subgraphs, or subgraphs nested too deeply");
    }

    void leave() {
        if (open_.empty()) return;
        left_ = open_.back().left;
        operand(names_ - open_.back().names_before);
        open_.pop_back();
    }
};

template <class Directed>
FileGraph read(const std::string& text, bool one_way) {
    boost::adjacency_list<boost::vecS, boost::vecS, Directed, FileVertex, FileEdge> graph;
    boost::dynamic_properties properties(boost::ignore_other_properties);
    properties.property("node_id", boost::get(&FileVertex::name, graph));
    properties.property("kind", boost::get(&FileVertex::kind, graph));
    properties.property("bandwidth", boost::get(&FileEdge::bandwidth, graph));
    properties.property("latency", boost::get(&FileEdge::latency, graph));
    boost::read_graphviz(text, graph, properties);

    // The parser returns them in alphabetical order. Hosts are numbered in natural order, so host-2 comes before
    // host-10.
    std::vector<std::size_t> order(boost::num_vertices(graph)), place(order.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return strverscmp(graph[a].name.c_str(), graph[b].name.c_str()) < 0;
    });
    FileGraph result;
    for (const std::size_t vertex : order) {
        place[vertex] = result.vertices.size();
        result.vertices.push_back(graph[vertex]);
    }
    for (auto [edge, end] = boost::edges(graph); edge != end; ++edge) {
        FileEdge& read = result.edges.emplace_back(graph[*edge]);
        read.from = place[boost::source(*edge, graph)];
        read.to = place[boost::target(*edge, graph)];
        read.one_way = one_way;
    }
    return result;
}

}  // namespace

FileGraph read_dot(const std::string& file) {
    const std::string text = Skim(file).plain();
    try {
        try {
            return read<boost::undirectedS>(text, false);
        } catch (const boost::directed_graph_error&) {
            return read<boost::directedS>(text, true);
        }
    } catch (const std::exception& problem) {
        throw TopologyError("", fmt::format("this is not DOT: {}", problem.what()));
    }
}

}  // namespace syncline
