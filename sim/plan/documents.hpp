#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Documents of which samples are made: their lengths, in tokens, and how they are packed into sequences.
namespace syncline {

/// Distribution of lengths with a given mean. `lognormal`: with a coefficient of variation. `pareto`: with a shape a,
/// P(X > x) = (x0/x)^a from x0 = mean (a - 1)/a. `uniform`: from 0 to twice the mean. All lengths are rounded to whole
/// tokens, and are at least 1.
enum class Lengths { equal, uniform, exponential, lognormal, pareto };

/// Packing of documents into sequences of the model's length: see document_packing.hpp.
enum class Packing { in_order, balanced, padded };

struct Documents {
    Lengths lengths = Lengths::lognormal;
    double mean = 0;
    double variation = 1;              ///< of `lognormal`
    double shape = 2;                  ///< of `pareto`
    std::vector<std::int64_t> listed;  ///< lengths of a file, over and over, in place of a distribution
    std::string file;                  ///< its name
    Packing packing = Packing::in_order;
    /// If positive, all sequences have the mean work of so many sequences of each iteration, as if it were divided
    /// evenly: of the reference rank, and where an explanation asks what balance would give.
    std::int64_t evened_out = 0;
    bool first_counts = false;  ///< the first of several iterations is measured, too, as where there are faults

    /// Returns whether the lengths depend on the seed.
    bool drawn() const { return listed.empty() && lengths != Lengths::equal; }
};

/// The lengths of documents 0, 1, ...: of a file, or drawn with a seed.
class DocumentLengths {
public:
    DocumentLengths(const Documents& documents, std::uint64_t seed) : documents_(documents), seed_(seed) {}

    /// Returns the length of a document, which depends only on its number, the documents and the seed.
    std::int64_t of(std::uint64_t number) const;

private:
    const Documents& documents_;
    std::uint64_t seed_;
};

}  // namespace syncline
