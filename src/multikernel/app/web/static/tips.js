// Shows what a mark of a chart says, at the pointer and at the focus.
(() => {
  "use strict";
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true");
  document.addEventListener("DOMContentLoaded", () => document.body.append(tip));
  if (document.readyState !== "loading") document.body.append(tip);
  const show = (mark) => {
    const text = mark && mark.closest && mark.closest("[data-tip]");
    if (!text) { tip.hidden = true; return; }
    tip.textContent = text.dataset.tip;
    tip.hidden = false;
    const box = text.getBoundingClientRect(), own = tip.getBoundingClientRect();
    const left = Math.min(Math.max(8, box.left + box.width / 2 - own.width / 2), window.innerWidth - own.width - 8);
    const above = box.top - own.height - 8;
    tip.style.left = `${left}px`;
    tip.style.top = `${above > 4 ? above : box.bottom + 8}px`;
  };
  document.addEventListener("pointerover", (event) => show(event.target));
  document.addEventListener("focusin", (event) => show(event.target));
  document.addEventListener("focusout", () => show(null));
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") show(null); });
  window.addEventListener("scroll", () => show(null), { passive: true });
})();
