import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

const AT_ROOT = ['README.md', 'CHANGELOG.md', 'CODE_OF_CONDUCT.md', 'CONTRIBUTING.md', 'SECURITY.md'];
const FOLDERS = ['docs', 'packaging', 'examples', 'bench/results'];
const TARGET = /\]\(([^)\s]+)\)|<img [^>]*src="([^"]+)"/g;

/** Returns the paths of all pages: those at the root, and every Markdown file of the documentation. */
export function pagePaths() {
  const below = FOLDERS.filter((folder) => existsSync(join(root, folder))).flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => `${folder}/${name}`),
  );
  return [...AT_ROOT, ...below.filter((path) => path.endsWith('.md') && !path.includes('node_modules/'))].toSorted();
}

export function readPage(path) {
  return readFileSync(join(root, path), 'utf8');
}

export function titleOf(text) {
  return /^# (.*)$/m.exec(text)?.[1].replaceAll('`', '') ?? 'Latchkey';
}

/** Returns the address of a page in the site. The index of the documentation is the start page. */
export function addressOf(path) {
  if (path === 'docs/README.md') return 'index.html';
  if (path === 'README.md') return 'readme.html';
  return path.replace(/(^|\/)README\.md$/, '$1index.html').replace(/\.md$/, '.html');
}

/** Returns the path in the repository that a link of a page leads to; undefined for other sites and anchors. */
export function linkedPath(target, page) {
  if (/^(?:[a-z]+:|#)/.test(target)) return undefined;
  return join(dirname(page), target.split('#')[0]);
}

/** Returns the files and directories that pages link to and that have no page. */
export function linkedWithoutPage(paths) {
  const pages = new Set(paths);
  const hasPage = (path) => pages.has(path) || pages.has(join(path, 'README.md'));
  const linked = paths.flatMap((page) =>
    [...readPage(page).matchAll(TARGET)]
      .map(([, link, image]) => linkedPath(link ?? image, page))
      .filter((path) => path !== undefined && !hasPage(path) && existsSync(join(root, path))),
  );
  const all = [...new Set(linked)].map((path) => path.replace(/\/$/, ''));
  const isFolder = (path) => statSync(join(root, path)).isDirectory();
  return { files: all.filter((path) => !isFolder(path)), folders: all.filter(isFolder) };
}

/** Returns a page that lists the content of a directory. */
export function listing(folder) {
  const names = readdirSync(join(root, folder));
  const rows = names.map((name) => {
    const title = name.endsWith('.md') ? titleOf(readPage(`${folder}/${name}`)) : name;
    return `- [${title}](${name})`;
  });
  return `# ${folder}\n\n${rows.join('\n')}\n`;
}

/** Returns the anchor of a heading, the same as in the repository's own view. */
export function slugOf(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}
