#pragma once

#include <optional>

/// The part of a layer that one rank computes in one pass.
namespace syncline {

/// Routed experts of a layer whose hidden units are divided among other ranks than the rest of it.
struct RoutedShare {
    double fraction = 1;  ///< of each expert's hidden units
    double tokens = 1;    ///< fraction of the layer's tokens that the ranks which divide an expert have together
};

struct Share {
    double samples = 1;
    double fraction = 1;  ///< of the layer's parts (see parts_of): output channels, heads, …
    double area = 1;      ///< fraction of the image, or of a sequence's positions
    /// Fraction of the tokens, if rows divide the work between the halves of a transformer's layers: normalisations and
    /// residual additions.
    double positions = 1;
    /// Fraction of a layer's experts that the rank has; their tokens come from 1/experts ranks, so that it computes as
    /// many as it has itself.
    double experts = 1;
    /// Scores that attention computes, as a fraction of those of whole sequences (document_work.hpp).
    double scores = 1;
    double load = 1;                         ///< tokens of the rank's experts, in units of an equal share
    std::optional<RoutedShare> routed = {};  ///< none: they are divided like the rest, and get all tokens

    double routed_fraction() const { return routed ? routed->fraction : fraction; }
    double routed_tokens() const { return routed ? routed->tokens : 1; }
};

}  // namespace syncline
