// Exploring: what a setting shows, and what happens when a knob is turned.

function explore() {
    const keep_button = make(
        "button", {
            type: "button",
            class: "small",
            onclick: () => {
                kept = kept === shown ? null : shown;
                show_rows();
            }
        },
        "Keep this one");
    const knobs = make("div", {id: "knobs"}),
          reset = make(
              "button", {type: "button", class: "small", onclick: () => change({variant: subject.variant, set: {}})},
              "Reset");
    const details = make(
        "details", {class: "numbers all"},
        make("summary", {}, "All details of this run: timeline, critical path, links, theory"));
    Object.assign(view, {
        player: card("picture-card o1"),
        why: make("p", {id: "why", "aria-live": "polite"}),
        rows: shape("svg", {
            class: "drawing",
            role: "img",
            "aria-label": "Timelines, one above the other; all details are in the table below."
        }),
        rows_title: make("h2", {}, "When does what happen?"),
        rows_legend: make("ul", {class: "legend"}),
        knobs,
        problem: make("div"),
        time: make("b", {id: "time"}),
        facts: make("div", {class: "facts"}),
        parts: make("div"),
        formula: make("div", {class: "formula-box"}),
        keep_button,
        reset,
        details,
        details_place: make("div")
    });
    view.player.id = "player";
    view.player.hidden = true;
    details.append(view.details_place);
    details.addEventListener("toggle", () => show_details());
    const curve_card = card("curve-card o6");
    view.rows_box = make("div", {class: "canvas"}, view.rows);
    view.rows_card = card(
        "rows-card o5", make("div", {class: "heading"}, view.rows_title, keep_button), view.rows_box, view.rows_legend);
    view.explore.classList.add("empty");  // until there is a run to show
    view.below = make("div", {class: "o5"});
    view.explore.replaceChildren(
        make(
            "div", {class: "two"},
            view.player,
            make(
                "div", {class: "beside"},
                card(
                    "knobs-card o2", make("div", {class: "heading"}, make("h2", {}, "Knobs"), reset), knobs,
                    view.problem),
                view.numbers_card = card(
                    "numbers-card o4",
                    view.main_number = make(
                        "div", {class: "main-number"}, view.time_name = make("span", {}, "one iteration"), view.time),
                    view.facts, view.parts, view.formula)),
            card("why-card o3", view.why), view.rows_card, view.below, curve_card),
        ...(lesson ? [view.solution = make("section", {id: "solution"})] : []), view.take_card = card("take"),
        make("section", {class: "figure"}, details),
        view.keys = make(
            "p", {class: "keys"}, make("kbd", {}, "space"), " play · ", make("kbd", {}, "←"), " ", make("kbd", {}, "→"),
            " step · ", make("kbd", {}, "Home"), " start · the address of this page keeps your settings"));
    view.take = take_along(view.take_card, {with_predictions: lesson !== null});
    view.panel = knob_panel(knobs, turn);
    view.curve = curve(curve_card, {
        pick: (key) => {
            remember("curve", key);
            show_curve(true);
        },
        go: (value) => {
            const knob = view.axis;
            turn(knob.key, value);
        }
    });
    const open_view = view;
    new ResizeObserver(() => {
        if (shown && view === open_view && view.rows_box.clientWidth > 0 &&
            view.rows_box.clientWidth !== view.rows_width)
            show_rows();
    }).observe(view.rows_box);
    if (lesson) show_solution();
    view.panel.show(moved(subject.knobs));
    refresh();
}

/// Returns the knobs at the places that the setting gives them.
const moved = (knobs) => knobs.map((knob) => {
    const value = knob.key === "variant" ? setting.variant : setting.set[knob.key];
    if (value === undefined) return knob;
    const at = knob.values.indexOf(value);
    return at >= 0 ? {...knob, at} : {...knob, values: [...knob.values, value], at: knob.values.length};
});

let waiting = null, turned_at = 0;

/// A knob was turned; turns within 60 ms become one request.
function turn(key, value) {
    turned_at = performance.now();
    const set = {...setting.set};
    const own = subject.knobs.find((knob) => knob.key === key);
    if (key === "variant")
        setting = {...setting, variant: value};
    else {
        if (value === null || (setting.variant === subject.variant && own?.values[own.at] === value))
            delete set[key];
        else
            set[key] = value;
        setting = {...setting, set};
    }
    clearTimeout(waiting);
    waiting = setTimeout(refresh, 60);
}

/// Changes the setting at once.
function change(wanted) {
    turned_at = performance.now();
    setting = wanted;
    view.panel.show(moved(subject.knobs));
    return refresh();
}

/// Writes the setting into the address: what differs from the start.
function remember_setting() {
    for (const name of [...address.keys()])
        if (!own_names.has(name)) address.delete(name);
    for (const [name, value] of Object.entries(setting.set)) address.set(name, value);
    remember("variant", setting.variant === subject.variant ? null : setting.variant);
}

async function refresh() {
    const wanted = setting, key = key_of(wanted), open_view = view;
    state("busy");
    view.reset.hidden = Object.keys(setting.set).length === 0 && setting.variant === subject.variant;
    remember_setting();
    let run = known_runs.get(key);
    try {
        // The points of a curve would keep the simulators from what the reader waits for.
        run ??= await runs_of(request(wanted), grids_of.take());
    } catch (refused) {
        if (view !== open_view || setting !== wanted) return;
        const box = trouble(refused);
        box.id = "problem";
        // Without a run to show, the refusal is the first thing to read.
        const place = shown || !view.answer ? view.problem : view.answer;
        place.replaceChildren(box);
        const back = settled;
        if (shown && back)
            box.append(make(
                "div", {},
                make("button", {type: "button", class: "small", onclick: () => change(back)}, "Turn it back")));
        view.explore.classList.add("stale");
        state("problem");
        return;
    }
    if (!run || view !== open_view || setting !== wanted) return;
    keep_run(key, run);
    settings_of.set(run, wanted.set);
    settled = wanted;
    show(run);
}

/// Shows a run: the numbers at once, the pictures in the next frames.
function show(run) {
    const before = shown, open_view = view;
    shown = run;
    view.problem.replaceChildren();
    view.explore.classList.remove("stale", "empty");
    view.panel.show(run.knobs);
    show_numbers(run);
    show_why(before, run);
    view.take.show(run);
    state("ready");
    if (turned_at > 0) performance.measure("answer", {start: turned_at, end: performance.now()});
    turned_at = 0;
    requestAnimationFrame(() => {
        if (view !== open_view || shown !== run) return;
        show_player(run, before);
        show_rows(before);
        requestAnimationFrame(() => {
            if (view !== open_view || shown !== run) return;
            show_curve();
            if (run.kind === "exchange")
                compare_variants(run);
            else if (lesson)
                colour_answers();
            show_details();
        });
    });
}

function show_numbers(run) {
    const {result, kind} = run;
    const exchange = kind === "exchange", point = exchange ? result.points[0] : null;
    const seconds = exchange ? point.completion_time_s : result.iteration_time_s ?? 0;
    view.main_number.classList.toggle("small", !lesson && kind === "training");  // the answer above has it
    view.time_name.textContent = exchange ? `${result.operation} of ${units.B(point.bytes)}` : "one iteration";
    view.time.textContent = units.s(seconds);
    view.time.dataset.seconds = seconds;
    const fact = (name, value) =>
        (value === null || value === undefined || value === "" ?
             [] :
             [make("div", {}, make("span", {}, name), make("b", {}, value))]);
    const link = result.links?.[0];
    view.facts.replaceChildren(
        ...(exchange ? [...fact("ranks", String(result.ranks)), ...fact("algorithm", result.algorithm)] : [
            ...fact(
                "samples per second",
                (result.throughput_samples_per_s ?? null) === null ? null : digits(result.throughput_samples_per_s, 4)),
            ...fact(
                "scaling efficiency",
                (result.scaling_efficiency ?? null) === null || result.ranks === 1 ?
                    null :
                    units.share(result.scaling_efficiency)),
            ...fact("bubble", result.pipeline_bubble ? units.share(result.pipeline_bubble) : null),
            ...fact(
                "sent by a rank, at most",
                result.most_bytes_sent_by_rank > 0 ? units.B(result.most_bytes_sent_by_rank) : null),
            ...fact("busiest link", link && link.utilisation > 0.0005 ? units.share(link.utilisation) : null),
            ...fact("memory of a device", result.memory?.total_bytes > 0 ? units.B(result.memory.total_bytes) : null)
        ]));
    if (!lesson) show_first_screen(run);
    view.parts.replaceChildren(
        ...(exchange                          ? [sizes_table(run)] :
                kind === "training" && lesson ? [...time_bar(result).children].slice(1) :
                                                []));
    if (kind === "training")
        show_formula(view.formula, run);
    else
        view.formula.replaceChildren(
            ...(exchange && result.points.some((one) => one.closed_form_s) ?
                    [note("The formula is the closed form of the algorithm.")] :
                    []));
}

/// Shows a scenario's answer above all else; the card of numbers does not repeat it.
function show_first_screen(run) {
    const {result, kind} = run, several = subject.variants.length > 1;
    view.below.replaceChildren();
    view.numbers_card.hidden = kind === "jobs";
    if (kind === "training") {
        show_answer(view.answer, result, run.variant, several);
        view.facts.replaceChildren();
        // The facts about a whole run would otherwise stand between the answer and the knobs.
        const bar = view.answer.querySelector(".time");
        while (bar?.nextSibling) view.below.append(bar.nextSibling);
    } else if (kind === "jobs") {
        jobs_answer(view.answer, result, several);
        jobs_over_time(view.below, result);
        racks_over_time(view.below, result);
        neighbours_table(view.below, result);
        jobs_table(view.below, result);
    } else {
        view.answer.replaceChildren();
    }
}

/// Returns what a knob changed for jobs that share a platform: {knobs, time, reason}.
function jobs_changed(before, after) {
    const [from, to] = [before.result, after.result];
    const worst =
        started_jobs(to).reduce((most, job) => (most && most.slowdown >= job.slowdown ? most : job), null);
    return {
        knobs: moved_knobs(before, after).map(({text}) => text).join(", "),
        time: `The last job ends after ${units.s(from.makespan_s)} → ${units.s(to.makespan_s)} (${
            change_text(from.makespan_s, to.makespan_s)})`,
        reason: `The mean slowdown is ${digits(to.mean_slowdown, 4)} in place of ${digits(from.mean_slowdown, 4)}. ${
            worst?.slowdown > 1.0005 ? `${worst.name} loses most, ${digits(worst.slowdown, 4)} times its time alone.` :
                                       "No job slows another one."}`
    };
}

function show_why(before, run) {
    const changed = run.kind === "jobs" ? jobs_changed : what_changed;
    const {knobs, time, reason} = before ? changed(before, run) : {};
    if (knobs) {
        view.why.replaceChildren(make("b", {}, `${knobs}.`), ` ${time}. `, reason);
        return;
    }
    if (before === run) return;
    const diagnosis = lesson && first_sentence(run.variant?.explanation?.diagnosis);
    view.why.replaceChildren(
        ...(diagnosis ? [make("b", {}, diagnosis), " "] : []),
        make("span", {class: "on-screen"}, "Turn a knob: this line says what changed, and why."));
}

function show_player(run, before) {
    if (run.kind === "other") return;
    view.player.hidden = false;  // it is laid out for its width
    if (view.film) {
        view.film.show(run);
    } else {
        const at = Number(address.get("t"));
        view.film =
            player(view.player, run, {autoplay: before === null && lesson !== null && !(at > 0), frame: moved_to});
        if (at > 0) view.film.seconds = at;
    }
    view.player.hidden = view.keys.hidden = view.player.querySelector("svg") === null;
}

let film_timer = null;

/// The picture shows another time: the line of the timelines follows, and the address when it rests.
function moved_to(seconds) {
    move_head(seconds);
    clearTimeout(film_timer);
    film_timer = setTimeout(() => {
        if (shown)
            remember(
                "t",
                seconds > 0 && seconds < 0.9999 * run_window(shown) ? String(Number(seconds.toPrecision(5))) : null);
    }, 400);
}

const run_window = ({variant, result}) =>
    variant?.stages?.window_s ?? variant?.timeline?.window_s ?? result.iteration_time_s ?? Infinity;

function move_head(seconds) {
    const head = view.rows.querySelector(".head");
    if (!head || !view.rows_x || !Number.isFinite(seconds)) return;
    head.setAttribute("transform", `translate(${short(view.rows_x(seconds))} 0)`);
    head.setAttribute("visibility", "visible");
}

const settings_of = new WeakMap();  // runs and the keys that were set for them

/// Returns for example "ring-8 with ranks 16": the variant's name alone would mislead.
function label_of(run) {
    const set = settings_of.get(run) ?? {};
    const changed = run.knobs.filter(({key, at}) => key !== "variant" && at !== null && key in set)
                        .map(({label, values, at}) => `${label} ${shown_value(values[at])}`);
    return run.variant.name + (changed.length > 0 ? ` with ${changed.join(", ")}` : "");
}

/// Shows the times of an exchange, beside other variants and the exchange before.
function show_exchanges(run, other, width) {
    const others = view.others_of === run ? view.others : [], earlier = kept ? "kept" : "before";
    const swatch = (part) => make("i", {style: `background: ${paint_of(part)}`});
    if (run.result.points.length === 1) {
        view.rows_title.textContent = `Time of ${units.B(run.result.points[0].bytes)}, by variant`;
        view.rows_legend.replaceChildren();
        draw_times(view.rows, width, [
            {name: run.variant.name, run, fill: "quantity"},
            ...(other ? [{name: `${other.variant.name} (${earlier})`, run: other, faint: true}] : []),
            ...others.map((one, i) => ({name: one.variant.name, run: one, fill: series_of(i)}))
        ]);
        return;
    }
    view.rows_title.textContent = "Time by size";
    view.rows_legend.replaceChildren(
        make("li", {}, swatch("quantity"), make("b", {}, run.variant.name)),
        ...others.map((one, i) => make("li", {}, swatch(series_of(i)), one.variant.name)),
        make("li", {}, "● simulated"), make("li", {}, "○ by formula"),
        ...(other ? [make("li", {}, `dashed: ${earlier}`)] : []));
    draw_sizes(view.rows, width, run, other, others);
}

function show_rows(before = view.before ?? null) {
    view.before = before;
    const run = shown, other = kept ?? before, width = Math.max(260, Math.round(view.rows_box.clientWidth));
    view.rows_width = view.rows_box.clientWidth;
    view.keep_button.textContent = kept === run && kept ? "Forget it" : "Keep this one";
    view.keep_button.setAttribute("aria-pressed", String(kept !== null && kept === run));
    if (run.kind === "exchange") {
        show_exchanges(run, other === run ? null : other, width);
        return;
    }
    view.rows_card.hidden = !run.variant?.timeline && !run.variant?.stages;
    if (view.rows_card.hidden) return;
    const list = [{title: label_of(run), run}];
    if (other && other !== run && (other.variant?.timeline || other.variant?.stages))
        list.push({title: `${label_of(other)} (${kept ? "kept" : "before"})`, run: other});
    const {parts, x} = draw_rows(view.rows, width, list);
    view.rows_x = x;
    view.rows_legend.replaceChildren(
        ...parts.map((part) => make("li", {}, make("i", {style: `background: ${paint_of(part)}`}), part)),
        make("li", {}, make("i", {class: "hatched"}), "nothing runs"));
    if (view.film) move_head(view.film.seconds);
}
