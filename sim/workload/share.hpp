#pragma once

/// Which part of a layer one rank computes at once.
namespace syncline {

struct Share {
    double samples = 1;
    double part = 1;  ///< of the layer's parts (see parts_of): output channels, heads, …
    double area = 1;  ///< of the image
    /// Of the tokens, where rows share out what lies between the halves of a transformer's layers: normalisations and
    /// residual additions.
    double positions = 1;
};

}  // namespace syncline
