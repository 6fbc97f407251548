// Predictions compared with measurements: the charts.

const band = 0.15;  // as in share_above_085: inside it the accuracy is above 0.85

/// Colours repeat after six, with another shape. All shapes can be hollow.
const hollow_marks = ["circle", "rect", "triangle", "rectRot"];
function dots(label, rows, at, index, more = {}) {
    const colour = series_colour(index);
    return line(label, rows.map(at), index, {
        showLine: false,
        pointStyle: hollow_marks[(index + Math.floor(index / 12)) % 4],
        pointRadius: 6,
        pointHoverRadius: 8,
        pointBorderWidth: 2.5,
        pointBackgroundColor: rows.map((row) => (row.role === "predicted" ? colour : "transparent")),
        rows,
        ...more
    });
}

/// Returns a cross over every unreliable row, and an empty series that explains hollow marks in the legend.
function roles(rows, at) {
    const ink = colour_of("ink");
    const plain = {colour: ink, borderColor: ink, backgroundColor: "transparent", pointBackgroundColor: "transparent"};
    const doubted = rows.filter((row) => row.doubt !== null);
    const calibrates = rows.some((row) => row.role !== "predicted");
    return [
        ...(calibrates ? [dots("hollow: calibration row, not counted", [], at, 0, plain)] : []),
        ...(doubted.length > 0 ?
                [dots(
                    "unreliable", doubted, at, 0,
                    {...plain, pointStyle: "crossRot", pointRadius: 11, pointBorderWidth: 1.5, order: -1})] :
                [])
    ];
}

/// Draws the line on which predictions equal measurements, and a band of ±15 % around it. `edges(factor)` returns the
/// two ends of the line on which predictions are off by that factor, in axis values.
function behind(edges) {
    const path = (chart, points) => {
        const {ctx, scales: {x, y}} = chart;
        ctx.beginPath();
        for (const point of points) ctx.lineTo(x.getPixelForValue(point.x), y.getPixelForValue(point.y));
    };
    return {
        id: "behind",
        beforeDatasetsDraw: (chart) => {
            const {ctx, chartArea: {left, top, width, height}} = chart;
            ctx.save();
            ctx.beginPath();
            ctx.rect(left, top, width, height);
            ctx.clip();
            path(chart, [...edges(1 - band), ...edges(1 + band).reverse()]);
            ctx.fillStyle = colour_of("tolerance");
            ctx.fill();
            path(chart, edges(1));
            ctx.strokeStyle = Chart.defaults.color;
            ctx.lineWidth = 1.5;
            ctx.stroke();
            ctx.restore();
        }
    };
}

/// Fills legend marks with the scenario's colour; Chart.js would use the first row's, which may be hollow.
function dot_legend(filter) {
    const generateLabels = (chart) => Chart.defaults.plugins.legend.labels.generateLabels(chart).map(
        (item) => ({
            ...item,
            fillStyle: chart.data.datasets[item.datasetIndex].backgroundColor,
        }));
    return {labels: {usePointStyle: true, boxWidth: 14, boxHeight: 6, filter, generateLabels}};
}

function dot_label({dataset: {rows}, dataIndex}) {
    const row = rows[dataIndex];
    return [
        `${row.point}: ${row.name}`, `measured ${in_unit(row.measured, row)}, predicted ${in_unit(row.predicted, row)}`,
        signed_percent(row.error) + (row.role === "predicted" ? "" : ", calibration row") +
            (row.doubt === null ? "" : ", unreliable")
    ];
}

const table_columns = [
    ["scenario", "text"], ["row", "text"], ["measured", "written"], ["predicted", "written"],
    ["predicted / measured", "number"], ["role", "text"], ["doubt", "text"]
];
const table_row = (row) =>
    [row.point, row.name, in_unit(row.measured, row), in_unit(row.predicted, row), row.predicted / row.measured,
     row.role, row.doubt];

/// Adds a chart with a lane for each scenario, its rows from top to bottom.
function ratios_figure(parent, points, rows) {
    const ratios = rows.map((row) => row.predicted / row.measured);
    const least = Math.min(0.8, ...ratios.map((ratio) => ratio / 1.05));
    const most = Math.max(1.25, ...ratios.map((ratio) => ratio * 1.05));
    const marked = [0.01, 0.1, 0.2, 0.3, 0.5, 0.7, 0.85, 1, 1.15, 1.5, 2, 3, 5, 10, 100];
    const at = (row) => ({x: row.predicted / row.measured, y: row.point_index + 0.8 * (row.place - 0.5)});
    const bottom = points.length - 0.5;
    const labels = points.map((point) => point.name);
    const most_rows = Math.max(...points.map((point) => point.rows.length));
    figure(parent, {
        title: "Predicted / measured",
        text:
            "Each mark is a row. At 1 the prediction equals the measurement, inside the grey band it is within 15 %, and " +
            "to the right of 1 it is too high.",
        height: 110 + points.length * Math.min(Math.max(8 * most_rows, 34), 100),
        columns: table_columns,
        rows: rows.map(table_row),
        config: () => ({
            type: "line",
            data: {
                datasets: [
                    ...points.map((point, i) => dots(point.name, rows.filter((row) => row.point_index === i), at, i)),
                    ...roles(rows, at)
                ]
            },
            plugins: [behind((factor) => [{x: factor, y: -0.5}, {x: factor, y: bottom}])],
            options: {
                scales: {
                    x: axis("predicted / measured, logarithmic", "number", {
                        type: "logarithmic",
                        min: least,
                        max: most,
                        bounds: "ticks",
                        afterBuildTicks: (made) => {
                            made.ticks =
                                marked.filter((value) => value >= least && value <= most).map((value) => ({value}));
                        },
                        ticks: {callback: (value) => digits(value), autoSkip: true}
                    }),
                    y: {
                        type: "linear",
                        reverse: true,
                        min: -0.5,
                        max: bottom,
                        afterBuildTicks: (made) => {
                            made.ticks = points.map((_, value) => ({value}));
                        },
                        grid: {drawOnChartArea: false},
                        ...names("scenario", labels)
                    }
                },
                plugins: {
                    legend: dot_legend((item) => item.datasetIndex >= points.length),
                    tooltip: {callbacks: {title: () => "", label: dot_label}}
                }
            }
        }),
    });
}

const quantities = {
    s: "Times",
    per_s: "Rates",
    Bps: "Bandwidths",
    B: "Bytes",
    share: "Shares"
};

/// Adds a chart of the rows whose values have the same unit, both axes logarithmic.
function scatter_figure(parent, title, unit, points, rows) {
    const values = rows.flatMap((row) => [row.measured, row.predicted]);
    const min = round_out(Math.min(...values), false), max = round_out(Math.max(...values), true);
    const at = (row) => ({x: row.measured, y: row.predicted});
    const scale = (name) => axis(name, unit, {type: "logarithmic", min, max});
    const shown = points.map((_, i) => i).filter((i) => rows.some((row) => row.point_index === i));
    figure(parent, {
        title,
        text:
            "On the line the prediction equals the measurement, above it the prediction is too high; the grey band is " +
            "±15 %. Both axes are logarithmic.",
        height: 400 + (window.innerWidth < 700 ? 20 : 8) * shown.length,  // the legend
        columns: table_columns,
        rows: rows.map(table_row),
        config: () => ({
            type: "line",
            data: {
                datasets: [
                    ...shown.map((i) => dots(points[i].name, rows.filter((row) => row.point_index === i), at, i)),
                    ...roles(rows, at)
                ]
            },
            plugins: [behind((factor) => [{x: min, y: factor * min}, {x: max, y: factor * max}])],
            options: {
                scales: {x: scale("measured"), y: scale("predicted")},
                plugins: {legend: dot_legend(() => true), tooltip: {callbacks: {title: () => "", label: dot_label}}}
            }
        }),
    });
}
