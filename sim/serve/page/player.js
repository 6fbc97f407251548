// Moving pictures of a run: which pictures fit, the clock of the film, and the buttons.

/// Returns the pictures that fit a run, the best first: [{name, title, stage}]. A stage is made when it is first asked
/// for: making all of them at every turn of a knob would take longer than the simulation.
function pictures(run, width) {
    const made = [];
    for (const [name, title, find] of [
             ["pipeline", "stages", stage_pipeline], ["ring", "the ring and its blocks", stage_ring],
             ["tree", "the tree", stage_tree], ["pairs", "pairs of ranks", stage_pairs],
             ["fabric", "the network", stage_fabric], ["all", "who has sent to whom", stage_matrix],
             ["rows", "who does what", stage_rows]]) {
        const found = find(run, width);
        if (!found) continue;
        const {make: make_now, ...picture} = found;
        let stage = null;
        made.push({
            name,
            title,
            ...picture,
            get stage() { return stage ??= make_now(); }
        });
    }
    return made.sort((a, b) => b.fits - a.fits);
}

/// Maps seconds of the film to simulated seconds, piece by piece: computing passes quickly, an exchange slowly.
class Film {
    constructor(run) {
        const motion = motion_of(run), stages = run.variant?.stages;
        this.window_s = motion.window_s;
        this.pieces = [];  // {from, to: simulated seconds; start, length: seconds of the film}
        if (stages)
            this.add(0, this.window_s, Math.max(12, 1.2 * (stages.micro_batches ?? 0)));
        else if (motion.count === 0)
            this.add(0, this.window_s, 8);
        else
            this.divide(motion);
        this.length = this.pieces.reduce((sum, {length}) => sum + length, 0);
    }

    add(from, to, length) {
        const last = this.pieces[this.pieces.length - 1];
        if (to > from) this.pieces.push({from, to, start: last ? last.start + last.length : 0, length});
    }

    divide(motion) {
        const events = motion.events(), busy = motion.busy();
        const is_busy = (time) => busy.some(([start, end]) => start <= time && time < end);
        const parts = events.slice(1).map((to, i) => ({from: events[i], to, busy: is_busy((events[i] + to) / 2)}));
        const quiet = parts.filter((part) => !part.busy), steps = parts.filter((part) => part.busy);
        const longest_s = Math.max(...quiet.map(({from, to}) => to - from), 0);
        const sending_s = steps.reduce((sum, {from, to}) => sum + to - from, 0);
        const few = steps.length <= 66, whole = few ? 10 : Math.min(30, Math.max(12, 0.15 * steps.length));
        for (const {from, to, busy: sends} of parts)
            this.add(
                from, to,
                sends ? Math.max(few ? 0.3 : 0, whole * (to - from) / sending_s) :
                        Math.max(0.2, 1.5 * Math.min(1, 4 / quiet.length) * (to - from) / longest_s));
    }

    piece_of(film_s) {
        return this.pieces.find(({start, length}) => film_s < start + length) ?? this.pieces[this.pieces.length - 1];
    }

    simulated(film_s) {
        const {from, to, start, length} = this.piece_of(film_s);
        return Math.min(to, from + (to - from) * Math.max(0, film_s - start) / length);
    }

    film(seconds) {
        const {from, to, start, length} =
            this.pieces.find((piece) => seconds < piece.to) ?? this.pieces[this.pieces.length - 1];
        return start + length * Math.min(1, Math.max(0, seconds - from) / (to - from));
    }

    /// Simulated seconds in a second of the film.
    pace(film_s) {
        const {from, to, length} = this.piece_of(film_s);
        return (to - from) / length;
    }
}

/// Returns for example ", 16 MB" if an exchange has several sizes: the picture shows the largest.
function size_of_picture({kind, result}) {
    const sizes = kind === "exchange" ? result.points : [];
    return sizes.length > 1 ? `, ${units.B(sizes[sizes.length - 1].bytes)}` : "";
}

let players = 0;

/// Adds the moving pictures of a run to `parent`. `frame(seconds)` is told of every new time.
function player(parent, first_run, {autoplay = false, frame = null} = {}) {
    const calm = matchMedia("(prefers-reduced-motion: reduce)");
    const id = `player-said-${players++}`;
    const title = make("h3", {}),
          choices = make("div", {class: "player-choices", role: "group", "aria-label": "Picture"});
    const box = make("div", {class: "player-picture"});
    const said = make("p", {class: "player-said", id, "aria-live": "off"});
    const button = (name, label, text, act) =>
        make("button", {type: "button", class: name, "aria-label": label, title: label, onclick: act}, text);
    const play_button = button("play", "Play", "▶", () => (playing ? pause() : play()));
    const back = button("back", "One step back", "◂", () => step(-1)),
          on = button("on", "One step on", "▸", () => step(1));
    const slider = make("input", {type: "range", min: 0, max: 1000, step: 1, value: 0, "aria-label": "Time"});
    const clock = make("output", {class: "clock"});
    const speed = make(
        "select", {class: "speed", "aria-label": "Speed"}, make("option", {value: "0.25"}, "¼×"),
        make("option", {value: "1", selected: true}, "1×"), make("option", {value: "3"}, "3×"));
    const pace = make("p", {class: "player-pace"});
    const tools = make("div", {class: "player-tools"}, play_button, back, on, slider, clock, speed);
    const element =
        make("div", {class: "player"}, make("div", {class: "player-head"}, title, choices), box, said, tools, pace);
    parent.append(element);

    let run = first_run, film = null, list = [], chosen = "", stage = null, shown_width = 0;
    let film_s = 0, seconds = 0, playing = false, last_tick = null;

    function choose(name) {
        chosen = name;
        stage = list.find((picture) => picture.name === name) ?? list[0];
        box.replaceChildren();
        if (stage) {
            stage.stage.svg.setAttribute("aria-describedby", id);
            box.append(stage.stage.svg);
        }
        title.textContent = stage ? capital(stage.title) + size_of_picture(run) : "";
        for (const choice of choices.children)
            choice.setAttribute("aria-pressed", String(choice.dataset.name === stage?.name));
        draw();
    }

    function lay_out() {
        shown_width = Math.max(260, Math.round(box.clientWidth || element.clientWidth || 700));
        list = pictures(run, shown_width);
        choices.replaceChildren(...list.map(
            (picture) => make(
                "button", {type: "button", "data-name": picture.name, onclick: () => choose(picture.name)},
                picture.title)));
        choices.hidden = list.length < 2;
        element.hidden = list.length === 0;
        choose(list.some(({name}) => name === chosen) ? chosen : list[0]?.name ?? "");
    }

    /// Draws the picture at the present time.
    function draw() {
        if (!stage) return;
        const sentence = stage.stage.draw(seconds);
        const [, lead, rest] = /^([^.:]{1,48}[.:]) (.*)$/s.exec(sentence) ?? [null, "", sentence];
        said.replaceChildren(...(lead ? [make("b", {}, lead), " "] : []), rest);
        slider.value = Math.round(1000 * seconds / film.window_s);
        slider.setAttribute("aria-valuetext", `${units.s(seconds)} of ${units.s(film.window_s)}`);
        clock.textContent = units.s(seconds);
        clock.dataset.seconds = seconds;
        const second = film.pace(film_s) * Number(speed.value);
        const of = run.kind === "exchange" ? "of the exchange" : "of training";
        const {all, shown} = iterations_of(run);
        const part = all > shown ? ` The first ${shown} of ${all} iterations are shown.` : "";
        pace.textContent = calm.matches ?
            part :
            `One second on the screen is ${units.s(Number(second.toPrecision(2)))} ${of}` +
                (second > 0.95 ? "." : `, slow motion ${digits(1 / second, 2)}×.`) + part;
        frame?.(seconds);
    }

    function go(to_s) {
        seconds = Math.min(film.window_s, Math.max(0, to_s));
        film_s = film.film(seconds);
        draw();
    }
    function mark_playing(now) {
        playing = now;
        play_button.textContent = now ? "❚❚" : "▶";
        play_button.setAttribute("aria-label", now ? "Pause" : "Play");
        play_button.title = now ? "Pause" : "Play";
        play_button.setAttribute("aria-pressed", String(now));
    }
    function tick(now) {
        if (!playing) return;
        if (!element.isConnected) return mark_playing(false);
        if (last_tick !== null) film_s += Math.min(0.25, (now - last_tick) / 1000) * Number(speed.value);
        last_tick = now;
        seconds = film_s >= film.length ? film.window_s : film.simulated(film_s);
        draw();
        if (film_s < film.length)
            requestAnimationFrame(tick);
        else
            pause();
    }
    function play() {
        if (playing || !stage || calm.matches) return;
        if (seconds >= film.window_s * (1 - 1e-9)) go(0);
        said.setAttribute("aria-live", "off");
        mark_playing(true);
        last_tick = null;
        requestAnimationFrame(tick);
    }
    function pause() { mark_playing(false); }
    /// Shows the next or the last event.
    function step(direction) {
        pause();
        said.setAttribute("aria-live", "polite");
        const events = motion_of(run).events(), near = 1e-7 * film.window_s;
        const next = direction > 0 ? events.find((time) => time > seconds + near) :
                                     [...events].reverse().find((time) => time < seconds - near);
        go(next ?? (direction > 0 ? film.window_s : 0));
    }

    slider.addEventListener("input", () => {
        pause();
        said.setAttribute("aria-live", "off");
        go(slider.value / 1000 * film.window_s);
    });
    speed.addEventListener("change", draw);
    const respect = () => {
        play_button.hidden = speed.hidden = calm.matches;
        if (calm.matches) pause();
        if (film) draw();
    };
    calm.addEventListener("change", respect);
    element.addEventListener("keydown", (event) => {
        const {target, key} = event;
        if (event.ctrlKey || event.metaKey || event.altKey || target === slider || target === speed) return;
        if (key === "ArrowRight" || key === "ArrowLeft")
            step(key === "ArrowRight" ? 1 : -1);
        else if (key === "Home" || key === "End")
            go(key === "Home" ? 0 : film.window_s);
        else
            return;
        event.preventDefault();
    });
    new ResizeObserver(() => {
        // Not at once: a new picture changes the size that is being observed.
        if (box.clientWidth > 0 && Math.abs(box.clientWidth - shown_width) > 1) requestAnimationFrame(lay_out);
    }).observe(box);

    /// Shows another run: the same part of it, with the same picture if it fits.
    function show(next) {
        const part = film ? seconds / film.window_s : 0;
        run = next;
        film = new Film(run);
        seconds = part * film.window_s;
        film_s = film.film(seconds);
        lay_out();
    }
    show(first_run);
    respect();
    mark_playing(false);
    if (autoplay) play();
    return {
        show,
        play,
        pause,
        step,
        element,
        choose,
        get run() { return run; },
        get seconds() { return seconds; },
        set seconds(value) { go(value); }
    };
}
