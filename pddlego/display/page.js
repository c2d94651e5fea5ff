"use strict";
// The table of episodes, and one episode or two side by side, step by step. The state of the page is its address:
// #KEY&at=5&tab=problem&with=OTHER, so that a link leads to a step. `at` counts the steps from 0; without it, an episode
// opens at the step that decided it.

const $ = (selector) => document.querySelector(selector);
const index = JSON.parse($("#index").textContent);
const complete = new Promise((done) => addEventListener("DOMContentLoaded", done));

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// The table

const table = { sort: null, down: false, shown: [], drawn: 0 };
const CHUNK = 200;

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

function list() {
  const words = $("#filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  table.shown = index.rows.filter((row) => fits(row.cells, words));
  if (table.sort !== null) {
    table.shown.sort(compare);
    if (table.down) table.shown.reverse();
  }
  $("#count").textContent = `${table.shown.length} of ${index.rows.length} episodes`;
  $("#head").replaceChildren(make("tr", {}, ...index.columns.map(headOf)));
  $("#rows").replaceChildren();
  table.drawn = 0;
  more();
}

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

function more() {
  const next = table.shown.slice(table.drawn, table.drawn + CHUNK);
  table.drawn += next.length;
  $("#rows").append(...next.map(rowOf));
  $("#more").hidden = table.drawn >= table.shown.length;
}

function rowOf(row) {
  const cells = row.cells.map((text, place) =>
    make("td", { textContent: text, title: text, className: [index.columns[place].right ? "" : "name", row.styles[place]].join(" ") }),
  );
  const element = make("tr", {}, ...cells);
  if (row.key) {
    element.tabIndex = 0;
    element.dataset.key = row.key;
    element.onclick = () => go({ keys: [row.key] });
  }
  return element;
}

// An episode

const loaded = new Map();

async function load(key) {
  if (!loaded.has(key)) {
    let element = document.getElementById(`data-${key}`);
    if (!element) {
      await complete;
      element = document.getElementById(`data-${key}`);
    }
    const bytes = Uint8Array.from(atob(element.textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    loaded.set(key, await new Response(stream).json());
  }
  return loaded.get(key);
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
  const episodes = await Promise.all(place.keys.map(load));
  if (location.hash !== requested) return; // the address changed while the data was unpacked
  const tabs = episodes[0].tabs;
  const number = Math.max(0, Math.min(place.number ?? episodes[0].opens, Math.max(...episodes.map(last))));
  view = { keys: place.keys, episodes, number, tab: tabs.includes(place.tab) ? place.tab : tabs[0] };
  if (!same) frame();
  show();
}

// Fill the elements that do not depend on the step.
function frame() {
  const [key] = view.keys;
  $("#range").max = Math.max(...view.episodes.map(last));
  const group = index.episodes[key].group;
  const others = Object.keys(index.episodes).filter((other) => other !== key && index.episodes[other].group === group);
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
  scrollTo(0, 0);
}

const last = (episode) => episode.steps.length - 1;
const longer = () => view.episodes.reduce((one, other) => (last(one) < last(other) ? other : one));
const stepOf = (episode) => episode.steps[Math.min(view.number, last(episode))];

function show() {
  const first = view.episodes[0];
  const step = stepOf(first);
  $("#range").value = view.number;
  $("#step").textContent = `step ${step.step} of ${first.steps[last(first)].step}: ${step.command}`;
  $("#range").setAttribute("aria-valuetext", $("#step").textContent);
  for (const button of $("#tabs").children) button.setAttribute("aria-selected", button.textContent === view.tab);
  const different = difference();
  $("#different").hidden = different === null;
  if (different !== null) $("#different").textContent = `first difference: step ${longer().steps[different].step}`;
  $("#sides").className = `sides ${view.episodes.length > 1 ? "two" : "one"}`;
  $("#sides").replaceChildren(...view.episodes.map(side));
}

function side(episode, place) {
  const step = stepOf(episode);
  const marks = [step.rejected && "rejected answer", step.surprise && "surprise", step.decisive && "cause"].filter(Boolean).join(", ");
  const title = make("h2", {}, index.episodes[view.keys[place]].title);
  if (marks) title.append(make("span", { className: "red", textContent: ` ${marks}` }));
  // The first tab stays beside the others where there is room for both.
  const beside = view.episodes.length === 1 && matchMedia("(min-width: 62rem)").matches;
  const [first, second] = episode.tabs;
  const names = (beside ? [first, view.tab === first ? second : view.tab] : [view.tab]).filter((name) => episode.tabs.includes(name));
  const panes = make("div", { className: names.length > 1 ? "panes two" : "panes" });
  panes.append(...names.map((name) => pane(episode, step, name)));
  return make("section", { className: "side" }, title, panes);
}

function linesOf(episode, step, name) {
  return step.lines[episode.tabs.indexOf(name)].map((line) => episode.lines[line]);
}

const plain = (line) => make("div", { innerHTML: line }).textContent;

function pane(episode, step, name) {
  const lines = linesOf(episode, step, name);
  const isPicture = episode.pictures.includes(name);
  const body = make("div", { className: isPicture ? "lines picture" : "lines" });
  if (isPicture) body.style.setProperty("--columns", Math.max(20, ...lines.map((line) => plain(line).length)));
  const wanted = search.words;
  body.append(...lines.map((line) => {
    const element = make("div", { innerHTML: line });
    if (wanted && element.textContent.toLowerCase().includes(wanted)) element.className = "hit";
    return element;
  }));
  return make("div", { className: "pane" }, make("h3", { textContent: name }), body);
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
  r: () => find((step) => step.rejected),
  x: () => find((step) => step.surprise),
  d: () => difference() !== null && at({ number: difference() }),
  n: () => (search.words ? seek(1) : find((step) => step.rejected || step.surprise || step.decisive)),
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

$("#filter").oninput = list;
$("#more").onclick = more;
new IntersectionObserver((seen) => seen[0].isIntersecting && more()).observe($("#more"));
$("#range").oninput = () => at({ number: Number($("#range").value) });
$("#before").onclick = KEYS.ArrowLeft;
$("#after").onclick = KEYS.ArrowRight;
$("#play").onclick = play;
$("#rejected").onclick = KEYS.r;
$("#surprise").onclick = KEYS.x;
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
addEventListener("resize", () => view && show());
list();
if (index.start.length && !location.hash) go({ keys: index.start }, true);
else route();
