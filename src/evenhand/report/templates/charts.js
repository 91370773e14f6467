// Brings the charts of a page to life: the same specification that was drawn when the page was
// made, with tooltips, series that stand out under the pointer or by their key, and, where the page
// has an explorer, marks that lead to their probes by click or Enter. No eval, no network.
(() => {
  "use strict";
  const narrow = window.matchMedia("(max-width: 767px)");
  const drawn = new WeakMap(); // figure -> what ends its view

  const unpack = async (id) => {
    const text = atob(document.getElementById(id).textContent.trim());
    const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  };

  let ready = null; // the specifications, once the runtime is there
  const load = async () => {
    const [data, script] = await Promise.all([unpack("chart-data"), unpack("chart-runtime")]);
    const element = document.createElement("script");
    element.textContent = script;
    document.head.append(element);
    return JSON.parse(data);
  };

  const explorer = document.getElementById("probes");
  const lead = (datum) => {
    if (explorer && datum && datum.shows) location.hash = "#probes?" + datum.shows;
  };

  const script = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]/; // East Asian

  const open = (figure, live) => {
    for (const text of figure.dataset.words ? live.querySelectorAll("text") : []) {
      if (script.test(text.textContent)) text.setAttribute("lang", figure.dataset.words);
    }
    if (!explorer) return;
    for (const mark of live.querySelectorAll(".mark-symbol path, .mark-rect path")) {
      const datum = mark.__data__ && mark.__data__.datum;
      if (!datum || !datum.shows) continue;
      mark.setAttribute("tabindex", "0");
      mark.setAttribute("role", "link");
      mark.removeAttribute("aria-roledescription");
      mark.setAttribute("aria-label", datum.about + ", show its probes");
      mark.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        lead(datum);
      });
    }
  };

  const highlight = (figure, view) => {
    const keys = [...figure.querySelectorAll(".key[data-series]")];
    const names = new Set(keys.map((key) => key.dataset.series));
    if (!keys.length) return;
    let kept = ""; // the series that was chosen by its key
    const show = (name) => view.signal("series", name).runAsync();
    const keep = (name) => {
      kept = name;
      for (const key of keys) key.setAttribute("aria-pressed", String(key.dataset.series === kept));
      show(kept);
    };
    for (const key of keys) {
      const name = key.dataset.series;
      key.tabIndex = 0;
      key.setAttribute("role", "button");
      key.onpointerenter = () => show(name);
      key.onpointerleave = () => show(kept);
      key.onclick = () => keep(kept === name ? "" : name);
      key.onkeydown = (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        key.click();
      };
    }
    keep("");
    view.addEventListener("mouseover", (_, item) => {
      const name = item && item.datum && (item.datum.mark || item.datum.part);
      if (names.has(name)) show(name);
    });
    view.addEventListener("mouseout", () => show(kept));
  };

  const embed = async (figure) => {
    const live = figure.querySelector(".live") || document.createElement("div");
    live.className = narrow.matches ? "live narrow" : "live wide";
    if (!live.parentNode) figure.insertBefore(live, figure.querySelector("figcaption"));
    const end = drawn.get(figure);
    if (end) end();
    try {
      ready = ready || load();
      const specs = (await ready)[Number(figure.dataset.place)];
      const result = await vegaEmbed(live, specs[narrow.matches ? 1 : 0], {
        actions: false,
        ast: true,
        defaultStyle: false,
        mode: "vega-lite",
        renderer: "svg",
        tooltip: { disableDefaultStyle: true },
      });
      drawn.set(figure, () => result.finalize());
      result.view.addEventListener("click", (_, item) => lead(item && item.datum));
      const svg = live.querySelector("svg");
      svg.setAttribute("viewBox", `0 0 ${svg.getAttribute("width")} ${svg.getAttribute("height")}`);
      svg.style.maxWidth = `${svg.getAttribute("width")}px`;
      svg.removeAttribute("height");
      svg.setAttribute("aria-label", figure.querySelector("svg > title").textContent);
      open(figure, live);
      highlight(figure, result.view);
      figure.classList.add("is-live");
    } catch (error) {
      live.remove(); // the picture that was drawn when the page was made stays
      console.warn(error);
    }
  };

  const figures = document.querySelectorAll("figure[data-place]");
  const seen = new Set();
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      watcher.unobserve(entry.target);
      seen.add(entry.target);
      embed(entry.target);
    }
  }, { rootMargin: "300px" });
  figures.forEach((figure) => watcher.observe(figure));
  narrow.addEventListener("change", () => seen.forEach(embed));
})();
