#include "sim/config/alternatives.hpp"

#include <algorithm>

namespace syncline::config {

bool Alternative::applies_to(std::size_t number) const {
    return series.empty() || std::find(series.begin(), series.end(), number) != series.end();
}

namespace {

/// Describes the keys that all alternatives have, of which `unless` can take the place of the changes.
void describe(Fields& fields, Alternative& alternative, const char* unless) {
    fields.text({"name", "Name in the output.", true}, alternative.name);
    fields.text({"why", "Reason, in words: what the source leaves open, or what is switched off.", true},
                alternative.why);
    fields.section({.name = "set",
                    .doc = "Changes to every row: keys, or paths of keys, with their values; `~` removes one.",
                    .required = unless == nullptr,
                    .unless = unless},
                   [](Fields&) {});
}

}  // namespace

void describe(Fields& fields, Alternative& alternative) {
    describe(fields, alternative, nullptr);
}

void describe(Fields& fields, AblationFile& file) {
    fields.each({"mechanisms",
                 "Mechanisms of the simulation, and what switches each of them off; `syncline validate --ablate` shows "
                 "what each does to the errors.",
                 true},
                [&](Fields& item) {
                    Alternative& mechanism = file.mechanisms.emplace_back();
                    mechanism.over_rows = true;
                    describe(item, mechanism, "free_layers");
                    std::vector<std::string> names;  // the list is read with the changes
                    item.texts({"free_layers",
                                "Names of layers whose computation takes no time, to see what the others take: "
                                "`[embedding, head]`. Their exchanges and memory remain."},
                               names);
                });
}

}  // namespace syncline::config
