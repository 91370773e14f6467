// The explorer of a report: searches, filters, sorts and pages through the probes in #probe-data.
// Its state is the address: #probes?tag=value&tag=value&q=words&sort=-column&page=2
// Words of a suite are only ever written as text, never as HTML.
(() => {
  "use strict";
  const ROWS = 50; // of a page
  const MANY = 2000; // a tag with more values is filtered by a link or the search
  const RESERVED = ["q", "sort", "page"];
  const DIFFERENCE = "difference";

  const section = document.getElementById("probes");
  const find = (selector) => section.querySelector(selector);
  const form = find("form"), body = find("tbody"), chips = find(".filters"), count = find(".count");
  const { q: search, tag: tagMenu, value: valueMenu, sort: sortMenu } = form.elements;
  const [previous, next] = section.querySelectorAll("nav button");
  const place = find(".place");

  let tables = [], probes = []; // a probe is { table, row }
  let state = read("");
  let matches = [];

  // ---- the address

  function read(hash) {
    const given = new URLSearchParams(hash.split("?").slice(1).join("?"));
    const filters = new Map();
    for (const [key, value] of given) {
      if (RESERVED.includes(key)) continue;
      const name = key.startsWith("tag.") ? key.slice(4) : key;
      filters.set(name, [...(filters.get(name) || []), value]);
    }
    const page = Math.max(1, Number.parseInt(given.get("page"), 10) || 1);
    return { filters, q: given.get("q") || "", sort: given.get("sort") || "", page };
  }

  function address(wanted) {
    const pairs = [];
    for (const [name, values] of wanted.filters) {
      const key = RESERVED.includes(name) || name.startsWith("tag.") ? "tag." + name : name;
      for (const value of values) pairs.push([key, value]);
    }
    if (wanted.q) pairs.push(["q", wanted.q]);
    if (wanted.sort) pairs.push(["sort", wanted.sort]);
    if (wanted.page > 1) pairs.push(["page", wanted.page]);
    const text = pairs.map((pair) => pair.map(encodeURIComponent).join("=")).join("&");
    return text ? "#probes?" + text : "#probes";
  }

  // ---- the data

  async function unpack() {
    const text = atob(document.getElementById("probe-data").textContent.trim());
    const packed = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  const wordOf = (column, row) => (column ? column.words[column.codes[row]] : "");

  const sortKey = (table, answers, column) =>
    table.answers.length > 1 ? `${answers.name} ${column}` : column;

  // The numbers of a table by the name of their column.
  function numbersOf(table) {
    const numbers = new Map();
    if (table.differences.length) numbers.set(DIFFERENCE, table.differences);
    for (const answers of table.answers) {
      answers.columns.forEach((column, i) =>
        numbers.set(sortKey(table, answers, column), answers.values[i]));
    }
    return numbers;
  }

  // ---- which probes are shown, and in which order

  function hasTag(table, name, values) {
    const column = table.tags[name];
    if (!column) return () => false;
    const isWanted = column.words.map((word) => values.includes(word));
    return (row) => isWanted[column.codes[row]];
  }

  function hasTerm(table, term) {
    const columns = [...table.texts, ...Object.values(table.tags)].map(({ words, codes }) => {
      const isHit = words.map((word) => word.toLowerCase().includes(term));
      return (row) => isHit[codes[row]];
    });
    return (row) =>
      table.ids[row].toLowerCase().includes(term) || columns.some((isHit) => isHit(row));
  }

  function select() {
    const terms = state.q.toLowerCase().split(/\s+/).filter(Boolean);
    const tests = new Map(tables.map((table) => [table, [
      ...[...state.filters].map(([name, values]) => hasTag(table, name, values)),
      ...terms.map((term) => hasTerm(table, term)),
    ]]));
    const chosen = probes.filter(({ table, row }) => tests.get(table).every((test) => test(row)));
    const falling = state.sort.startsWith("-");
    const key = falling ? state.sort.slice(1) : state.sort;
    if (key === "text") return chosen.sort((a, b) => first(a).localeCompare(first(b)));
    if (!tables.some((table) => table.numbers.has(key))) return chosen;
    const value = ({ table, row }) => (table.numbers.get(key) || [])[row] ?? null;
    return chosen.sort((a, b) => {
      const x = value(a), y = value(b);
      if (x === null || y === null) return (x === null) - (y === null); // no answer comes last
      return falling ? y - x : x - y;
    });
  }

  const first = ({ table, row }) =>
    table.texts.map((column) => wordOf(column, row)).find(Boolean) || "";

  // ---- drawing

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  const fixed = (value) => {
    if (value === null || value === undefined) return "n/a";
    const text = value.toFixed(3);
    return Number(text) === 0 ? "0.000" : text;
  };

  // A sentence; its blank is drawn as a line.
  function sentence(text) {
    const pieces = text.split(/\[BLANK\]|_{3,}/);
    return pieces.flatMap((piece, i) =>
      i ? [make("span", { class: "blank", role: "img", "aria-label": "blank" }), piece] : [piece]);
  }

  function textCell({ table, row }) {
    const cell = make("th", { scope: "row" });
    table.texts.forEach((column, i) => {
      const text = wordOf(column, row);
      if (!text) return;
      const line = make("p", { lang: table.language }, ...sentence(text));
      if (table.roles[i]) line.prepend(make("span", { class: "role", lang: "en" }, table.roles[i]), " ");
      cell.append(line);
    });
    const list = make("dl");
    for (const [name, column] of Object.entries(table.tags)) {
      const value = wordOf(column, row);
      if (!value) continue;
      const link = make("a", { href: address({ ...read(""), filters: new Map([[name, [value]]]) }) }, value);
      list.append(make("dt", {}, name), make("dd", { lang: table.language }, link));
    }
    cell.append(make("details", {}, make("summary", {}, table.ids[row]), list));
    return cell;
  }

  function answerCell(table, answers, row) {
    const cell = make("td", { "data-label": answers.name });
    const silence = wordOf(answers.silences, row);
    if (silence) {
      cell.append(make("span", { class: "soft" }, silence));
      return cell;
    }
    const values = answers.values.map((column) => column[row]);
    const labels = answers.whole || values.length;
    for (let start = 0; start < values.length; start += labels) {
      const part = values.slice(start, start + labels);
      if (part.every((value) => value === null)) continue;
      const top = Math.max(...part.filter((value) => value !== null));
      const names = answers.columns.slice(start, start + labels);
      if (answers.whole) cell.append(bar(names, part, top));
      const figures = make("span", { class: "figures" });
      names.forEach((name, i) => {
        if (part[i] === null) return;
        const strong = part[i] === top ? { class: "on" } : {};
        figures.append(make("span", strong, `${name.replaceAll("_", " ")} ${fixed(part[i])}`), " ");
      });
      cell.append(figures);
    }
    return cell;
  }

  function bar(names, values, top) {
    const element = make("span", { class: "bar", "aria-hidden": "true" });
    names.forEach((name, i) => {
      const label = name.split(":").pop();
      const part = make("i", values[i] === top ? { class: "on" } : {});
      if (/^[a-z]+$/.test(label)) part.classList.add(label);
      part.style.flexGrow = values[i];
      element.append(part);
    });
    return element;
  }

  function drawRows() {
    const start = (state.page - 1) * ROWS;
    const shown = matches.slice(start, start + ROWS);
    body.replaceChildren(...shown.map((probe) => {
      const line = make("tr", {}, textCell(probe));
      for (const answers of probe.table.answers) line.append(answerCell(probe.table, answers, probe.row));
      return line;
    }));
    const pages = Math.max(1, Math.ceil(matches.length / ROWS));
    const number = (value) => value.toLocaleString("en");
    const some = matches.length === probes.length ? "All" : number(matches.length) + " of";
    const range = pages > 1 ? `, ${number(start + 1)} to ${number(start + shown.length)} shown` : "";
    count.textContent = `${some} ${number(probes.length)} probes${range}`;
    place.textContent = `Page ${number(state.page)} of ${number(pages)}`;
    previous.disabled = state.page <= 1;
    next.disabled = state.page >= pages;
  }

  function drawFilters() {
    search.value = state.q;
    sortMenu.value = [...sortMenu.options].some((option) => option.value === state.sort) ? state.sort : "";
    chips.replaceChildren(...[...state.filters].filter(([name]) => !isCommon(name)).map(([name, values]) => {
      const label = `${name}: ${values.map((value) => value || "none").join(" or ")}`;
      const button = make("button", { type: "button", "aria-label": `Remove the filter ${label}` },
        `${label} ×`);
      button.onclick = () => {
        const filters = new Map(state.filters);
        filters.delete(name);
        change({ filters });
        (chips.querySelector("button") || search).focus();
      };
      return make("li", {}, button);
    }));
  }

  // A tag that says the same of every probe; it filters nothing.
  const isCommon = (name) => {
    const words = new Set(tables.flatMap((table) => table.tags[name]?.words || [""]));
    return words.size < 2 && (state.filters.get(name) || []).every((value) => words.has(value));
  };

  function draw() {
    matches = select();
    state.page = Math.min(state.page, Math.max(1, Math.ceil(matches.length / ROWS)));
    drawFilters();
    drawRows();
  }

  function change(part) {
    state = { ...state, page: 1, ...part };
    history.replaceState(null, "", address(state));
    draw();
  }

  // ---- controls

  function fillMenus() {
    const names = new Set(tables.flatMap((table) => Object.keys(table.tags)));
    for (const name of names) {
      const values = new Set(tables.flatMap((table) => table.tags[name]?.words || [""]));
      if (values.size > 1 && values.size <= MANY) tagMenu.add(new Option(name, name));
    }
    sortMenu.add(new Option("the text", "text"));
    const keys = new Set(tables.flatMap((table) => [...table.numbers.keys()]));
    for (const key of keys) {
      sortMenu.add(new Option(`${key}, highest first`, "-" + key));
      if (key !== DIFFERENCE) sortMenu.add(new Option(`${key}, lowest first`, key));
    }
    fillValues();
  }

  function fillValues() {
    const counts = new Map();
    for (const { table, row } of probes) {
      const value = tagMenu.value ? wordOf(table.tags[tagMenu.value], row) : "";
      if (value) counts.set(value, (counts.get(value) || 0) + 1);
    }
    const values = [...counts].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
    valueMenu.replaceChildren(new Option(tagMenu.value ? "choose" : "–", ""),
      ...values.map(([value, times]) => new Option(`${value} (${times.toLocaleString("en")})`, value)));
    valueMenu.disabled = !tagMenu.value;
  }

  function turn(step) {
    const pages = Math.max(1, Math.ceil(matches.length / ROWS));
    const page = Math.min(pages, Math.max(1, state.page + step));
    if (page !== state.page) change({ page });
  }

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = document.activeElement, inside = section.contains(at);
    const lines = [...body.querySelectorAll("summary")], line = lines.indexOf(at);
    const isField = /^(INPUT|SELECT|TEXTAREA)$/.test(at?.tagName || "");
    if (event.key === "/" && !isField && (inside || at === document.body)) {
      search.focus();
      search.select();
    } else if (!inside) {
      return;
    } else if (event.key === "Escape" && (state.q || state.filters.size)) {
      change(state.q ? { q: "" } : { filters: new Map() });
      search.focus();
    } else if (event.key === "ArrowDown" && (at === search || line >= 0)) {
      lines[Math.min(line + 1, lines.length - 1)]?.focus();
    } else if (event.key === "ArrowUp" && line >= 0) {
      (lines[line - 1] || search).focus();
    } else if ((event.key === "ArrowRight" || event.key === "ArrowLeft") && line >= 0) {
      turn(event.key === "ArrowRight" ? 1 : -1);
      body.querySelector("summary")?.focus();
    } else {
      return;
    }
    event.preventDefault();
  }

  // Another part of the page, or another page, asks for probes through the address.
  function onAddress() {
    if (!/^#probes($|\?)/.test(location.hash)) return;
    state = read(location.hash);
    draw();
    const title = find("h2");
    title.focus({ preventScroll: true });
    title.scrollIntoView();
  }

  function listen() {
    let waiting;
    search.oninput = () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => change({ q: search.value.trim() }), 150);
    };
    form.onsubmit = (event) => event.preventDefault();
    tagMenu.onchange = fillValues;
    valueMenu.onchange = () => {
      if (!valueMenu.value) return;
      change({ filters: new Map(state.filters).set(tagMenu.value, [valueMenu.value]) });
      valueMenu.value = "";
    };
    sortMenu.onchange = () => change({ sort: sortMenu.value });
    previous.onclick = () => turn(-1);
    next.onclick = () => turn(1);
    document.addEventListener("keydown", onKey);
    window.addEventListener("hashchange", onAddress);
  }

  async function start() {
    section.hidden = false;
    const way = document.querySelector(".explore");
    if (way) way.hidden = false;
    if (typeof DecompressionStream === "undefined") {
      throw new Error("This browser cannot unpack them (it has no DecompressionStream).");
    }
    tables = await unpack();
    for (const table of tables) table.numbers = numbersOf(table);
    probes = tables.flatMap((table) => table.ids.map((_, row) => ({ table, row })));
    fillMenus();
    draw();
    listen();
    section.dataset.ready = "true";
    onAddress();
  }

  start().catch((error) => {
    for (const part of section.querySelectorAll("form, .filters, .wide, nav, .keys")) part.hidden = true;
    count.textContent = `The probes cannot be shown here. ${error.message} ` +
      "They are in the files beside this page, every answer in answers.parquet.";
  });
})();
