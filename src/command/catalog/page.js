const query = document.getElementById("query");
const risk = document.getElementById("risk");
const count = document.getElementById("count");
const tools = [...document.querySelectorAll("details")];
const texts = tools.map((tool) => tool.textContent.toLowerCase());
const sections = [...document.querySelectorAll("section")];

function filter() {
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  tools.forEach((tool, at) => {
    const fits = (!risk.value || tool.dataset.risk === risk.value) && words.every((word) => texts[at].includes(word));
    tool.hidden = !fits;
    shown += fits ? 1 : 0;
  });
  for (const section of sections) section.hidden = !section.querySelector("details:not([hidden])");
  count.textContent = `${shown} of ${tools.length} tools`;
}

function move(step) {
  const shown = tools.filter((tool) => !tool.hidden).map((tool) => tool.firstElementChild);
  const at = shown.indexOf(document.activeElement);
  const next = at < 0 ? (step > 0 ? 0 : -1) : at + step;
  (shown[next] ?? query).focus();
}

function openTarget() {
  const tool = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (tool) tool.open = true;
}

document.addEventListener("keydown", (event) => {
  const types = event.target === query || event.target === risk;
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "/" && !types) query.focus();
  else if (event.key === "Escape") { query.value = ""; filter(); query.focus(); }
  else if (event.key === "ArrowDown" && event.target !== risk) move(1);
  else if (event.key === "ArrowUp" && event.target !== risk) move(-1);
  else return;
  event.preventDefault();
});
document.getElementById("search").addEventListener("submit", (event) => event.preventDefault());
query.addEventListener("input", filter);
risk.addEventListener("change", filter);
window.addEventListener("hashchange", openTarget);
filter();
openTarget();
