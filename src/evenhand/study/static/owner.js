// Which address does the owner send? The invitation's path, made whole by the address under which the owner reads this page.
"use strict";

for (const field of document.querySelectorAll("input[data-path]")) {
  field.value = new URL(field.dataset.path, window.location.href).href;
  field.addEventListener("focus", () => field.select());
}
