// The closed form with symbols, the same with numbers put in, and its value beside the simulation.

/// Parses formulas such as "2(N-1)(α + ⌈S/N⌉β) + (N-1)⌈S/N⌉γ" into a tree; returns null if one is not understood.
/// Nodes: {number}, {symbol}, {ceil: node}, {floor: node}, {lg: node}, {sum: [[sign, node]]}, {product: [[node, whether
/// it divides]]}.
function parsed_formula(text) {
    const tokens = text.match(/\d+(?:\.\d+)?|lg|[A-Za-zαβγ]|[()⌈⌉⌊⌋+\-·/]|\S/g) ?? [];
    let at = 0;
    const fail = () => {
        throw new SyntaxError(text);
    };
    const enter = (close) => {
        ++at;
        const inner = sum();
        if (tokens[at++] !== close) fail();
        return inner;
    };
    function factor() {
        const token = tokens[at];
        if (token === "(") return enter(")");
        if (token === "⌈") return {ceil: enter("⌉")};
        if (token === "⌊") return {floor: enter("⌋")};
        ++at;
        if (/^\d/.test(token ?? "")) return {number: Number(token)};
        if (token === "lg") return {lg: factor()};
        if (/^[A-Za-zαβγ]$/.test(token ?? "")) return {symbol: token};
        return fail();
    }
    function product() {
        const parts = [[factor(), false]];
        for (;;) {
            const token = tokens[at];
            if (token === "·" || token === "/") {
                ++at;
                parts.push([factor(), token === "/"]);
            } else if (token !== undefined && /^[\dA-Za-zαβγ(⌈⌊]/.test(token)) {
                parts.push([factor(), false]);
            } else {
                return parts.length === 1 ? parts[0][0] : {product: parts};
            }
        }
    }
    function sum() {
        const parts = [[1, product()]];
        while (tokens[at] === "+" || tokens[at] === "-") parts.push([tokens[at++] === "+" ? 1 : -1, product()]);
        return parts.length === 1 ? parts[0][1] : {sum: parts};
    }
    try {
        const tree = sum();
        return at === tokens.length ? tree : null;
    } catch (error) {
        if (error instanceof SyntaxError) return null;
        throw error;
    }
}

function formula_value(node, values) {
    const of = (inner) => formula_value(inner, values);
    if (node.number !== undefined) return node.number;
    if (node.symbol !== undefined) return values[node.symbol] ?? NaN;
    if (node.ceil) return Math.ceil(of(node.ceil) - 1e-9);
    if (node.floor) return Math.floor(of(node.floor) + 1e-9);
    if (node.lg) return Math.log2(of(node.lg));
    if (node.sum) return node.sum.reduce((all, [sign, part]) => all + sign * of(part), 0);
    return node.product.reduce((all, [part, divides]) => (divides ? all / of(part) : all * of(part)), 1);
}

/// Returns the parts of a sum that are not inside brackets.
const addends = (text) => text.split(/ \+ (?![^(]*\))/);

const symbols_of = (node) => (node.symbol ? [node.symbol] : [
    node.ceil, node.floor, node.lg, ...(node.sum ?? []).map(([, part]) => part),
    ...(node.product ?? []).map(([part]) => part)
].filter(Boolean).flatMap(symbols_of));

/// Returns the formula with numbers in place of symbols: bytes as "12.5 MB", a time per byte as a bandwidth that
/// divides. Terms that are 0 are left out.
function formula_numbers(node, values, inside = false) {
    const value = formula_value(node, values);
    if (node.number !== undefined) return digits(node.number);
    if (node.symbol === "S" || node.symbol === "h") return units.B(value);
    if (node.symbol === "α") return units.s(value);
    if (node.symbol === "β" || node.symbol === "γ") return `1 / ${units.Bps(1 / value)}`;
    if (node.symbol) return digits(value, 4);
    if (node.lg || node.floor) return digits(value);
    if (node.ceil) return symbols_of(node).includes("S") ? units.B(value) : digits(value);
    if (node.sum) {
        const parts = node.sum.filter(([, part]) => formula_value(part, values) !== 0);
        if (parts.length === 0) return "0";
        if (parts.every(([, part]) => symbols_of(part).every((symbol) => /[NKPqs]/.test(symbol)))) return digits(value);
        const text =
            parts.map(([sign, part], i) => `${i > 0 ? (sign > 0 ? " + " : " − ") : ""}${formula_numbers(part, values)}`)
                .join("");
        return inside && parts.length > 1 ? `(${text})` : text;
    }
    const rates = node.product.filter(([part, divides]) => !divides && (part.symbol === "β" || part.symbol === "γ"));
    const others = node.product.filter((one) => !rates.includes(one));
    const text = others
                     .map(
                         ([part, divides], i) =>
                             `${i > 0 ? (divides ? " / " : " · ") : ""}${formula_numbers(part, values, true)}`)
                     .join("");
    return text + rates.map(([part]) => ` / ${units.Bps(1 / values[part.symbol])}`).join("");
}

/// Returns the closed form for this number of ranks, without remarks such as "and X more unless N is a power of two".
function formula_for(text, ranks) {
    const [, form, more] = /^(.*?)(?:, P = 2\^⌊lg N⌋)?, and (.*) more unless N is a power of two$/.exec(text) ?? [];
    if (form === undefined) return text;
    return Number.isInteger(Math.log2(ranks)) ? form.replaceAll("P", "N") : `${form} + ${more}`;
}

/// Returns the closed form without the additions that take no time.
const without_adding = (text) =>
    addends(
        text.replace(/ \+ [^ ()]*γ(?=\))/g, "").replace(/\((\d*)β\)/g, (_, count) => (count ? `·${count}β` : "β")))
        .filter((part) => !/γ/.test(part))
        .join(" + ")
        .replaceAll("··", "·");

/// Returns what the explanation knows about the formula of an exchange: {text, tree, values, seconds}.
function exchange_formula(result, theory) {
    const [exchange] = (theory.formula ?? "").split("; none ");
    if (exchange === "" || /^none |^no exchange|Σ exchanges|; or /.test(exchange)) return null;
    const term = (symbol) => theory.terms.find((one) => one.symbol === symbol)?.value ?? undefined;
    const whole = formula_for(
        exchange.replace(/, in \d+ channels$/, "")
            .replace("max over servers of its bytes", "h")
            .replace(/ \+ reductions$/, ""),
        term("N"));
    const text = term("γ") === 0 ? without_adding(whole) : whole;
    const tree = parsed_formula(text), buckets = term("B") ?? 1;
    const values = {N: term("N"), S: term("max S"), "α": term("α"), "β": term("β"), "γ": term("γ"), s: term("s")};
    values.P = 2 ** Math.floor(Math.log2(values.N) + 1e-9);
    const seconds = buckets === 1 || values.s ? result.closed_form.communication_time_s : term("T(max S)");
    if (!tree || (seconds ?? null) === null) return {text, buckets, tree: null};
    // One symbol that the explanation does not name, such as the degree d of a graph, follows from the time.
    const unknown = [...new Set(symbols_of(tree))].filter((symbol) => values[symbol] === undefined);
    if (unknown.length === 1) {
        const at = (value) => formula_value(tree, {...values, [unknown[0]]: value});
        values[unknown[0]] = (seconds - at(0)) / (at(1) - at(0));
        if (unknown[0] === "d") values.d = Math.round(values.d);
    }
    const value = formula_value(tree, values);
    return {
        text,
        buckets,
        values,
        seconds,
        tree: Number.isFinite(value) && Math.abs(value - seconds) <= 2e-3 * seconds ? tree : null,
        h: values.h
    };
}

const term_of = (part, text) => make("u", {class: `term ${part.replaceAll(" ", "-")}`}, text);
const formula_line = (...parts) => make("div", {class: "line"}, ...parts);

/// Returns the check below a formula: whether the simulation agrees with it.
function agreement(simulated, formula, name = "the formula") {
    const equal = Math.abs(simulated - formula) <= 5e-4 * formula;
    return make(
        "p", {class: `check ${equal ? "equal" : ""}`}, make("b", {"aria-hidden": "true"}, equal ? "✓ " : "≠ "),
        "Simulated message by message: ", make("b", {}, units.s(simulated)),
        equal ? `, equal to ${name}.` :
                `, ${change_text(formula, simulated).replace("no change", "the same")} against ${name}.`);
}

/// Returns the time of a pipeline of equal stages that wait for nothing but each other, (m + (p−1)/v)·w, or null if this
/// one is not of that kind: its time differs by more than a twentieth. w is the computation of a microbatch on a stage,
/// or, if that does not explain the time, with its exchanges.
function pipeline_formula(result) {
    const {stages, micro_batches: m, chunks: v, schedule} = result.parallelism ?? {};
    if (!(stages > 1 && m > 0 && /^(gpipe|1f1b|interleaved)/i.test(schedule ?? ""))) return null;
    const fill = (stages - 1) / (v || 1), computing = result.compute_time_s;
    return [computing, computing + result.exposed_communication_time_s]
        .map((busy, i) => ({per: busy / m, fill, formula: (m + fill) * busy / m, exchanges: i > 0}))
        .find(({formula}) => Math.abs(formula / result.iteration_time_s - 1) < 0.05) ?? null;
}

/// Shows the formula of a training's iteration. Terms have the colours that their times have in the bars.
function show_formula(parent, {result, variant}) {
    const theory = variant.explanation?.theory, closed = result.closed_form?.iteration_time_s ?? null;
    const {stages, micro_batches: m, chunks: v} = result.parallelism ?? {};
    const lines = [], said = [];
    const c = result.compute_time_s, exposed = result.exposed_communication_time_s, all = result.communication_time_s;
    const exchange = theory ? exchange_formula(result, theory) : null, pipeline = pipeline_formula(result);
    // If the two times differ by rounding only, the simulated one is shown for both, so that their digits agree.
    const total = Math.abs(closed / result.iteration_time_s - 1) < 1e-9 ? result.iteration_time_s : closed;
    let named;  // how the closed form is called
    if (closed !== null && all > 0 && exchange) {
        const beside = !same_exactly(exposed, all) || exchange.buckets > 1 && !exchange.values?.s;
        const head = beside ? [make("i", {}, "t")] :
                              [make("i", {}, "T"), " = ", term_of("computation", make("i", {}, "c")), " + "];
        lines.push(formula_line(
            ...(beside ? ["one exchange: ", ...head, " = "] : head),
            term_of("exposed communication", make("i", {}, exchange.text))));
        if (exchange.tree)
            lines.push(formula_line(
                "= ", ...(beside ? [] : [term_of("computation", units.s(c)), " + "]),
                term_of("exposed communication", formula_numbers(exchange.tree, exchange.values)),
                ...(beside ? [" = ", make("b", {}, units.s(exchange.seconds))] : [])));
        if (exchange.h) said.push(`h: the bytes of the fullest server, ${units.B(exchange.h)}.`);
        if (beside) {
            const one_by_one =
                same_exactly(exposed, all) && exchange.tree && same_exactly(exchange.buckets * exchange.seconds, all);
            lines.push(formula_line(
                make("i", {}, "T"), " = ", term_of("computation", make("i", {}, "c")), " + ",
                term_of(
                    "exposed communication", one_by_one ? make("i", {}, `${exchange.buckets}·t`) : "what is exposed")));
            if (exposed < all * 0.9995)
                said.push(`Of ${units.s(all)} in exchanges, ${units.s(all - exposed)} are beside computation.`);
        }
        lines.push(formula_line(
            "= ", term_of("computation", units.s(c)), " + ",
            term_of("exposed communication", units.s(Math.max(0, total - c))), " = ", make("b", {}, units.s(total))));
        const zero =
            [["α", "latency"], ["γ", "time for adding up"]].filter(([symbol]) => exchange.values?.[symbol] === 0);
        if (zero.length > 0)
            said.push(`There is no ${zero.map(([symbol, name]) => `${name} (${symbol} = 0)`).join(" and no ")}.`);
        if (/P/.test(exchange.text) && exchange.tree)
            said.push(`P is the largest power of two that is not above N, ${exchange.values.P}.`);
        if (exchange.values?.["β"] > 0) said.push(`1/β is the bandwidth, ${units.Bps(1 / exchange.values["β"])}.`);
    } else if (pipeline) {
        const {per, fill, formula} = pipeline;
        const i = (text) => make("i", {}, text);
        lines.push(
            formula_line(
                i("T"), " = ", term_of("computation", i("m·w")), " + ",
                term_of("waiting", i(v > 1 ? "(p−1)/v·w" : "(p−1)·w"))),
            formula_line(
                "= ", term_of("computation", `${m} · ${units.s(per)}`), " + ",
                term_of("waiting", `${v > 1 ? `${stages - 1}/${v}` : stages - 1} · ${units.s(per)}`)),
            formula_line(
                "= ", term_of("computation", units.s(m * per)), " + ", term_of("waiting", units.s(fill * per)), " = ",
                make("b", {}, units.s(formula))));
        said.push(
            `m microbatches of w each${pipeline.exchanges ? ", exchanges inside the layers included" : ""}; p stages${
                v > 1 ? " with v chunks" : ""}.`);
        parent.replaceChildren(...lines, note(said.join(" ")), agreement(result.iteration_time_s, formula));
        return;
    } else {
        const parts = iteration_parts.map(([name, of]) => [name, of(result)])
                          .filter(([, value]) => value > 5e-4 * result.iteration_time_s);
        const joined = (make_one) => parts.flatMap((part, at) => [...(at > 0 ? [" + "] : []), make_one(part)]);
        lines.push(
            formula_line(make("i", {}, "T"), " = ", ...joined(([name]) => term_of(name, name))),
            formula_line(
                "= ", ...joined(([name, value]) => term_of(name, units.s(value))),
                ...(parts.length > 1 ? [" = ", make("b", {}, units.s(result.iteration_time_s))] : [])));
        named = "its closed form";
        const reason = /none (.*)$/.exec(theory?.formula ?? "")?.[1], waits = /straggler/.test(reason ?? "");
        said.push(
            reason ? `There is no closed form ${reason}. These are the parts on the rank that finishes last${
                         waits ? "; waiting for others inside an exchange counts as communication" : ""}.` :
                closed !== null ? "" :
                                  "These are the parts on the rank that finishes last.");
    }
    parent.replaceChildren(
        ...lines, ...(said.filter(Boolean).length > 0 ? [note(said.filter(Boolean).join(" "))] : []),
        ...(closed !== null ? [agreement(result.iteration_time_s, closed, named)] : []));
}
