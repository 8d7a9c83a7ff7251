// Conveniences: every page works without them.
(() => {
  "use strict";
  for (const form of document.querySelectorAll("[data-drop]")) {
    const input = form.querySelector("input[type=file]");
    const send = () => { if (input.files.length) { form.classList.add("busy"); form.requestSubmit(); } };
    input.addEventListener("change", send);
    for (const name of ["dragenter", "dragover"]) {
      document.addEventListener(name, (event) => { event.preventDefault(); form.classList.add("over"); });
    }
    document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) form.classList.remove("over"); });
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      form.classList.remove("over");
      if (event.dataTransfer.files.length) { input.files = event.dataTransfer.files; send(); }
    });
  }
  for (const field of document.querySelectorAll("[data-picks]")) {
    field.addEventListener("change", () => { if (field.value) document.getElementById(field.dataset.picks).checked = true; });
  }
  for (const form of document.querySelectorAll("[data-sure]")) {
    form.addEventListener("submit", (event) => { if (!confirm(form.dataset.sure)) event.preventDefault(); });
  }
  const sent = new Set(); // forms under way, which a second click does not send once more
  for (const form of document.querySelectorAll("form[method=post]")) {
    form.addEventListener("submit", (event) => {
      if (sent.has(form)) event.preventDefault();
      if (event.defaultPrevented) return;
      sent.add(form);
      setTimeout(() => sent.delete(form), 5000);
    });
  }
  window.addEventListener("pageshow", () => sent.clear());
  for (const part of document.querySelectorAll("[data-needs-script]")) part.hidden = false;
  const recount = (name) => {
    for (const line of document.querySelectorAll(`[data-count="${name}"]`)) {
      const rows = [...document.querySelectorAll(`${name} tbody tr`)].filter((row) => !row.hidden);
      const boxes = rows.flatMap((row) => [...row.querySelectorAll("input[type=checkbox]:not(.hidden)")]);
      line.textContent = `${rows.length} shown, ${boxes.filter((box) => box.checked).length} of them ticked`;
    }
  };
  for (const line of document.querySelectorAll("[data-count]")) {
    const name = line.dataset.count;
    recount(name);
    document.querySelector(name).addEventListener("change", () => recount(name));
  }
  for (const input of document.querySelectorAll("[data-filter]")) {
    input.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const each of document.querySelectorAll(input.dataset.filter)) {
        const text = (each.dataset.name || each.textContent).toLowerCase();
        each.hidden = !words.every((word) => text.includes(word));
      }
      recount(input.dataset.filter.split(" ")[0]);
    });
  }
  for (const button of document.querySelectorAll("[data-tick]")) { // the rows that are shown
    button.addEventListener("click", () => {
      for (const row of document.querySelectorAll(`${button.dataset.tick} tbody tr`)) {
        const box = row.querySelector("input[type=checkbox]:not(.hidden)");
        if (box && !row.hidden) box.checked = Boolean(button.dataset.to);
      }
      recount(button.dataset.tick);
    });
  }
  for (const table of document.querySelectorAll("[data-sorts]")) {
    const heads = [...table.tHead.rows[0].cells];
    const first = [...table.tBodies[0].rows];
    const value = (cell, by) => {
      if (by === "tick") return cell.querySelector("input:checked") ? 0 : 1;
      if (by === "choice") return (cell.querySelector("select") || { value: cell.textContent }).value;
      if (by === "number") return parseFloat(cell.textContent) || 0;
      return cell.textContent.trim();
    };
    heads.forEach((head, k) => {
      const by = head.dataset.by;
      if (!by) return;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => { // up, down, and as in the file
        const way = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort") || "none"];
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", way);
        const sign = way === "descending" ? -1 : 1;
        const rows = [...first];
        if (way !== "none") {
          const keys = new Map(rows.map((row) => [row, value(row.cells[k], by)]));
          rows.sort((a, b) => {
            const [x, y] = [keys.get(a), keys.get(b)];
            return sign * (typeof x === "number" ? x - y : x.localeCompare(y, "en", { numeric: true }));
          });
        }
        table.tBodies[0].append(...rows);
      });
    });
  }
  for (const map of document.querySelectorAll("[data-walk]")) { // one stop of the Tab key; arrows go from mark to mark
    const marks = [...map.querySelectorAll("a.mark")];
    marks.forEach((mark, k) => mark.setAttribute("tabindex", k ? "-1" : "0"));
    map.addEventListener("keydown", (event) => {
      const ahead = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const next = marks[marks.indexOf(event.target) + ahead];
      if (!next) return;
      event.preventDefault();
      event.target.setAttribute("tabindex", "-1");
      next.setAttribute("tabindex", "0");
      next.focus();
    });
  }
  for (const link of document.querySelectorAll("[data-png]")) {
    link.hidden = false;
    link.addEventListener("click", async (event) => {
      event.preventDefault();
      const drawing = new Image();
      drawing.src = link.href;
      await drawing.decode();
      const canvas = document.createElement("canvas");
      canvas.width = 2 * drawing.width;
      canvas.height = 2 * drawing.height;
      const sheet = canvas.getContext("2d");
      sheet.fillStyle = "#fff";
      sheet.fillRect(0, 0, canvas.width, canvas.height);
      sheet.drawImage(drawing, 0, 0, canvas.width, canvas.height);
      const saved = document.createElement("a");
      saved.download = link.pathname.split("/").pop().replace(".svg", ".png");
      saved.href = canvas.toDataURL("image/png");
      saved.click();
    });
  }
  const card = document.querySelector("[data-events]");
  if (card) {
    const part = (name) => card.querySelector(`[data-${name}]`);
    const source = new EventSource(card.dataset.events);
    const missed = () => {
      part("stage").textContent = "The server does not answer; if it has ended, start it again. This page goes on when it is back.";
      part("said").textContent = part("time").textContent = "";
    };
    let silence = setTimeout(missed, 30000); // three times what a server keeps silent
    source.onmessage = (event) => {
      clearTimeout(silence);
      silence = setTimeout(missed, 30000);
      const state = JSON.parse(event.data);
      const waits = state.ahead ? `Waiting: ${state.ahead} before it` : "Waiting";
      const stage = state.status === "queued" ? waits : state.stage || "Starting";
      if (part("stage").textContent !== stage) part("stage").textContent = stage;
      part("bar").value = state.percent;
      part("said").textContent = state.said;
      part("time").textContent = [state.time, state.left].filter(Boolean).join(" · ");
    };
    source.onerror = () => {
      missed();
      if (source.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 3000);
    };
    source.addEventListener("end", () => { source.close(); location.reload(); });
  }
})();
