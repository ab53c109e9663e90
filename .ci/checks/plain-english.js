/**
 * Bounds how often prose uses phrases that technical readers stumble over, per 10,000 words and kind of text: manual,
 * changelog, comments, texts of the program, texts of its pages. Well-liked manuals of the field stay within these
 * bounds; one term may exceed its bound by half, if the sum stays within its bound.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { parseSync } from 'oxc-parser';

const TERMS = [
  { name: 'nobody, no one', bound: 1, phrase: /\b(?:nobody|no one|none of them|nothing else)\b/gi },
  { name: 'people, persons', bound: 4, phrase: /\b(?:people|persons?|somebody|everybody|whoever|anybody)\b/gi },
  {
    name: '"who has" as a subject',
    bound: 1,
    phrase:
      /(?:^|[.;:|(] *)(?:who|whose|what) (?:has|is|are|was|were|signs?|sets?|comes?|owns?|gets?|does|can|may|runs?|must)\b/gim,
  },
  { name: 'is no', bound: 1, phrase: /\b(?:is|are|was|were|be) no\b(?! longer| more)/gi },
  { name: 'told', bound: 1.5, phrase: /\b(?:told|tells?|telling)\b/gi },
  { name: 'again', bound: 4, phrase: /\bagain\b/gi },
  { name: 'anew, besides', bound: 1, phrase: /\b(?:anew|besides?|meanwhile|thereby|whereby|hereby|thereof)\b/gi },
  { name: 'that of', bound: 6, phrase: /\b(?:that|those) (?:of|which|who)\b/gi },
  { name: 'of its own', bound: 2, phrase: /\bof (?:its|their|our|your|his) own\b|\bof (?:yours|theirs|ours|mine)\b/gi },
  { name: 'stand', bound: 1, phrase: /\b(?:stands?|stood)\b/gi },
  { name: 'by which', bound: 5, phrase: /\b(?:by|with|for|in|at|from|to|of|on|under) (?:which|whom)\b/gi },
  { name: 'is to be', bound: 1.5, phrase: /\b(?:is|are|was|were) (?:not )?to (?:be|have|get|do)\b/gi },
  { name: 'such', bound: 6, phrase: /\bsuch\b/gi },
  { name: 'says so', bound: 1, phrase: /\bsays? (?:nothing|so|who|which|whether)\b/gi },
  { name: 'lets it', bound: 1, phrase: /\blets? (?:it|them|people|who|nobody)\b/gi },
  { name: 'taken over', bound: 1, phrase: /\b(?:taken? over|takes over|taken? along|brought|(?:is|are|was) over)\b/gi },
  { name: 'by itself, at once', bound: 3, phrase: /\b(?:for ever|by then|by (?:itself|themselves)|at once)\b/gi },
  { name: 'look at', bound: 3, phrase: /\blook(?:s|ed)? (?:at|into|for)\b/gi },
  { name: 'mend', bound: 0.2, phrase: /\bmend(?:s|ed|ing)?\b/gi },
];
const MAX_TOGETHER = 45;
/** Fewer hits of a term say nothing about a kind of text. */
const FEW = 2;
const SAMPLES = 5;

const KINDS = {
  manual: { files: /^(?:(?:docs|bench|tools)\/.*|(?!CHANGELOG)[A-Z_]+)\.md$/, passages: proseOf },
  changelog: { files: /^CHANGELOG\.md$/, passages: proseOf },
  comments: {
    files: /^(?:src|web|test|scripts|bench|tools|\.ci)\/.*(?<!\.d|\.test)\.(?:tsx?|js)$/,
    passages: commentsOf,
  },
  'texts of the program': { files: /^(?:src|web)\/.*(?<!\.d|\.test)\.tsx?$/, passages: textsOf },
  'texts of pages': { files: /^locales\/en\.json$/, passages: messagesOf },
};
const FOLDERS = ['.', 'docs', 'src', 'web', 'test', 'scripts', 'bench', 'tools', '.ci', 'locales'];
const SKIPPED = /(?:^|\/)(?:node_modules|results|dist|data)\//;
const SQL =
  /\b(?:select|insert|update|delete|with|create|alter)\b[\s\S]*\b(?:from|into|set|as|on|table|where|index)\b/i;

/** Without code blocks, inline code, link targets and markup. */
function proseOf(source) {
  const text = source
    .replace(/```[\s\S]*?```/g, '\n')
    .replace(/`[^`\n]*`/g, 'X')
    .replace(/\]\([^)]*\)/g, ']')
    .replace(/<[^>]+>/g, '');
  return text.split('\n').map((passage, index) => ({ passage, line: index + 1 }));
}

function commentsOf(source, path) {
  return parse(source, path).comments.map(({ value, start }) => ({
    passage: value.replace(/^\s*\*+/gm, '').replace(/`[^`\n]*`/g, 'X'),
    line: lineAt(source, start),
  }));
}

/** Strings of at least three words that are not SQL. */
function textsOf(source, path) {
  const found = [];
  visit(parse(source, path).program, (node) => {
    let text;
    if (node.type === 'Literal' && typeof node.value === 'string') text = node.value;
    else if (node.type === 'TemplateLiteral') text = node.quasis.map(({ value }) => value.cooked ?? '').join('X');
    else if (node.type === 'JSXText') text = node.value;
    if (text === undefined || !/[a-z]{2,} [a-z]{2,} [a-z]/i.test(text) || SQL.test(text)) return;
    found.push({ passage: text, line: lineAt(source, node.start) });
  });
  return found;
}

function messagesOf(source) {
  const messages = Object.values(JSON.parse(source)).filter((message) => typeof message === 'string');
  return messages.map((passage, index) => ({ passage, line: index + 2 }));
}

function parse(source, path) {
  const parsed = parseSync(path, source);
  if (parsed.errors.length > 0) throw new Error(`${path}: ${parsed.errors[0].message}`);
  return parsed;
}

function visit(node, see) {
  if (Array.isArray(node)) {
    for (const child of node) visit(child, see);
  } else if (node !== null && typeof node === 'object') {
    if (typeof node.type === 'string') see(node);
    for (const child of Object.values(node)) visit(child, see);
  }
}

function lineAt(source, offset) {
  return source.slice(0, offset).split('\n').length;
}

const paths = FOLDERS.flatMap((folder) =>
  readdirSync(folder, { recursive: folder !== '.', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath ?? entry.path}/${entry.name}`.replace(/^\.\//, '')),
).filter((path) => !SKIPPED.test(path));

const problems = [];
for (const [kind, { files, passages }] of Object.entries(KINDS)) {
  const hits = new Map(TERMS.map(({ name }) => [name, []]));
  let words = 0;
  for (const path of new Set(paths.filter((path) => files.test(path)))) {
    for (const { passage, line } of passages(readFileSync(path, 'utf8'), path)) {
      words += passage.match(/[A-Za-z][A-Za-z'-]*/g)?.length ?? 0;
      for (const { name, phrase } of TERMS) {
        for (const [found] of passage.matchAll(phrase)) hits.get(name).push(`${path}:${line}: ${found.trim()}`);
      }
    }
  }
  if (words === 0) problems.push(`${kind}: no words were read`);
  const rate = (count) => (count * 10_000) / Math.max(1, words);
  const together = rate([...hits.values()].reduce((sum, found) => sum + found.length, 0));
  process.stdout.write(`${kind}: ${words} words, ${together.toFixed(1)} of at most ${MAX_TOGETHER}\n`);
  if (together > MAX_TOGETHER) problems.push(`${kind}: ${together.toFixed(1)} odd phrases per 10,000 words`);
  for (const { name, bound } of TERMS) {
    const found = hits.get(name);
    if (found.length <= FEW || rate(found.length) <= bound * 1.5) continue;
    problems.push(`${kind}: "${name}" ${rate(found.length).toFixed(1)} times, bound ${bound}`);
    problems.push(...found.slice(-SAMPLES).map((sample) => `  ${sample}`));
  }
}
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
