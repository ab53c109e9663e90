import { posix } from 'node:path';
import { addressOf } from './pages.js';

/** The parts of the documentation, in the order of its index. */
const NAVIGATION = [
  ['docs/README.md', 'Documentation'],
  ['docs/guides/first-steps.md', 'First steps'],
  ['docs/guides/install.md', 'Install'],
  ['docs/guides/operate.md', 'Operate'],
  ['docs/guides/sign-in-an-app.md', 'Connect apps'],
  ['docs/guides/programs.md', 'Programs'],
  ['docs/reference/configuration.md', 'Configuration'],
  ['docs/versioning.md', 'Versions'],
  ['docs/trust.md', 'Trust'],
  ['SECURITY.md', 'Security'],
  ['CHANGELOG.md', 'Changelog'],
];

/** Statements and records would hide the guides in the results. */
const SEARCHED = /^(?!docs\/(?:sql|decisions|import-graph)|bench\/)/;

/** Returns a page of the site. */
export function render({ title, content, source, permalink }) {
  const to = (address) => posix.relative(posix.dirname(permalink), address) || posix.basename(address);
  const links = NAVIGATION.map(([path, name]) => {
    const current = path === source ? ' aria-current="page"' : '';
    return `<li><a href="${to(addressOf(path))}"${current}>${name}</a></li>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title === 'Latchkey' ? title : `${escaped(title)} - Latchkey`}</title>
<link rel="stylesheet" href="${to('pagefind/pagefind-ui.css')}">
<link rel="stylesheet" href="${to('site.css')}">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<p class="name"><a href="${to('index.html')}">Latchkey</a></p>
<div id="search"></div>
<nav aria-label="Documentation"><ul>${links.join('')}</ul></nav>
</header>
<main id="content"${SEARCHED.test(source) ? ' data-pagefind-body' : ''}>
${content}
</main>
<script src="${to('pagefind/pagefind-ui.js')}"></script>
<script>new PagefindUI({ element: '#search', showSubResults: true, showImages: false });</script>
</body>
</html>
`;
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
