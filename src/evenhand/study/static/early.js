// Runs before the page is drawn: the form shows its cards, which need a script, instead of its plain fields.
document.documentElement.classList.add("js");
