"use strict";
// The table of episodes, and one episode or two side by side, step by step. The state of the page is its address:
// #KEY&at=5&tab=problem&with=OTHER, so that a link leads to a step. `at` counts the steps from 0; without it, an episode
// opens at the step that decided it.

const $ = (selector) => document.querySelector(selector);
let indexText = $("#index").textContent;
let index = JSON.parse(indexText);
const live = "live" in document.body.dataset; // served by `pddlego view`, which may have newer data
const complete = new Promise((done) => addEventListener("DOMContentLoaded", done));

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// The table

// Of the rows that are shown, `sizes.length` chunks from the row `first` on are elements, with `sizes` elements each, so that
// 10,000 rows can be scrolled. The empty element #above is as high as the rows before them, with `heights` for each chunk.
const table = { sort: null, down: false, shown: [], first: 0, sizes: [], heights: [] };
const CHUNK = 200;
const CHUNKS = 5;
const NEAR = 600; // pixels outside of the window

function fits(cells, words) {
  return words.every((word) => {
    const [, name, sign, wanted] = word.match(/^([^:=]*)([:=]?)(.*)$/);
    const column = sign ? index.columns.findIndex((known) => known.name === name.replaceAll("_", " ")) : -1;
    if (column < 0) return cells.some((cell) => cell.toLowerCase().includes(word));
    const cell = cells[column].toLowerCase();
    return sign === "=" ? cell === wanted : cell.includes(wanted);
  });
}

const collator = new Intl.Collator("en", { numeric: true });
const number = (text) => Number(text.replace(/[$,]/g, ""));

function compare(left, right) {
  const [a, b] = [left.cells[table.sort], right.cells[table.sort]];
  const [x, y] = [number(a), number(b)];
  return Number.isNaN(x) || Number.isNaN(y) ? collator.compare(a, b) : x - y;
}

function list(again = false) {
  const [chunks, focused] = again ? [table.sizes.length, document.activeElement.dataset.key] : [0, null];
  const words = $("#filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  table.shown = index.rows.filter((row) => fits(row.cells, words));
  if (table.sort !== null) {
    table.shown.sort(compare);
    if (table.down) table.shown.reverse();
  }
  $("#count").textContent = `${table.shown.length} of ${index.rows.length} ${index.noun}`;
  if (!again) showHead();
  $("#rows").replaceChildren();
  if (!again || table.first >= table.shown.length) Object.assign(table, { first: 0, heights: [] });
  table.sizes = [];
  do more();
  while (table.sizes.length < chunks && !$("#more").hidden);
  if (focused) document.querySelector(`#rows tr[data-key="${CSS.escape(focused)}"]`)?.focus();
}

const showHead = () => $("#head").replaceChildren(make("tr", {}, ...index.columns.map(headOf)));

function headOf(column, place) {
  const arrow = table.sort === place ? (table.down ? " ▾" : " ▴") : "";
  const button = make("button", { type: "button", textContent: column.name + arrow });
  button.onclick = () => {
    table.down = table.sort === place && !table.down;
    table.sort = place;
    list();
    $(`#head th:nth-child(${place + 1}) button`).focus();
  };
  const sorted = table.down ? "descending" : "ascending";
  return make("th", { className: column.right ? "" : "name", ariaSort: table.sort === place ? sorted : "none" }, button);
}

const chunk = (first) =>
  table.shown.slice(first, first + CHUNK).flatMap((row, place) => [...headingOf(row, first + place), rowOf(row)]);

// Add a chunk below; if there are many, those at the top become empty space.
function more() {
  const rows = $("#rows");
  const added = chunk(table.first + CHUNK * table.sizes.length);
  rows.append(...added);
  table.sizes.push(added.length);
  if (table.sizes.length > CHUNKS) {
    const gone = [...rows.children].slice(0, table.sizes.shift());
    table.heights.push(rows.children[gone.length].offsetTop - gone[0].offsetTop);
    gone.forEach((element) => element.remove());
    table.first += CHUNK;
  }
  fit();
}

// Add chunks above where there is empty space in the window, and remove others below.
function less() {
  const rows = $("#rows");
  while (table.first && $("#above").getBoundingClientRect().bottom > -NEAR) {
    table.first -= CHUNK;
    table.heights.pop();
    const added = chunk(table.first);
    rows.prepend(...added);
    table.sizes.unshift(added.length);
    if (table.sizes.length > CHUNKS) [...rows.children].slice(-table.sizes.pop()).forEach((element) => element.remove());
    fit();
  }
}

function fit() {
  $("#above").style.height = `${table.heights.reduce((sum, height) => sum + height, 0)}px`;
  $("#more").hidden = table.first + CHUNK * table.sizes.length >= table.shown.length;
}

// The heading above a row that begins a group, unless the rows are sorted by a column.
function headingOf(row, place) {
  if (table.sort !== null || !row.group || table.shown[place - 1]?.group === row.group) return [];
  const count = table.shown.filter((other) => other.group === row.group).length;
  const text = make("span", { textContent: `${row.group} (${count})` });
  return [make("tr", { className: "group" }, make("th", { colSpan: index.columns.length, scope: "rowgroup" }, text))];
}

function rowOf(row) {
  const cells = row.cells.map((text, place) => {
    const { name, right } = index.columns[place];
    const cell = make("td", { textContent: text, title: text, className: [right ? "" : "name", row.styles[place]].join(" ") });
    cell.dataset.name = name; // shown on narrow screens
    if (row.counts && name === "won") cell.append(barOf(row.counts));
    return cell;
  });
  const element = make("tr", {}, ...cells);
  if (row.key) {
    element.tabIndex = 0;
    element.dataset.key = row.key;
    element.onclick = () => (row.href ? (location.href = row.href) : go({ keys: [row.key] }));
  }
  return element;
}

// The won, lost and open episodes of a run as a bar.
function barOf(counts) {
  const names = ["won", "lost", "open"];
  const parts = counts.map((count, place) => {
    const part = make("span", { className: names[place] });
    part.style.flexGrow = count;
    return part;
  });
  const label = counts.map((count, place) => `${count} ${names[place]}`).join(", ");
  const bar = make("span", { className: "counts", title: label, ariaLabel: label }, ...parts);
  bar.setAttribute("role", "img");
  return bar;
}

// An episode

const loaded = new Map();

async function load(key) {
  if (!loaded.has(key)) loaded.set(key, await (live ? answered(`?episode=${encodeURIComponent(key)}`).then(JSON.parse) : unpacked(key)));
  return loaded.get(key);
}

async function unpacked(key) {
  if (!document.getElementById(`data-${key}`)) await complete;
  const packed = document.getElementById(`data-${key}`).textContent;
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

async function answered(address) {
  const response = await fetch(address);
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}

// Read the table of a live page again, and the shown episodes if they have new events. Whoever looks at the last step
// stays at the last step.
async function refresh() {
  const begun = performance.now();
  try {
    const text = await answered("?index");
    const isNew = text !== indexText;
    const next = isNew ? JSON.parse(text) : index;
    indexText = text;
    const old = index.episodes;
    const sorted = index.columns[table.sort]?.name;
    const hasNewColumns = JSON.stringify(next.columns) !== JSON.stringify(index.columns);
    index = next;
    if (hasNewColumns) {
      const place = next.columns.findIndex((column) => column.name === sorted);
      table.sort = place < 0 ? null : place;
      showHead();
    }
    for (const key of [...loaded.keys()]) if (next.episodes[key]?.version !== old[key]?.version) loaded.delete(key);
    if (isNew) list(true);
    const current = view;
    if (current && current.keys.some((key) => !loaded.has(key))) {
      const episodes = await Promise.all(current.keys.map(load));
      if (view && view.keys === current.keys) {
        const isChosen = view.tab !== "why" || address().number !== null; // else facts may have been checked meanwhile
        const follows = view.number >= Number($("#range").max) ? Math.max(...episodes.map(last)) : view.number;
        Object.assign(view, { episodes, number: isChosen ? follows : episodes[0].opens });
        if (!episodes[0].tabs.includes(view.tab)) view.tab = episodes[0].tab;
        frame();
        show();
      }
    }
    $("#offline").hidden = true;
  } catch {
    $("#offline").hidden = false;
  }
  setTimeout(refresh, Math.max(2000, 10 * (performance.now() - begun))); // a long table is a tenth of the work at most
}

let view = null; // {keys, episodes, number, tab} of the episodes that are shown; null if the table is shown

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function address() {
  const [first, ...rest] = location.hash.slice(1).split("&");
  const values = Object.fromEntries(rest.map((part) => part.split("=").map(decoded)));
  const keys = [decoded(first), values.with].filter((key) => Object.hasOwn(index.episodes, key));
  return { keys, number: "at" in values ? Number(values.at) || 0 : null, tab: values.tab };
}

function go({ keys, number, tab }, replace = false) {
  const [first, other] = keys.map(encodeURIComponent);
  const at = Number.isInteger(number) && `at=${number}`;
  const parts = [first, other && `with=${other}`, at, tab && `tab=${encodeURIComponent(tab)}`];
  const hash = `#${parts.filter(Boolean).join("&")}`;
  if (replace && location.protocol !== "about:") {
    // A notebook's frame has no history of its own.
    history.replaceState(null, "", hash);
    return route();
  }
  location.hash = hash;
}

async function route() {
  const place = address();
  const same = view && view.keys.join() === place.keys.join();
  $("#report").hidden = place.keys.length > 0;
  $("#episode").hidden = place.keys.length === 0;
  if (!place.keys.length) {
    pause();
    const before = view && view.keys[0];
    view = null;
    const row = before && $(`#rows tr[data-key="${CSS.escape(before)}"]`);
    if (row) row.focus();
    return;
  }
  const requested = location.hash;
  let episodes;
  try {
    episodes = await Promise.all(place.keys.map(load));
  } catch (error) {
    say(error.message); // a live page: the episode has not begun, or its journal is damaged
    return;
  }
  if (location.hash !== requested) return; // the address changed while the data was unpacked
  const tabs = episodes[0].tabs;
  const number = Math.max(0, Math.min(place.number ?? episodes[0].opens, Math.max(...episodes.map(last))));
  view = { keys: place.keys, episodes, number, tab: tabs.includes(place.tab) ? place.tab : episodes[0].tab };
  if (!same) {
    frame();
    scrollTo(0, 0);
  }
  show();
}

// Fill the elements that do not depend on the step.
function frame() {
  const [key] = view.keys;
  $("#range").max = Math.max(...view.episodes.map(last));
  const group = index.episodes[key].group;
  const others = Object.keys(index.episodes).filter((other) => other !== key && index.episodes[other].group === group);
  line();
  const parts = [$("#range").parentElement, ...["#line", "#legend", "#step"].map($)];
  for (const part of parts) part.hidden = $("#range").max === "0"; // there is nothing to step through
  $("#with").hidden = others.length === 0;
  const options = others.map((other) => make("option", { value: other, textContent: index.episodes[other].title }));
  $("#with").replaceChildren(make("option", { value: "", textContent: "beside …" }), ...options);
  $("#with").value = view.keys[1] ?? "";
  $("#tabs").replaceChildren(
    ...view.episodes[0].tabs.map((name) => {
      const button = make("button", { type: "button", textContent: name });
      button.setAttribute("role", "tab");
      button.onclick = () => at({ tab: name });
      return button;
    }),
  );
}

// The time line: a row for each episode with a mark for each step, and a colour for each phase.

const SIGNS = { cause: "✖", "not possible": "✖", "rejected answer": "✗", surprise: "!", "lasting error": "◆", "accepted answer": "✓", request: "·" };
const LOUD = ["rejected answer", "surprise", "cause"];
const MOST_SIGNS = 80; // more of them would not be readable

function line() {
  const most = Math.max(...view.episodes.map(last)) + 1;
  const phases = [...new Set(view.episodes.flatMap((episode) => episode.steps.map((step) => step.phase)))].filter(Boolean);
  const seen = new Set();
  const rows = view.episodes.map((episode) => {
    const marks = episode.steps.map((step) => {
      const [kind] = step.marks ?? [];
      seen.add(kind);
      const phase = step.phase ? ` phase-${phases.indexOf(step.phase) % 8}` : "";
      const title = [`step ${step.step}: ${step.command}`, ...(step.marks ?? []), step.phase].filter(Boolean).join("\n");
      return make("span", { className: `mark ${kind ? kind.replace(" ", "-") : ""}${phase}`, title, textContent: most > MOST_SIGNS ? "" : SIGNS[kind] ?? "" });
    });
    const row = make("div", { className: "row" }, ...marks);
    row.style.width = `${(100 * episode.steps.length) / most}%`;
    return row;
  });
  $("#line").replaceChildren(...rows);
  const loud = view.episodes[0].steps.filter((step) => step.marks?.some((name) => LOUD.includes(name)));
  const told = loud.map((step) => `step ${step.step} ${step.marks.filter((name) => LOUD.includes(name)).join(" and ")}`);
  $("#line").ariaLabel = `time line of ${most} steps${told.length ? `: ${told.join(", ")}` : ""}`;
  const signs = Object.keys(SIGNS).filter((name) => seen.has(name)).map((name) => key(`mark ${name.replace(" ", "-")}`, SIGNS[name], name));
  $("#legend").replaceChildren(...signs, ...phases.map((name, place) => key(`mark phase-${place % 8}`, "", name)));
}

const key = (className, sign, name) => make("span", { className: "key" }, make("span", { className, textContent: sign }), name);

function scrub(event) {
  if (event.type === "pointermove" && !event.buttons) return;
  const { left, width } = $("#line").getBoundingClientRect();
  const most = Number($("#range").max);
  const number = Math.max(0, Math.min(most, Math.floor(((event.clientX - left) / width) * (most + 1))));
  if (number !== view.number) at({ number });
}

const last = (episode) => episode.steps.length - 1;
const longer = () => view.episodes.reduce((one, other) => (last(one) < last(other) ? other : one));
const stepOf = (episode) => episode.steps[Math.min(view.number, last(episode))];

function show() {
  const first = view.episodes[0];
  const step = stepOf(first);
  $("#range").value = view.number;
  for (const row of $("#line").children) [...row.children].forEach((mark, number) => mark.classList.toggle("now", number === view.number));
  $("#step").textContent = `step ${step.step} of ${first.steps[last(first)].step}: ${step.command}`;
  $("#range").setAttribute("aria-valuetext", $("#step").textContent);
  for (const button of $("#tabs").children) {
    button.setAttribute("aria-selected", button.textContent === view.tab);
    if (button.textContent === view.tab) $("#tabs").scrollLeft = button.offsetLeft - 60; // where they are in one row
  }
  const different = difference();
  $("#different").hidden = different === null;
  if (different !== null) $("#different").textContent = `first difference: step ${longer().steps[different].step}`;
  $("#sides").className = `sides ${view.episodes.length > 1 ? "two" : "one"}`;
  $("#sides").replaceChildren(...view.episodes.map(side));
  reach();
}

// Keys can scroll whatever is wider than its room.
function reach() {
  for (const box of document.querySelectorAll(".wide, .pane"))
    box.scrollWidth > box.clientWidth ? box.setAttribute("tabindex", 0) : box.removeAttribute("tabindex");
}

function side(episode, place) {
  const step = stepOf(episode);
  const marks = (step.marks ?? []).filter((name) => LOUD.includes(name)).join(", ");
  const { title: full, about } = index.episodes[view.keys[place]];
  const title = make("h1", { textContent: about });
  if (marks) title.append(make("span", { className: "red", textContent: ` ${marks}` }));
  const ending = full.slice(about.length + 2);
  if (ending && view.tab !== "why") title.append(make("span", { className: "ending", textContent: ending })); // it begins with it
  const usage = step.usage ? [make("p", { className: "note", textContent: step.usage })] : [];
  return make("section", { className: "side" }, title, ...usage, stacks(episode, step));
}

// The panes of the tab in stacks, which are side by side where there is room.
function stacks(episode, step) {
  const panes = panesOf(episode, step, view.tab);
  let [columns, beside] = [panes.map((pane) => [pane]), []];
  if (panes.some((pane) => "column" in pane)) {
    columns = [];
    for (const pane of panes) (columns[pane.column] ??= []).push(pane);
  } else if (panes.length === 1 && view.episodes.length === 1 && matchMedia("(min-width: 54rem)").matches) {
    // The first tab after the overview stays beside the others where there is room.
    const [, first, second] = episode.tabs;
    const other = view.tab === first ? second : first;
    if (episode.tabs.includes("why")) beside = panesOf(episode, step, other);
    columns = view.tab === first ? [...columns, beside] : [beside, ...columns];
  }
  columns = columns.filter((stack) => stack.length);
  const elements = columns.map((stack) => make("div", { className: "stack" }, ...stack.map((pane) => paneOf(episode, pane))));
  const kind = view.tab === "why" && elements.length === 3 ? "why" : ["", "one", "two", "three"][Math.min(3, elements.length)];
  return make("div", { className: `stacks ${kind}` }, ...elements);
}

const panesOf = (episode, step, name) => step.panes[episode.tabs.indexOf(name)].filter((pane) => pane.drawing || pane.lines.some((line) => episode.lines[line]));

function linesOf(episode, step, name) {
  return panesOf(episode, step, name).flatMap((pane) => pane.lines.map((line) => episode.lines[line]));
}

const plain = (line) => make("div", { innerHTML: line }).textContent;

function paneOf(episode, { title, lines, drawing, fixed }) {
  const body = make("div", { className: fixed ? "lines picture" : "lines" });
  if (fixed) body.style.setProperty("--columns", Math.max(20, fixed));
  const wanted = search.words;
  body.append(...lines.map((line) => {
    const element = make("div", { innerHTML: episode.lines[line] });
    const [before] = element.textContent.match(/^[\s\d+−·]*/);
    element.style.setProperty("--hang", `${Math.min(16, Math.max(2, before.length))}ch`); // what does not fit is below the first word
    if (wanted && element.textContent.toLowerCase().includes(wanted)) element.className = "hit";
    return element;
  }));
  const head = title ? [make("h2", { textContent: title })] : [];
  const picture = drawing ? pictureOf(drawing.map((part) => episode.lines[part]).join("")) : [];
  return make("div", { className: "pane" }, ...head, ...picture, body);
}

// A picture, and below it the text alternative of the part that has been tapped or has the focus.
function pictureOf(svg) {
  const picture = make("div", { className: "drawing", innerHTML: svg });
  const facts = make("p", { className: "note facts", ariaLive: "polite" });
  const tell = (event) => (facts.textContent = event.target.closest("g")?.querySelector("title").textContent ?? "");
  picture.addEventListener("click", tell);
  picture.addEventListener("focusin", tell);
  return [picture, facts];
}

// Show another step or tab of the same episodes.
const at = (change) => go({ ...view, ...change }, true);

let playing = null; // the timer that shows one step after another

function pause() {
  clearInterval(playing);
  playing = null;
  $("#play").textContent = "play";
}

function play() {
  if (playing) return pause();
  if (view.number >= Number($("#range").max)) at({ number: 0 });
  $("#play").textContent = "pause";
  playing = setInterval(() => {
    if (view && view.number < Number($("#range").max)) at({ number: view.number + 1 });
    else pause();
  }, 1500);
}

function find(wanted) {
  const steps = Math.max(...view.episodes.map(last)) + 1;
  for (let by = 1; by <= steps; by++) {
    const number = (view.number + by) % steps;
    if (view.episodes.some((episode) => number <= last(episode) && wanted(episode.steps[number]))) return at({ number });
  }
  say("No such step.");
}

function difference() {
  if (view.episodes.length < 2) return null;
  const [left, right] = view.episodes.map((episode) => episode.steps.map((step) => step.command));
  const number = left.findIndex((command, place) => command !== right[place]);
  return number >= 0 ? number : left.length === right.length ? null : left.length;
}

const search = { words: "" };

async function seek(again) {
  if (!search.words) return show();
  const episode = view.episodes[0];
  const places = episode.steps.flatMap((_, number) => episode.tabs.map((tab) => [number, tab]));
  const here = places.findIndex(([number, tab]) => number === Math.min(view.number, last(episode)) && tab === view.tab) + again;
  for (const [number, tab] of [...places.slice(here), ...places.slice(0, here)]) {
    const has = linesOf(episode, episode.steps[number], tab).some((line) => plain(line).toLowerCase().includes(search.words));
    if (has) {
      await at({ number, tab });
      const hit = [...document.querySelectorAll(".hit")].pop();
      if (hit) hit.scrollIntoView({ block: "center" });
      return;
    }
  }
  say(`Not found: ${search.words}`);
}

function say(text) {
  $("#said").textContent = text;
  setTimeout(() => ($("#said").textContent = ""), 4000);
}

// Keys

const KEYS = {
  ArrowLeft: () => at({ number: view.number - 1 }),
  ArrowRight: () => at({ number: view.number + 1 }),
  h: () => at({ number: view.number - 1 }),
  l: () => at({ number: view.number + 1 }),
  Home: () => at({ number: 0 }),
  End: () => at({ number: Number($("#range").max) }),
  a: () => at({ tab: "answer" }),
  r: () => find((step) => step.marks?.includes("rejected answer")),
  x: () => find((step) => step.marks?.includes("surprise")),
  d: () => difference() !== null && at({ number: difference() }),
  n: () => (search.words ? seek(1) : find((step) => step.failure)),
  p: play,
  "/": () => $("#search").focus(),
  Escape: () => index.rows.length && go({ keys: [] }),
};

const TABLE_KEYS = {
  ArrowDown: () => focusRow(1),
  j: () => focusRow(1),
  ArrowUp: () => focusRow(-1),
  k: () => focusRow(-1),
  Enter: () => document.activeElement.dataset.key && document.activeElement.click(),
  "/": () => $("#filter").focus(),
};

function focusRow(by) {
  const rows = [...document.querySelectorAll("#rows tr[tabindex]")];
  const here = rows.indexOf(document.activeElement);
  const next = rows[here < 0 ? (by > 0 ? 0 : rows.length - 1) : here + by];
  if (next) next.focus();
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const typing = event.target.matches("input:not([type=range]), select");
  if (typing) {
    if (event.key === "Escape") event.target.blur();
    if (event.key === "ArrowDown" && event.target.id === "filter") focusRow(1);
    return;
  }
  const digit = view && /^[1-9]$/.test(event.key) && view.episodes[0].tabs[Number(event.key) - 1];
  const action = digit ? () => at({ tab: digit }) : (view ? KEYS : TABLE_KEYS)[event.key];
  if (event.key === "Enter" && event.target.matches("button")) return;
  if (event.key === "?") $("#keys").hidden = !$("#keys").hidden;
  if (!action) return;
  event.preventDefault();
  action();
});

$("#filter").oninput = () => list();
$("#more").onclick = more;
addEventListener("scroll", () => {
  if ($("#report").hidden) return;
  while (!$("#more").hidden && $("#more").getBoundingClientRect().top < innerHeight + NEAR) more();
  less();
});
$("#range").oninput = () => at({ number: Number($("#range").value) });
$("#line").onpointerdown = $("#line").onpointermove = scrub;
$("#before").onclick = KEYS.ArrowLeft;
$("#after").onclick = KEYS.ArrowRight;
$("#play").onclick = play;
$("#link").onclick = async () => {
  await at({}); // the address names the step and the tab
  const copied = navigator.clipboard?.writeText(location.href).then(() => "The link is copied.");
  say(await (copied ?? Promise.reject()).catch(() => location.href));
};
$("#failure").onclick = () => find((step) => step.failure);
$("#different").onclick = KEYS.d;
$("#back").onclick = KEYS.Escape;
$("#with").onchange = () => go({ ...view, keys: [view.keys[0], $("#with").value].filter(Boolean) });
$("#search").onchange = () => {
  search.words = $("#search").value.toLowerCase();
  seek(0);
  $("#search").blur();
};
$("#show-keys").onclick = () => ($("#keys").hidden = !$("#keys").hidden);
addEventListener("hashchange", route);
addEventListener("resize", () => (view ? show() : reach()));
list();
complete.then(reach);
if (index.start.length && !location.hash) go({ keys: index.start }, true);
else route();
if (live) setTimeout(refresh, 2000);
