// The theme of the reader's choice, and the search in the sections of all pages.
'use strict';

const themes = {auto: 'light dark', light: 'light', dark: 'dark'};

function showTheme(name) {
  document.documentElement.style.colorScheme = themes[name];
  const button = document.getElementById('theme');
  if (button) {
    button.textContent = `Theme: ${name}`;
  }
}

// A browser that stores nothing throws: the choice is then forgotten with the page.
let theme = 'auto';

function readTheme() {
  try {
    const name = localStorage.getItem('docs-theme');
    theme = Object.hasOwn(themes, name) ? name : 'auto';
  } catch {
    // the theme that was chosen on this page
  }
  return theme;
}

function chooseNextTheme() {
  const names = Object.keys(themes);
  theme = names[(names.indexOf(readTheme()) + 1) % names.length];
  try {
    localStorage.setItem('docs-theme', theme);
  } catch {
    // it is shown all the same
  }
  showTheme(theme);
}

// Every word must be in a section. Tasks come first, then hits in titles; of those, guides before references.
function findSections(all, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) {
    return [];
  }
  const out = [];
  for (const section of all) {
    const title = section.t.toLowerCase();
    const body = section.x.toLowerCase();
    if (!words.every(w => title.includes(w) || body.includes(w))) {
      continue;
    }
    out.push({
      section,
      inTitle: words.filter(w => title.includes(w)).length,
      at: body.indexOf(words[0]),
    });
  }
  const rank = hit => (hit.section.k === 'task' ? 0 : 1);
  const late = hit => (hit.section.k === 'reference' ? 1 : 0);
  out.sort((a, b) => rank(a) - rank(b) || b.inTitle - a.inTitle || late(a) - late(b));
  return out.slice(0, 12);
}

function showHit({section, at}) {
  const li = document.createElement('li');
  const a = document.createElement('a');
  const small = document.createElement('small');
  a.href = section.u;
  a.textContent = section.t;
  small.textContent = section.x.slice(Math.max(0, at - 40), Math.max(0, at) + 80);
  li.append(a, small);
  return li;
}

showTheme(readTheme());
document.addEventListener('DOMContentLoaded', () => {
  showTheme(readTheme());
  document.getElementById('theme').addEventListener('click', chooseNextTheme);
  const input = document.getElementById('search');
  const hits = document.getElementById('hits');
  let index;
  input.addEventListener('input', async () => {
    index ??= fetch('search.json').then(r => r.json());
    const found = findSections(await index, input.value);
    hits.replaceChildren(...found.map(showHit));
    hits.hidden = !found.length;
  });
});
