// Search in the sections of all pages; every word must be there, hits in titles come first.
'use strict';
const input = document.getElementById('search'), hits = document.getElementById('hits');
let index;
input.addEventListener('input', async () => {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  index ??= fetch('search.json').then(r => r.json());
  const all = await index, out = [];
  if (words.length) for (const s of all) {
    const title = s.t.toLowerCase(), text = s.x.toLowerCase();
    if (!words.every(w => title.includes(w) || text.includes(w))) continue;
    out.push({s, score: words.filter(w => title.includes(w)).length, at: text.indexOf(words[0])});
  }
  out.sort((a, b) => b.score - a.score);
  hits.replaceChildren(...out.slice(0, 12).map(({s, at}) => {
    const li = document.createElement('li'), a = document.createElement('a'), small = document.createElement('small');
    a.href = s.u; a.textContent = s.t;
    small.textContent = s.x.slice(Math.max(0, at - 40), Math.max(0, at) + 80);
    li.append(a, small);
    return li;
  }));
});
