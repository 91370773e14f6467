// How is a question answered by keys or by touch? Cards and keys fill in the plain fields of the form, which would also work alone.
"use strict";

const form = document.querySelector("form[data-type]");

function fill(pattern, values) {
  return pattern.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

function say(name, values = {}) {
  form.querySelector(".status").textContent = fill(form.dataset[name], values);
}

function isElsewhere(target) {
  return target instanceof Element && target.closest("a, button:not(.card), summary, .top") !== null;
}

function ranking() {
  const cards = [...form.querySelectorAll(".card")];
  const equal = form.querySelector("input[name=equal]");
  const radios = (name) => [...form.querySelectorAll(`input[name=${name}]`)];
  const word = (place) => cards[place].querySelector(".word").textContent;
  let chosen = ["first", "second"].map((name) => radios(name).findIndex((radio) => radio.checked)).filter((place) => place >= 0);

  function draw(isQuiet) {
    for (const [rank, name] of ["first", "second"].entries()) {
      for (const [place, radio] of radios(name).entries()) radio.checked = chosen[rank] === place;
    }
    for (const [place, card] of cards.entries()) {
      const rank = chosen.indexOf(place);
      card.setAttribute("aria-pressed", String(rank >= 0));
      card.querySelector(".badge").textContent = rank < 0 ? "" : equal.checked && chosen.length === 2 ? "=" : form.dataset[rank ? "second" : "first"];
    }
    if (isQuiet) return;
    const [first, second] = chosen.map(word);
    if (chosen.length === 2) say(equal.checked ? "chosenEqual" : "chosenTwo", { first, second });
    else if (chosen.length === 1) say("chosenFirst", { first });
    else say("chosenNone");
  }

  function choose(place) {
    if (chosen.includes(place)) chosen = chosen.filter((other) => other !== place);
    else if (chosen.length < 2) chosen.push(place);
    else chosen[1] = place;
    draw();
  }

  cards.forEach((card, place) => card.addEventListener("click", () => choose(place)));
  equal.addEventListener("change", () => draw());
  draw(chosen.length === 0);
  return {
    press(key) {
      if (/^[1-3]$/.test(key)) choose(Number(key) - 1);
      else if (key === "q") { equal.checked = !equal.checked; draw(); }
      else if (key === "backspace" && chosen.length) { chosen.pop(); draw(); }
      else return false;
      return true;
    },
    isComplete: () => chosen.length === 2,
  };
}

function rating() {
  const levels = [...form.querySelectorAll("input[name=value]")];
  const tell = () => {
    const level = levels.find((radio) => radio.checked);
    if (level) say("chosenValue", { value: level.dataset.shown, text: level.dataset.text });
  };
  levels.forEach((level) => level.addEventListener("change", tell));
  tell();
  return {
    press(key) {
      const level = levels.find((radio) => radio.dataset.shown === key);
      const given = levels.find((radio) => radio.checked);
      if (key === "backspace" && given) { given.checked = false; say("chosenNone"); return true; }
      if (!level) return false;
      level.checked = true;
      tell();
      return true;
    },
    isComplete: () => levels.some((radio) => radio.checked),
  };
}

// Keys of one letter disturb whoever speaks to the computer, or whose hand slips: they can be turned off, and stay so on this device.
function switching() {
  const button = document.querySelector(".keys button");
  let isOn = true;
  try { isOn = localStorage.getItem("keys") !== "off"; } catch { /* nothing is kept where storage is forbidden */ }
  function draw() {
    button.setAttribute("aria-pressed", String(isOn));
    button.textContent = button.dataset[isOn ? "on" : "off"];
    document.documentElement.classList.toggle("keyless", !isOn);
  }
  button.addEventListener("click", () => {
    isOn = !isOn;
    try { localStorage.setItem("keys", isOn ? "on" : "off"); } catch { /* as above */ }
    draw();
  });
  draw();
  return () => isOn;
}

if (form) {
  const areKeysOn = switching();
  const question = form.dataset.type === "type1" ? ranking() : rating();
  let isSent = false;
  form.noValidate = true;
  form.addEventListener("submit", (event) => {
    const isSkipped = event.submitter !== null && event.submitter.name === "skip";
    if (isSent || !(isSkipped || question.isComplete())) {
      event.preventDefault();
      if (!isSent) say("need");
      return;
    }
    isSent = true;
  });
  document.addEventListener("keydown", (event) => {
    if (event.target instanceof HTMLTextAreaElement) return; // somebody writes a reason
    if (!areKeysOn() || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Enter") {
      if (isElsewhere(event.target) || (event.target.closest(".card") && !question.isComplete())) return;
      event.preventDefault();
      if (!event.repeat) form.requestSubmit();
    } else if (question.press(event.key.toLowerCase())) event.preventDefault();
    else if (event.key === "Backspace") { // nothing is left to take back here: to the question before
      event.preventDefault();
      form.querySelector("a[href='/previous']")?.click();
    }
  });
  window.addEventListener("pageshow", () => { isSent = false; });
}
