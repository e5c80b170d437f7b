/* Draws the maps and charts of a report from the data in the page. Loads nothing. */
(function () {
  "use strict";

  const page = JSON.parse(document.getElementById("report-data").textContent);
  const PALETTE = ["#0072b2", "#e07b00", "#009e73", "#cc3311", "#7b4fb5", "#8c5a2b", "#d65fa5", "#5b6770", "#a3a500", "#17a5c4",
    "#1f3a93", "#f2b134", "#5fbf6a", "#f08a7e", "#b39ddb", "#c9a27c", "#f3b6d5", "#a8b2b9", "#5c6b00", "#8fd3e8"];
  const OTHERS = "#c3c9ce", MISSING = "#dfe3e6", PLAIN = "#0072b2";
  const STOPS = [[44, 30, 107], [47, 93, 154], [31, 148, 138], [109, 187, 74], [240, 196, 25]];
  const INK = "#1d2730", QUIET = "#5a6772", GRID = "#e6eaed";
  const MOST_WITHOUT_WEBGL = 6000;

  // --- data ------------------------------------------------------------------------------------------------------------------

  function unpack(pack) {
    const text = atob(pack.base64), bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    const types = { f4: Float32Array, f8: Float64Array, i4: Int32Array };
    return new types[pack.type](bytes.buffer);
  }

  page.maps.forEach(function (map) { map.values = map.values.map(unpack); });
  page.rows = unpack(page.rows);
  page.columns.forEach(function (column) {
    if (column.values) column.values = unpack(column.values);
    if (column.codes) column.codes = unpack(column.codes);
  });
  const total = page.rows.length, nTraining = total - page.newPoints;

  function formatNumber(number) {
    if (!Number.isFinite(number)) return "–";
    if (Number.isInteger(number) && Math.abs(number) < 1e15) return String(number);
    return String(Number(number.toPrecision(5)));
  }

  function formatDate(milliseconds) {
    const text = new Date(milliseconds).toISOString();
    return text.endsWith("T00:00:00.000Z") ? text.slice(0, 10) : text.slice(0, 19).replace("T", " ");
  }

  function valueOf(column, i) {
    if (column.kind === "names") return column.codes[i] < 0 ? null : column.names[column.codes[i]];
    const value = column.values[i];
    if (!Number.isFinite(value)) return null;
    return column.kind === "dates" ? formatDate(value) : formatNumber(value);
  }

  function idOf(i) {
    if (page.ids) return valueOf(page.ids, i) === null ? "(no id)" : valueOf(page.ids, i);
    return (i < nTraining ? "row " : "new row ") + (page.rows[i] + 1);
  }
  if (page.ids) page.ids.codes = unpack(page.ids.codes);

  // --- colours ---------------------------------------------------------------------------------------------------------------

  const RAMP = Array.from({ length: 256 }, function (_, step) {
    const place = step / 255 * (STOPS.length - 1), left = Math.min(Math.floor(place), STOPS.length - 2), part = place - left;
    const mix = STOPS[left].map(function (channel, c) { return Math.round(channel + part * (STOPS[left + 1][c] - channel)); });
    return "rgb(" + mix.join(",") + ")";
  });

  function colourOfPoint(column, i) {
    if (!column) return PLAIN;
    if (column.kind === "names") {
      const code = column.codes[i];
      return code < 0 ? MISSING : code < column.coloured ? PALETTE[code] : OTHERS;
    }
    const value = column.values[i];
    if (!Number.isFinite(value)) return MISSING;
    const low = column.shown[0], high = column.shown[1];
    const place = high > low ? (value - low) / (high - low) : 0.5;
    return RAMP[Math.max(0, Math.min(255, Math.round(255 * place)))];
  }

  // --- state -----------------------------------------------------------------------------------------------------------------

  const webgl = (function () {
    try { return !!document.createElement("canvas").getContext("webgl"); } catch (error) { return false; }
  })();
  const state = { column: null, axes: [0, 1], chosen: null, equal: true };
  const figure = document.getElementById("map");
  const card = document.getElementById("card");

  function evenIndices(count, most) {
    const step = Math.max(1, count / most), made = new Int32Array(Math.min(count, most));
    for (let i = 0; i < made.length; i++) made[i] = Math.floor(i * step);
    return made;
  }

  const useWebgl = total > page.webglFrom && webgl;
  const most = useWebgl || webgl || total <= MOST_WITHOUT_WEBGL ? total : MOST_WITHOUT_WEBGL;
  const members = [evenIndices(nTraining, most), evenIndices(page.newPoints, most).map(function (i) { return i + nTraining; })];
  if (most < total) {
    document.getElementById("thinned").textContent = "This browser has no WebGL: " + (members[0].length + members[1].length) +
      " of the points are drawn.";
  }

  function pick(values, rows) {
    const made = new Array(rows.length);
    for (let i = 0; i < rows.length; i++) made[i] = values[rows[i]];
    return made;
  }

  function coordinates(map, axis) {
    return map.values[axis] || new Float32Array(total);
  }

  const size = total < 300 ? 9 : total < 1500 ? 7 : total < 6000 ? 5 : total < 20000 ? 4 : 3;

  // --- maps ------------------------------------------------------------------------------------------------------------------

  /** The map and the points of each trace, in the order of the traces. */
  const traces = [];
  page.maps.forEach(function (_, m) {
    traces.push({ map: m, rows: members[0], isNew: false });
    if (page.newPoints) traces.push({ map: m, rows: members[1], isNew: true });
  });

  function colours(rows) {
    const made = new Array(rows.length);
    for (let i = 0; i < rows.length; i++) made[i] = colourOfPoint(state.column, rows[i]);
    return made;
  }

  function marker(trace) {
    const isNew = trace.isNew;
    return {
      color: colours(trace.rows), size: isNew ? size + 4 : size, opacity: isNew ? 1 : total < 6000 ? 0.85 : 0.7,
      symbol: isNew ? "diamond" : "circle", line: { width: isNew ? 1.5 : 0, color: INK }
    };
  }

  function suffix(m) { return m === 0 ? "" : String(m + 1); }

  function drawnTraces() {
    return traces.map(function (trace) {
      const map = page.maps[trace.map];
      return {
        type: useWebgl ? "scattergl" : "scatter", mode: "markers", hoverinfo: "none", showlegend: false,
        x: pick(coordinates(map, state.axes[0]), trace.rows), y: pick(coordinates(map, state.axes[1]), trace.rows),
        xaxis: "x" + suffix(trace.map), yaxis: "y" + suffix(trace.map), marker: marker(trace),
        selected: { marker: { opacity: 1 } }, unselected: { marker: { opacity: 0.07 } }, selectedpoints: selectedIn(trace)
      };
    });
  }

  function selectedIn(trace) {
    if (!state.chosen) return null;
    const made = [];
    for (let i = 0; i < trace.rows.length; i++) if (state.chosen[trace.rows[i]]) made.push(i);
    return made;
  }

  function escaped(text) {
    return String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  }

  function axisTitle(map, axis) { return map.axes[axis] === undefined ? "" : escaped(map.axes[axis]); }

  /** Height of a single map: its aspect ratio if scales are equal, limited to the screen. */
  function singleHeight(width) {
    const s = spans(page.maps[0]), wanted = state.equal && s[0] > 0 ? (width - 64) * s[1] / s[0] * 1.06 + 52 : width * 0.75;
    return Math.max(360, Math.min(680, wanted));
  }

  function layout(given) {
    const width = given || figure.clientWidth || 800, count = page.maps.length, single = count === 1;
    const across = single ? 1 : Math.max(1, Math.min(count, 3, Math.floor(width / 330))), down = Math.ceil(count / across);
    const height = single ? singleHeight(width) : Math.max(300, width / across * 0.9);
    const gapX = 0.045, gapY = 46 / (down * height);
    const made = {
      width: width, height: single ? height : down * height, hovermode: "closest", dragmode: single ? "pan" : "lasso",
      margin: single ? { l: 52, r: 12, t: 8, b: 44 } : { l: 12, r: 12, t: 60, b: 12 }, paper_bgcolor: "#fff", plot_bgcolor: "#fff",
      font: { family: "system-ui, sans-serif", size: 13, color: QUIET }, annotations: [], showlegend: false, uirevision: "kept"
    };
    page.maps.forEach(function (map, m) {
      const column = m % across, row = Math.floor(m / across), cell = 1 / across, level = 1 / down;
      const left = single ? 0 : column * cell + gapX / 2, right = single ? 1 : (column + 1) * cell - gapX / 2;
      const top = single ? 1 : 1 - row * level - (row ? gapY : 0), bottom = single ? 0 : 1 - (row + 1) * level;
      const common = { zeroline: false, gridcolor: GRID, linecolor: GRID, mirror: true, showticklabels: single, automargin: single,
        exponentformat: "power" };
      made["xaxis" + suffix(m)] = Object.assign({ domain: [left, right], anchor: "y" + suffix(m),
        title: { text: single ? axisTitle(map, state.axes[0]) : "" } }, common);
      made["yaxis" + suffix(m)] = Object.assign({ domain: [bottom, top], anchor: "x" + suffix(m),
        title: { text: single ? axisTitle(map, state.axes[1]) : "" } }, common);
      if (state.equal) made["yaxis" + suffix(m)].scaleanchor = "x" + suffix(m);
      if (!single) made.annotations.push({ text: "<b>" + escaped(map.name) + "</b>", x: (left + right) / 2, y: top, xref: "paper", yref: "paper",
        xanchor: "center", yanchor: "bottom", showarrow: false, font: { color: INK, size: 14 } });
    });
    return made;
  }

  /* An explicit list of buttons, so that a new version of plotly cannot add one that sends data. */
  const CONFIG = { displaylogo: false, scrollZoom: true, responsive: false, plotlyServerURL: "", displayModeBar: true,
    modeBarButtons: [["toImage"], ["zoom2d", "pan2d", "select2d", "lasso2d"], ["zoomIn2d", "zoomOut2d", "resetScale2d"]],
    toImageButtonOptions: { format: "png", scale: 2, filename: "eigenscape-map" } };

  function redraw() { return Plotly.react(figure, drawnTraces(), layout(), CONFIG); }

  function recolour() {
    Plotly.restyle(figure, { "marker.color": traces.map(function (trace) { return colours(trace.rows); }) });
    drawLegend();
  }

  // --- selection, common to all maps --------------------------------------------------------------------------------------

  let busy = false;

  function choose(chosen, keepShape) {
    state.chosen = chosen;
    busy = true;
    const done = Plotly.restyle(figure, { selectedpoints: traces.map(selectedIn) });
    const after = keepShape ? done : done.then(function () { return Plotly.relayout(figure, { selections: [] }); });
    after.then(function () { busy = false; });
    let count = 0;
    if (chosen) for (let i = 0; i < total; i++) count += chosen[i];
    const line = document.getElementById("chosen");
    line.querySelector("span").textContent = chosen ? count + (count === 1 ? " point" : " points") + " selected" : "";
    line.hidden = !chosen;
    document.querySelectorAll("#legend button").forEach(function (button) { button.setAttribute("aria-pressed", "false"); });
  }

  function onSelected(event) {
    if (busy || !event || !event.points) return;
    const chosen = new Uint8Array(total);
    event.points.forEach(function (point) { chosen[traces[point.curveNumber].rows[point.pointNumber]] = 1; });
    choose(event.points.length ? chosen : null, true);
  }

  function chosenIds() {
    const made = [];
    for (let i = 0; i < total; i++) if (state.chosen && state.chosen[i]) made.push(idOf(i));
    return made;
  }

  // --- legend ----------------------------------------------------------------------------------------------------------------

  function element(name, attributes, text) {
    const made = document.createElement(name);
    Object.keys(attributes || {}).forEach(function (key) { made.setAttribute(key, attributes[key]); });
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function swatch(colour) {
    const made = element("span", { class: "swatch", "aria-hidden": "true" });
    made.style.background = colour;
    return made;
  }

  function legendButton(colour, text, count, belongs) {
    const button = element("button", { type: "button", "aria-pressed": "false", title: "Show only these points" });
    button.append(swatch(colour), element("span", { class: "name" }, text), element("span", { class: "count" }, String(count)));
    button.addEventListener("click", function () {
      const on = button.getAttribute("aria-pressed") === "true";
      const chosen = new Uint8Array(total);
      for (let i = 0; i < total; i++) chosen[i] = belongs(i) ? 1 : 0;
      choose(on ? null : chosen, false);
      button.setAttribute("aria-pressed", on ? "false" : "true");
    });
    return button;
  }

  function drawLegend() {
    const legend = document.getElementById("legend"), column = state.column;
    legend.replaceChildren();
    if (!column) {
      legend.append(element("p", {}, "All points have the same colour."));
    } else if (column.kind === "names") {
      for (let code = 0; code < column.coloured; code++) {
        legend.append(legendButton(PALETTE[code], column.names[code], column.counts[code], function (i) { return column.codes[i] === code; }));
      }
      const rest = column.counts.slice(column.coloured);
      if (rest.length) {
        const sum = rest.reduce(function (a, b) { return a + b; }, 0);
        legend.append(legendButton(OTHERS, rest.length + " other values", sum, function (i) { return column.codes[i] >= column.coloured; }));
      }
    } else {
      const bar = element("div", { class: "ramp", role: "img", "aria-label": "colour scale" });
      bar.style.background = "linear-gradient(to right," + Array.from({ length: 17 }, function (_, k) { return RAMP[k * 15 + 7]; }).join(",") + ")";
      const ends = element("div", { class: "ends" }), show = column.kind === "dates" ? formatDate : formatNumber;
      const low = column.shown[0], high = column.shown[1];
      const rounded = column.kind === "dates" ? formatDate : function (value) { return String(Number(value.toPrecision(3))); };
      ends.append(element("span", { title: show(low) }, (column.range[0] < low ? "≤ " : "") + rounded(low)),
        element("span", {}, column.kind === "dates" ? "" : rounded((low + high) / 2)),
        element("span", { title: show(high) }, (column.range[1] > high ? "≥ " : "") + rounded(high)));
      legend.append(bar, ends);
    }
    if (column && column.missing) {
      legend.append(legendButton(MISSING, "no value", column.missing, function (i) { return valueOf(column, i) === null; }));
    }
    if (page.newPoints) {
      const note = element("p", { class: "fresh" });
      note.append(element("span", { class: "diamond", "aria-hidden": "true" }), document.createTextNode(page.newPoints + " " + page.newName));
      legend.append(note);
    }
  }

  // --- details of one point -------------------------------------------------------------------------------------------------------------

  function describe(i) {
    card.replaceChildren(element("h3", {}, idOf(i)));
    const list = element("dl");
    function line(name, value) { list.append(element("dt", {}, name), element("dd", {}, value)); }
    if (page.ids && i >= nTraining) line("point", page.newName);
    const inputs = page.columns.filter(function (column) { return column.group === "input"; });
    page.columns.filter(function (column) { return column.group !== "input"; }).concat(inputs.slice(0, 8)).forEach(function (column) {
      const value = valueOf(column, i);
      if (value !== null) line(column.name, value);
    });
    if (inputs.length > 8) line("…", (inputs.length - 8) + " more columns");
    card.append(list);
  }

  function ring(i) {
    document.querySelectorAll(".ring").forEach(function (old) { old.remove(); });
    if (i === null) return;
    page.maps.forEach(function (map, m) {
      const xaxis = figure._fullLayout["xaxis" + suffix(m)], yaxis = figure._fullLayout["yaxis" + suffix(m)];
      const x = xaxis.l2p(coordinates(map, state.axes[0])[i]), y = yaxis.l2p(coordinates(map, state.axes[1])[i]);
      if (!(x >= 0 && x <= xaxis._length && y >= 0 && y <= yaxis._length)) return;
      const made = element("div", { class: "ring" });
      made.style.left = (xaxis._offset + x) + "px";
      made.style.top = (yaxis._offset + y) + "px";
      figure.parentNode.append(made);
    });
  }

  function show(i, event) {
    describe(i);
    card.hidden = false;
    ring(i);
    const frame = figure.parentNode.getBoundingClientRect();
    if (event) {
      const x = event.clientX - frame.left, y = event.clientY - frame.top, right = x + card.offsetWidth + 24 > frame.width;
      card.style.left = Math.max(4, right ? x - card.offsetWidth - 14 : x + 14) + "px";
      card.style.top = Math.max(4, Math.min(y + 10, frame.height - card.offsetHeight - 4)) + "px";
    } else {
      card.style.left = "60px";
      card.style.top = "12px";
    }
  }

  function hide() { card.hidden = true; ring(null); }

  function find(text) {
    const answer = document.getElementById("found"), wanted = text.trim().toLowerCase();
    if (!wanted) { answer.textContent = ""; hide(); return; }
    const hits = [];
    let exact = -1;
    for (let i = 0; i < total; i++) {
      const name = idOf(i).toLowerCase();
      if (name === wanted || (!page.ids && name === "row " + wanted)) { if (exact < 0) exact = i; }
      if (name.includes(wanted)) hits.push(i);
    }
    const first = exact >= 0 ? exact : hits[0];
    if (first === undefined) { answer.textContent = "no id matches"; hide(); return; }
    answer.textContent = exact >= 0 ? "" : hits.length + " ids match; the first is marked";
    show(first, null);
  }

  // --- controls --------------------------------------------------------------------------------------------------------------

  function fillColours(select) {
    const titles = { label: "Labels", extra: "Further columns", model: "Model", coordinate: "Coordinates", input: "Input columns" };
    select.append(element("option", { value: "-1" }, "none"));
    Object.keys(titles).forEach(function (group) {
      const box = element("optgroup", { label: titles[group] });
      page.columns.forEach(function (column, number) {
        if (column.group === group) box.append(element("option", { value: String(number) }, column.name));
      });
      if (box.children.length) select.append(box);
    });
    select.value = String(page.firstColumn);
    select.addEventListener("change", function () {
      state.column = page.columns[Number(select.value)] || null;
      recolour();
    });
    state.column = page.columns[page.firstColumn] || null;
  }

  function fillAxes() {
    ["horizontal", "vertical"].forEach(function (name, which) {
      const select = document.getElementById(name);
      if (!select) return;
      page.maps[0].axes.forEach(function (axis, number) { select.append(element("option", { value: String(number) }, axis)); });
      select.value = String(which);
      select.addEventListener("change", function () {
        state.axes[which] = Number(select.value);
        hide();
        redraw().then(function () { return Plotly.relayout(figure, { "xaxis.autorange": true, "yaxis.autorange": true }); });
      });
    });
  }

  function spans(map) {
    return state.axes.map(function (axis) {
      let low = Infinity, high = -Infinity;
      coordinates(map, axis).forEach(function (value) { if (value < low) low = value; if (value > high) high = value; });
      return high - low;
    });
  }

  function prepareEqual() {
    const box = document.getElementById("equal");
    const ratios = page.maps.map(function (map) { const s = spans(map); return Math.max(s[0], s[1]) / Math.min(s[0], s[1]); });
    state.equal = ratios.every(function (ratio) { return ratio < 8; });
    box.checked = state.equal;
    box.addEventListener("change", function () { state.equal = box.checked; hide(); Plotly.purge(figure); start(); });
  }

  function listen() {
    figure.on("plotly_hover", function (event) {
      const point = event.points[0];
      show(traces[point.curveNumber].rows[point.pointNumber], event.event);
    });
    figure.on("plotly_unhover", hide);
    figure.on("plotly_relayout", function () { if (!busy) hide(); });
    figure.on("plotly_selected", onSelected);
    figure.on("plotly_deselect", function () { if (!busy) choose(null, false); });
  }

  function start() {
    return Plotly.newPlot(figure, drawnTraces(), layout(), CONFIG).then(function () {
      listen();
      drawLegend();
      document.documentElement.setAttribute("data-ready", "yes");
    });
  }

  function drawCharts() {
    const config = { displayModeBar: false, responsive: true, plotlyServerURL: "" };
    const axis = { gridcolor: GRID, zerolinecolor: "#b9c2c9", automargin: true, exponentformat: "power" };
    page.charts.forEach(function (chart) {
      const made = Object.assign({ height: 300, margin: { l: 56, r: 16, t: 10, b: 46 }, paper_bgcolor: "#fff", plot_bgcolor: "#fff",
        font: { family: "system-ui, sans-serif", size: 13, color: QUIET }, colorway: PALETTE, legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
        hoverlabel: { bgcolor: "#fff", font: { color: INK } } }, chart.layout);
      made.xaxis = Object.assign({}, axis, chart.layout.xaxis);
      made.yaxis = Object.assign({}, axis, chart.layout.yaxis);
      Plotly.newPlot(document.getElementById(chart.id), chart.data, made, config);
    });
  }

  fillColours(document.getElementById("colour"));
  fillAxes();
  prepareEqual();
  document.getElementById("find").addEventListener("change", function (event) { find(event.target.value); });
  document.getElementById("clear").addEventListener("click", function () { choose(null, false); });
  document.getElementById("save-ids").addEventListener("click", function () {
    const link = element("a", { download: "selected-ids.txt",
      href: "data:text/plain;charset=utf-8," + encodeURIComponent(chosenIds().join("\n") + "\n") });
    link.click();
  });
  document.addEventListener("keydown", function (event) { if (event.key === "Escape") hide(); });
  /* Widths for printing, independent of the window. */
  const PAPER = { map: page.maps.length === 1 ? 530 : 690, chart: 335 };
  window.addEventListener("beforeprint", function () {
    hide();
    Plotly.relayout(figure, layout(PAPER.map));
    page.charts.forEach(function (chart) { Plotly.relayout(chart.id, { width: PAPER.chart, autosize: false }); });
  });
  window.addEventListener("afterprint", function () {
    Plotly.relayout(figure, layout());
    page.charts.forEach(function (chart) { Plotly.relayout(chart.id, { width: null, autosize: true }); });
  });
  let waiting = 0;
  window.addEventListener("resize", function () {
    window.clearTimeout(waiting);
    waiting = window.setTimeout(function () { hide(); Plotly.relayout(figure, layout()); }, 150);
  });
  start().then(drawCharts);
})();
