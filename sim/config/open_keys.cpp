#include "sim/config/open_keys.hpp"

#include <string>

#include "sim/config/scenario_file.hpp"

namespace syncline::config {

namespace {

bool is_automatic(const Node* grid) {
    return grid && grid->kind == Node::Kind::scalar && grid->scalar == "auto";
}

Node* parallelism_of(Node& document) {
    Node* training = document.find("training");
    return training ? training->find("parallelism") : nullptr;
}

/// Returns all open grids of a document: of all layers, and of ranges.
std::vector<Node*> open_grids(Node& document) {
    std::vector<Node*> grids;
    Node* parallelism = parallelism_of(document);
    if (!parallelism) return grids;
    if (Node* grid = parallelism->find("grid"); is_automatic(grid)) grids.push_back(grid);
    if (Node* layers = parallelism->find("layers"))
        for (Node& range : layers->items)
            if (Node* grid = range.find("grid"); is_automatic(grid)) grids.push_back(grid);
    return grids;
}

}  // namespace

bool gives_sweep(const Node& document) {
    const Node* collective = document.find("collective");
    return collective && collective->find("sweep");
}

bool gives_open_grid(const Node& document) {
    Node copy = document;
    return !open_grids(copy).empty();
}

void set_grid(Node& document, std::int64_t rows, bool sequence) {
    for (Node* grid : open_grids(document)) {
        const Mark mark = grid->mark;
        *grid = mapping_at(mark, {{"rows", mark, scalar_at(mark, std::to_string(rows))}});
    }
    if (!sequence) take(*parallelism_of(document), "sequence");
}

}  // namespace syncline::config
