/**
 * Finds citations that lead nowhere: sections, rows and ids of `docs/specification/`, and decision records. A citation
 * names its document: `operations 5.4`, `oauth 6.3 step 3`, `security S-57` or only `S-57`, `decision 0011`. Rows and list
 * items may be cited as subsections, like row 8 in `operations 10.8`.
 */
import { readdirSync, readFileSync } from 'node:fs';

const SPECIFICATION = 'docs/specification';
const DECISIONS = 'docs/decisions';
const SKIPPED = new Set(['node_modules', 'results', 'dist', 'data', '.git', '.latchkey', 'package-lock.json']);
/** Cites what does not exist, to test this check. */
const PLANTED = '.ci/checks/planted-faults.js';
const TEXT = /(?:\.(?:tsx?|js|md|sql|sh|py|c|yaml|graphql)|\/run|\/nightly)$/;
const COMMENT_MARK = /^[ \t]*(?:\/?\*+\/?|\/\/|#|--)[ \t]?/;

const { documents, ids } = readSpecification();
const decisions = readdirSync(DECISIONS).filter((name) => /^\d{4}-.*\.md$/.test(name));

const names = [...documents.keys()].map((name) => `[${name[0].toUpperCase()}${name[0]}]${name.slice(1)}`);
const NAME = `(?<![\\w/.-])(?<name>${names.join('|')})`;
const NUMBER = String.raw`\d{1,2}(?:\.\d{1,2}){0,2}(?![\w%]|\.\d)`;
const ROW = '(?:rows?|steps?|facts?)';
const AND = String.raw`(?:,|,? (?:and|or|to))[ \n]`;
const FAMILY = `[${[...new Set([...ids].map(([letter]) => letter))].join('')}]`;

/** Forms of citations, and what does not exist of a citation. */
const CITATIONS = [
  {
    form: RegExp(`${NAME}[ \\n](?<list>${NUMBER}(?:(?:${AND}|[ \\n])(?:${ROW}[ \\n])?${NUMBER})*)`, 'g'),
    missing: ({ name, list }) => missingSections(name, list),
  },
  {
    form: RegExp(
      `\\b${ROW}[ \\n](?<rows>${NUMBER}(?:${AND}${NUMBER})*)[ \\n]of[ \\n]${NAME}[ \\n](?<section>${NUMBER})`,
      'gi',
    ),
    missing: ({ name, section, rows }) => missingRows(name, section, rows),
  },
  {
    form: RegExp(`(?<![\\w-])(?<id>${FAMILY}-\\d{1,3}|G\\d)(?![\\w-])`, 'g'),
    missing: ({ id }) => (ids.has(id) ? [] : [`no row ${id} in ${SPECIFICATION}`]),
  },
  {
    form: RegExp(`\\bdecisions?[ \\n](?<list>\\d{4}(?:${AND}\\d{4})*)`, 'gi'),
    missing: ({ list }) => list.match(/\d{4}/g).flatMap((number) => missingDecision(`${number}-`)),
  },
  { form: /(?:\bdecisions\/|\]\()(?<file>\d{4}-[\w-]+\.md)/g, missing: ({ file }) => missingDecision(file) },
];

/** Citations in another form, which may lack the document. */
const UNCLEAR = [
  RegExp(`${NAME}\\.md,?[ \\n](?:sections?[ \\n])?\\d`, 'g'),
  RegExp(`${NAME},?[ \\n](?:specification,?[ \\n])?(?:\\(|§ ?|sections?[ \\n])\\d`, 'g'),
  RegExp(`${NAME}[ \\n]${NUMBER},[ \\n]${ROW} \\d`, 'g'),
  RegExp(`\\bspecification,?[ \\n](?:\\(|§ ?|(?:section|${ROW})s?[ \\n])\\d`, 'g'),
  RegExp(`\\b${ROW}[ \\n]\\d{1,2}[ \\n]of[ \\n]section[ \\n]\\d`, 'g'),
  /\bacceptance \d/g,
  /\bdecision records?[ \n]\d{4}|\bdecisions\/\d{4}(?!-)/g,
];
/** Section numbers without a document, in comments and names of tests. */
const BARE = /(?<=\w[ \n]|['`])\(\d{1,2}\.\d{1,2}(?:\.\d{1,2})?(?:[,;)]| (?:and|to|row|step) )/g;

/** Returns the numbered rows of each section of each document, and all ids. */
function readSpecification() {
  const documents = new Map();
  const ids = new Set();
  for (const file of readdirSync(SPECIFICATION).filter((name) => name.endsWith('.md') && name !== 'README.md')) {
    const sections = new Map();
    let rows = new Set();
    for (const line of readFileSync(`${SPECIFICATION}/${file}`, 'utf8').split('\n')) {
      const [, heading, section] = /^(#+) (?:(\d+(?:\.\d+)*)\.? )?/.exec(line) ?? [];
      if (heading !== undefined) rows = new Set();
      if (section !== undefined) sections.set(section, rows);
      const [, row] = /^(?:\| *(?=\d+ *\|))?(\d+)(?: *\||\. )/.exec(line) ?? [];
      if (row !== undefined) rows.add(row);
      const [, numbered] = /^\| *(\d+\.\d+) *\|/.exec(line) ?? [];
      if (numbered !== undefined) sections.set(numbered, new Set());
      const [, id] = /^\| *([A-Z]-\d{2,}|G\d)\b/.exec(line) ?? [];
      if (id !== undefined) ids.add(id);
    }
    documents.set(file.slice(0, -'.md'.length), sections);
  }
  return { documents, ids };
}

function missingSections(name, list) {
  const missing = [];
  let section;
  let isRow = false;
  for (const { groups } of list.matchAll(RegExp(`(?<word>${ROW}[ \\n])?(?<number>${NUMBER})`, 'g'))) {
    isRow = groups.word !== undefined || (isRow && !groups.number.includes('.'));
    if (isRow) missing.push(...missingRows(name, section, groups.number));
    else missing.push(...missingSection(name, groups.number));
    if (!isRow) section = groups.number;
  }
  return missing;
}

function missingSection(name, number) {
  const sections = documents.get(name.toLowerCase());
  const [, parent, row] = /^(.*)\.(\d+)$/.exec(number) ?? [];
  return sections.has(number) || sections.get(parent)?.has(row) ? [] : [`${name} has no section ${number}`];
}

function missingRows(name, section, list) {
  const rows = documents.get(name.toLowerCase()).get(section);
  if (rows === undefined) return missingSection(name, section);
  return list.match(/\d+/g).flatMap((row) => (rows.has(row) ? [] : [`${name} ${section} has no row ${row}`]));
}

function missingDecision(start) {
  return decisions.some((file) => file.startsWith(start)) ? [] : [`no decision ${start}`];
}

/** Returns a text without marks of comments, so that a citation may continue on the next line. */
function unmarked(text) {
  return text
    .split('\n')
    .map((line) => line.replace(COMMENT_MARK, ''))
    .join('\n');
}

/** Returns a document of the specification with the common form of citations: others are links, its own `section 4`. */
function unlinked(text, own) {
  return text
    .replace(RegExp(`(?:\\[[^\\]\\n]*\\]\\(|\`)${NAME}\\.md[\`)](?=[ \\n]\\d)`, 'g'), '$<name>')
    .replace(/\bsections?(?=[ \n]\d)/gi, own);
}

function* filesBelow(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = folder === '.' ? entry.name : `${folder}/${entry.name}`;
    if (SKIPPED.has(entry.name)) continue;
    if (entry.isDirectory()) yield* filesBelow(path);
    else if (TEXT.test(path) && path !== PLANTED) yield path;
  }
}

let cited = 0;
const problems = [];
for (const path of filesBelow('.')) {
  const [, document] = new RegExp(`^${SPECIFICATION}/(.*)\\.md$`).exec(path) ?? [];
  const source = unmarked(readFileSync(path, 'utf8'));
  const text = document === undefined ? source : unlinked(source, document);
  const report = (index, what) => problems.push(`${path}:${text.slice(0, index).split('\n').length}: ${what}`);
  for (const { form, missing } of CITATIONS) {
    for (const { groups, index } of text.matchAll(form)) {
      cited += 1;
      for (const what of missing(groups)) report(index, what);
    }
  }
  if (document !== undefined) continue;
  for (const form of path.endsWith('.md') ? UNCLEAR : [...UNCLEAR, BARE]) {
    for (const { 0: found, index } of text.matchAll(form)) {
      report(index, `write the document and the number, like \`operations 5.4\`: ${found.replace('\n', ' ')}`);
    }
  }
}
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.stdout.write(`${cited} citations read, ${problems.length} lead nowhere or are unclear\n`);
process.exitCode = cited > 0 && problems.length === 0 ? 0 : 1;
