"use strict";
(() => {
  const grid = document.getElementById("grid");
  if (!grid) return;
  // text goes in by textContent alone: nothing of the report is ever read as markup
  const data = JSON.parse(document.getElementById("data").textContent);
  const box = document.getElementById("scroll"), body = document.getElementById("body");
  const search = document.getElementById("search"), differing = document.getElementById("differing");
  const shown = document.getElementById("shown"), dialog = document.getElementById("one");
  const groups = [...document.querySelectorAll("input[name=group]")];
  const HEIGHT = 30, SPARE = 12;
  const number = new Intl.NumberFormat("en");
  const haystack = data.rows.map((row) => (row[0] + "\n" + data.whys[row[3]]).toLowerCase());
  let rows = [], first = -1, last = -1, active = 0;

  function make(name, text, className) {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  }

  // one element a cell: the letter is for the eye, the label for the ear
  function outcome(element, kind) {
    element.textContent = kind[0];
    element.title = kind[1];
    element.setAttribute("aria-label", kind[1]);
    return element;
  }

  function cell(className, role) {
    const element = make("div", undefined, className);
    element.setAttribute("role", role);
    return element;
  }

  const solo = [...document.querySelectorAll("#heads .run")].map((head) => head.classList.contains("solo"));
  for (const [at, world] of [...document.querySelectorAll("#grid .world")].entries()) {
    const runs = data.worlds[at];
    if (runs > 1) world.style.width = "calc(2.6rem * " + Number(runs) + ")";
  }

  function line(index) {
    const [id, group, cells, why] = data.rows[rows[index]];
    const row = cell("row " + data.groups[group][0], "row"), head = cell("id", "rowheader"), button = make("button", id);
    row.setAttribute("aria-rowindex", String(index + 2));
    row.style.top = index * HEIGHT + "px";
    button.type = "button";
    button.title = id;
    button.dataset.index = String(index);
    button.tabIndex = index === active ? 0 : -1;
    button.setAttribute("aria-label", id + ", " + data.groups[group][1]);
    head.append(button);
    row.append(head);
    for (const [at, kind] of cells.entries())
      row.append(outcome(cell("run " + (solo[at] ? "solo " : "") + data.kinds[kind][2], "cell"), data.kinds[kind]));
    const reason = cell("why", "cell");
    reason.textContent = reason.title = data.whys[why];
    row.append(reason);
    return row;
  }

  // rows stay in their order in the document, and only those that come into sight are made
  function draw(force) {
    const from = Math.max(0, Math.floor(box.scrollTop / HEIGHT) - SPARE);
    const to = Math.min(rows.length, Math.ceil((box.scrollTop + box.clientHeight) / HEIGHT) + SPARE);
    if (!force && from === first && to === last) return;
    const old = document.activeElement, focused = old && body.contains(old);
    if (force || from >= last || to <= first) {
      body.replaceChildren();
      [first, last] = [from, from];
    }
    while (first < from) { body.firstChild.remove(); first++; }
    while (last > to) { body.lastChild.remove(); last--; }
    while (first > from) body.prepend(line(--first));
    while (last < to) body.append(line(last++));
    // a focused row that was scrolled away leaves the focus in the table
    if (focused && !body.contains(document.activeElement)) box.focus({ preventScroll: true });
  }

  let waiting = false;
  function later(force) {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(force); });
  }

  function differs(cells) {
    const seen = new Set(cells.filter((cell) => cell).map((cell) => data.kinds[cell][1]));
    return seen.size > 1;
  }

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = new Set(groups.filter((box) => box.checked).map((box) => box.value));
    const ok = data.groups.map((group) => wanted.has(group[0]));
    rows = [];
    for (let index = 0; index < data.rows.length; index++) {
      const row = data.rows[index];
      if (ok[row[1]] && (!differing.checked || differs(row[2])) && words.every((word) => haystack[index].includes(word)))
        rows.push(index);
    }
    active = 0;
    box.scrollTop = 0;
    grid.setAttribute("aria-rowcount", String(rows.length + 1));
    body.style.height = rows.length * HEIGHT + "px";
    shown.textContent = number.format(rows.length) + " of " + number.format(data.rows.length) + (data.rows.length === 1 ? " test" : " tests");
    draw(true);
  }

  function go(index) {
    if (!rows.length) return;
    active = Math.min(Math.max(index, 0), rows.length - 1);
    const top = active * HEIGHT, head = document.querySelector("#grid .head").offsetHeight;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + HEIGHT + head > box.scrollTop + box.clientHeight) box.scrollTop = top + HEIGHT + head - box.clientHeight;
    draw(false);
    for (const other of body.querySelectorAll("button[tabindex='0']")) other.tabIndex = -1;
    const button = body.querySelector("button[data-index='" + active + "']");
    if (!button) return;
    button.tabIndex = 0;
    button.focus({ preventScroll: true });
  }

  function show(index) {
    const [id, group, cells, why] = data.rows[rows[index]];
    document.getElementById("one-h").textContent = id;
    const list = make("dl");
    list.append(make("dt", "group"), make("dd", data.groups[group][1]), make("dt", "why"), make("dd", data.whys[why] || "-"));
    const names = [...document.querySelectorAll("#heads .run")].map((head) => head.getAttribute("aria-label"));
    cells.forEach((kind, at) => {
      if (!kind) return;
      const value = make("dd"), eye = make("span", data.kinds[kind][0], "o " + data.kinds[kind][2]);
      eye.setAttribute("aria-hidden", "true");
      value.append(eye, " " + data.kinds[kind][1]);
      list.append(make("dt", names[at]), value);
    });
    document.getElementById("one-body").replaceChildren(list);
    dialog.showModal();
  }

  // few tests need no tall box
  box.style.height = "min(70vh, 44rem, " + (data.rows.length * HEIGHT + 80) + "px)";
  box.addEventListener("scroll", () => later(false), { passive: true });
  addEventListener("resize", () => later(true));
  document.getElementById("filters").addEventListener("submit", (event) => event.preventDefault());
  let timer = 0;
  search.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(filter, 80); });
  for (const one of [...groups, differing]) one.addEventListener("change", filter);
  body.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    active = Number(button.dataset.index);
    show(active);
  });
  const page = () => Math.max(1, Math.floor(box.clientHeight / HEIGHT) - 2);
  box.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const inside = event.target.closest("button");
    const steps = { ArrowDown: () => active + (inside ? 1 : 0), ArrowUp: () => active - 1, PageDown: () => active + page(), PageUp: () => active - page(), Home: () => 0, End: () => rows.length - 1 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    go(steps[event.key]());
  });
  filter();
})();
