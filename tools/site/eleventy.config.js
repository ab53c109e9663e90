import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import {
  addressOf,
  linkedPath,
  linkedWithoutPage,
  listing,
  pagePaths,
  readPage,
  root,
  slugOf,
  titleOf,
} from './pages.js';

/** Configures Eleventy: every page of the repository as a virtual template, and the files that they link to. */
export default function configure(eleventy) {
  const paths = pagePaths();
  const pages = new Set(paths);
  eleventy.setUseGitIgnore(false);
  for (const path of paths) {
    const text = readPage(path);
    const data = { permalink: addressOf(path), title: titleOf(text), source: path, layout: 'layout.11ty.js' };
    eleventy.addTemplate(path, text, data);
  }
  const { files, folders } = linkedWithoutPage(paths);
  for (const folder of folders) {
    const data = {
      permalink: `${folder}/index.html`,
      title: folder,
      source: `${folder}/README.md`,
      layout: 'layout.11ty.js',
    };
    eleventy.addTemplate(`${folder}/README.md`, listing(folder), data);
  }
  const listed = folders.flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`));
  for (const file of new Set([...files, ...listed.filter((path) => !pages.has(path))])) {
    eleventy.addPassthroughCopy({ [`../../${file}`]: publicName(file) });
  }
  eleventy.addPassthroughCopy({ 'site.css': 'site.css' });
  eleventy.amendLibrary('md', (markdown) => {
    markdown.set({ html: true });
    markdown.core.ruler.push('addresses', ({ tokens, env }) => {
      const adapt = (target) => adapted(target, env.source, pages);
      const used = new Map();
      tokens.forEach((token, index) => {
        if (token.type === 'heading_open') token.attrSet('id', uniqueSlug(tokens[index + 1], used));
        for (const one of [token, ...(token.children ?? [])]) adaptToken(one, adapt);
      });
    });
  });
  return {
    dir: { input: '.', includes: '.', output: '_site' },
    markdownTemplateEngine: false,
    templateFormats: ['md'],
  };
}

function adaptToken(token, adapt) {
  for (const name of ['href', 'src']) {
    const target = token.attrGet(name);
    if (target !== null) token.attrSet(name, adapt(target));
  }
  if (/^html_/.test(token.type)) {
    token.content = token.content.replaceAll(/(?<=\s(?:src|href)=")[^"]+/g, adapt);
  }
}

/** Links to pages get their addresses in the site, and those to directories the address of their start page. */
function adapted(target, page, pages) {
  const path = linkedPath(target, page);
  if (path === undefined) return target;
  const [, anchor] = target.split('#');
  const to = pages.has(path)
    ? addressOf(path)
    : isFolder(path)
      ? `${path.replace(/\/$/, '')}/index.html`
      : publicName(path);
  const address = posix.relative(posix.dirname(addressOf(page)), to) || posix.basename(to);
  return anchor === undefined ? address : `${address}#${anchor}`;
}

function isFolder(path) {
  const full = join(root, path);
  return existsSync(full) && statSync(full).isDirectory();
}

/** Servers would not show files without an extension, or with an unknown one. */
function publicName(path) {
  return /\.(?:webp|svg|png|json|html)$/.test(path) ? path : `${path}.txt`;
}

function uniqueSlug(inline, used) {
  const text = inline.children.map(({ content }) => content).join('');
  const slug = slugOf(text);
  const count = used.get(slug) ?? 0;
  used.set(slug, count + 1);
  return count === 0 ? slug : `${slug}-${count}`;
}
