#include "sim/config/open_keys.hpp"

#include <string>

#include "sim/config/scenario_file.hpp"

namespace syncline::config {

namespace {

bool is_automatic(const Node* rows) {
    return rows && rows->kind == Node::Kind::scalar && rows->scalar == "auto";
}

Node* parallelism_of(Node& document) {
    Node* training = document.find("training");
    return training ? training->find("parallelism") : nullptr;
}

/// Returns all open numbers of rows of a document: of all layers, and of ranges.
std::vector<Node*> open_rows(Node& document) {
    std::vector<Node*> open;
    Node* parallelism = parallelism_of(document);
    if (!parallelism) return open;
    if (Node* rows = parallelism->find("model"); is_automatic(rows)) open.push_back(rows);
    if (Node* layers = parallelism->find("layers"))
        for (Node& range : layers->items)
            if (Node* rows = range.find("model"); is_automatic(rows)) open.push_back(rows);
    return open;
}

}  // namespace

bool gives_sweep(const Node& document) {
    const Node* collective = document.find("collective");
    return collective && collective->find("sweep");
}

bool gives_open_grid(const Node& document) {
    Node copy = document;
    return !open_rows(copy).empty();
}

void set_grid(Node& document, std::int64_t rows, bool sequence) {
    for (Node* open : open_rows(document)) *open = scalar_at(open->mark, std::to_string(rows));
    if (!sequence) take(*parallelism_of(document), "sequence");
}

}  // namespace syncline::config
