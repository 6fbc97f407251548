// Runs beside the one that is shown: the curve over a knob, and the other variants.

/// Returns the knobs over which a curve can be drawn.
const axes_of = (run) => run.knobs.filter(({values}) => values.length > 1 && values.length <= 64);

async function show_curve(anew = false) {
    const run = shown, open_view = view, axes = axes_of(run);
    if (axes.length === 0) return void view.curve.clear("This scenario has no knob.");
    const axis_knob = axes.find(({key}) => key === address.get("curve")) ??
        axes.find(({key}) => key === "training.ranks") ?? axes.find(({kind}) => kind === "number") ?? axes[0];
    view.axis = axis_knob;
    const set = {...setting.set}, {key} = axis_knob;
    delete set[key];
    const base = {variant: key === "variant" ? subject.variant : setting.variant, set},
          name = JSON.stringify([key, axis_knob.values, base]);
    const sizes = run.kind === "exchange" ? run.result.points.length : 0;
    const draw = () => view.curve.show(view.points, view.points_before ?? [], axis_knob, axes, sizes);
    if (view.points_of === name && !anew) return draw();
    // The same axis with another setting: the curve that was there stays, faintly.
    const earlier = view.points_key === key ? view.points ?? [] : [];
    view.curve.announce(axis_knob, axes);
    try {
        const grid = await grids_of({...request(base), axis: {key, values: axis_knob.values}});
        if (!grid || view !== open_view) return;
        Object.assign(view, {
            points: grid.points,
            points_before: view.points_of === name ? view.points_before : earlier,
            points_of: name,
            points_key: key
        });
        draw();
    } catch (refused) {
        if (view === open_view) view.curve.clear(`${sentence_of(refused.message)} ${refused.hint}`);
    }
}

/// Returns the run of a setting that is not shown; null if it is refused, or the reader has gone on.
async function run_beside(wanted, still) {
    const key = key_of(wanted);
    try {
        const run =
            known_runs.get(key) ?? await api("runs", {id: `${page_id}-${++requests}`, student, ...request(wanted)});
        if (!still()) return null;
        keep_run(key, run);
        return run;
    } catch (refused) {
        if (refused instanceof Refused) return null;
        throw refused;
    }
}

/// Simulates the variants of the answer when nothing else is to be done, so that their bars get the colours of their
/// parts, and choosing one is immediate.
async function colour_answers() {
    if (view.coloured) return;
    view.coloured = true;
    const open_view = view;
    for (const row of lesson.guess.rows.filter((name) => subject.variants.includes(name))) {
        const run = await run_beside({variant: row, set: {}}, () => view === open_view);
        if (!run) return;  // the bars stay as they are
        if (run.kind === "training") view.guess.parts(row, run.result);
    }
}

/// Simulates an exchange's other variants with the same settings, and draws them beside it.
async function compare_variants(run) {
    const {set} = setting, others = [];
    for (const variant of subject.variants.filter((name) => name !== run.variant.name).slice(0, series_colours)) {
        const other = await run_beside({variant, set}, () => shown === run);
        if (shown !== run) return;
        if (other?.kind === "exchange") others.push(other);
    }
    Object.assign(view, {others, others_of: run});
    if (others.length > 0) show_rows();
}
