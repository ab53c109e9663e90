import { readdirSync, readFileSync } from 'node:fs';

/** A page of the manual. */
export interface Page {
  /** Relative to the root. */
  readonly path: string;
  readonly text: string;
  /** Returns the contents of the fenced blocks in a language, such as `yaml`. */
  blocks(language: string): string[];
  /** Contents of inline code outside fenced blocks. */
  readonly codes: readonly string[];
  readonly headings: readonly string[];
}

const FENCED = /^```(\w*)\n(.*?)^```$/gms;

export function readPage(path: string): Page {
  const text = readFileSync(path, 'utf8');
  const prose = text.replace(FENCED, '');
  return {
    path,
    text,
    blocks: (language) =>
      [...text.matchAll(FENCED)].filter(([, name]) => name === language).map(([, , block = '']) => block),
    codes: [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code),
    headings: [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading),
  };
}

/** Returns the README, the other pages at the root, and everything in `docs/`. */
export function allPages(): Page[] {
  const docs = readdirSync('docs', { recursive: true })
    .map((name) => `docs/${String(name)}`)
    .filter((path) => path.endsWith('.md'));
  return ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', ...docs].map(readPage);
}
