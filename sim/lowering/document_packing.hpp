#pragma once

#include <cstdint>
#include <vector>

#include "sim/plan/documents.hpp"

/// Packing of documents into sequences of s tokens (sequence packing, as in pretraining of language models). Documents
/// follow each other from sequence to sequence, and from iteration to iteration.
///
/// `in_order`: all are joined, and cut wherever a sequence ends (GPT-3, Llama 3); no token is padding.
///
/// `balanced`: the documents of an iteration's sequences, joined and cut at the end of the last one, longest first,
/// each to the sequence with the least Σ n² that has room, which is the longest-processing-time rule (R. Graham,
/// "Bounds on multiprocessing timing anomalies", 1969) for the cost of attention. What has room nowhere is cut: a part
/// fills the emptiest sequence. By the same rule the sequences, most work first, are given to the replica with the
/// least work of those that lack some; each has them in this order, so that replicas have microbatches of about the
/// same work at the same time. Compare the fixed-length greedy packing of Z. Wang et al., "WLB-LLM: workload-balanced
/// 4D parallelism for large language model training", OSDI 2025.
///
/// `padded`: each document, and each part of one longer than s, is a sequence, filled up with padding, which is
/// computed like tokens.
///
/// Left out: sequences of other lengths than the model's (padding to the longest of a microbatch, WLB-LLM's variable
/// length); balance over several iterations, and the time to find a packing (4 to 23 ms in WLB-LLM).
namespace syncline {

/// The documents of a sequence, or parts of documents, in tokens.
using PackedSequence = std::vector<std::int64_t>;

class Packer {
public:
    /// `documents` must outlive the packer. `positions`: length of a sequence, s.
    Packer(const Documents& documents, std::uint64_t seed, std::int64_t positions);

    /// Returns the next iteration's sequences: those of the first replica, of the second, …, each as many.
    std::vector<PackedSequence> next(std::int64_t sequences, std::int64_t replicas);

private:
    /// Returns the next document, at most so long; the rest of it is the next one then.
    std::int64_t take(std::int64_t most);
    std::vector<PackedSequence> balanced(std::int64_t sequences);

    DocumentLengths lengths_;
    Packing packing_;
    std::int64_t positions_;
    std::uint64_t number_ = 0;  ///< of the next document
    std::int64_t rest_ = 0;     ///< of the one before it
};

}  // namespace syncline
