#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "sim/base/diagnostics.hpp"
#include "sim/base/trimmed.hpp"
#include "sim/config/keys.hpp"

namespace syncline::config {

namespace {

constexpr std::int64_t longest_document = 1'000'000'000;  // tokens; more is a mistake

/// Reads lengths of documents, one per line; a first line that is no number is a header. Throws ConfigError.
std::vector<std::int64_t> read_lengths(const std::string& path, std::string_view text) {
    std::vector<std::int64_t> lengths;
    const auto fail = [&](int line, const std::string& message, std::string_view shown = {}) {
        throw ConfigError(
            {{{path, line, 1, std::string(shown)}, message, "one length in tokens per line, such as `1713`"}});
    };
    int number = 0;
    while (!text.empty()) {
        ++number;
        const std::string_view line = trimmed(text.substr(0, text.find('\n')), " \t\r");
        text.remove_prefix(
            std::min(text.size(), text.find('\n') == std::string_view::npos ? text.size() : text.find('\n') + 1));
        if (line.empty()) continue;
        std::int64_t length = 0;
        const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), length);
        if (error == std::errc::invalid_argument && number == 1) continue;
        if (error != std::errc() || end != line.data() + line.size() || length < 1 || length > longest_document)
            fail(number, fmt::format("'{}' is not a whole number from 1 to {}", line, longest_document), line);
        lengths.push_back(length);
    }
    if (lengths.empty()) fail(1, "the file has no lengths");
    return lengths;
}

void describe(Fields& fields, Documents& documents) {
    fields.one_of(
        {"lengths", "Distribution of the documents' lengths (see --seed); all have the mean length (`equal`)."},
        documents.lengths,
        {{"lognormal", Lengths::lognormal},
         {"pareto", Lengths::pareto},
         {"exponential", Lengths::exponential},
         {"uniform", Lengths::uniform},
         {"equal", Lengths::equal}});
    fields.quantity({"mean", "Mean length in tokens: `1200`, `4 k`.", false, false, "file"}, documents.mean,
                    Dimension::count, {.least = 1, .most = static_cast<double>(longest_document)});
    fields.number({"variation", "Coefficient of variation of `lognormal`: standard deviation / mean."},
                  documents.variation, 0, 100);
    fields.number({"shape", "Shape of `pareto`, above 1: the smaller, the more tokens are in few documents."},
                  documents.shape, 1.001, 1000);
    fields.file(
        {"file",
         "File of lengths in tokens, one per line, in place of a distribution: the documents in this order, over "
         "and over."},
        [&](const std::string& path, const std::string& text, const Fields::Beside&) {
            documents.listed = read_lengths(path, text);
        });
    fields.one_of({"packing",
                   "Packing into sequences: joined and cut (`in-order`), longest first to the sequence with the least "
                   "work (`balanced`), or one each, filled up with padding (`padded`)."},
                  documents.packing,
                  {{"in-order", Packing::in_order}, {"balanced", Packing::balanced}, {"padded", Packing::padded}});
    if (!fields.sound()) return;
    for (const char* key : {"lengths", "mean", "variation", "shape"})
        if (fields.given(key) && fields.given("file"))
            return fields.reject(key, fmt::format("'{}' and 'file' exclude each other", key), "remove one of the two");
    if (fields.given("variation") && documents.lengths != Lengths::lognormal)
        fields.reject("variation", "'variation' has no effect here: it applies to `lengths: lognormal`", "remove it");
    if (fields.given("shape") && documents.lengths != Lengths::pareto)
        fields.reject("shape", "'shape' has no effect here: it applies to `lengths: pareto`", "remove it");
}

void describe(Fields& fields, Loading& loading) {
    fields.quantity(
        {"bytes_per_sample", "Bytes that are read for a sample: `150 kB`. Default: 4 bytes for each of its tokens."},
        loading.bytes_per_sample, Dimension::bytes, {.most = 1e15});
    fields.integer({"prefetch",
                    "Number of batches that may be read ahead, while earlier ones are computed; 0: an iteration waits "
                    "for its batch."},
                   loading.prefetch, 0, 1000);
}

}  // namespace

void describe_documents(Fields& training, std::optional<Documents>& documents) {
    training.section({"documents",
                      "Documents of which samples are made. Attention stays within each, so that microbatches of equal "
                      "tokens have unequal work. Default: a sample is one document."},
                     [&](Fields& inner) { describe(inner, documents ? *documents : documents.emplace()); });
}

void describe_loading(Fields& training, std::optional<Loading>& loading) {
    training.section(
        {"loading",
         "Reading of input from the platform's `storage`, by all ranks at the same time. Default: the input "
         "is there."},
        [&](Fields& inner) { describe(inner, loading ? *loading : loading.emplace()); });
}

}  // namespace syncline::config
