/** Lays out SQL that was composed of fragments, each with the indentation of its own file. */

const WIDTH = 116;

/** How a line may begin that does not continue the one above. */
const CLAUSE =
  /^(?:--|(?:with|select|from|where|insert|values|update|set|delete|returning|on conflict|do (?:update|nothing)|union|(?:(?:inner|cross|left|right|full) )*join|(?:group|order) by|having|limit|for (?:no key )?(?:update|share))\b)/;
const CTE = String.raw`\w+(?: \([\w, ]+\))? as (?:(?:not )?materialized )?\(`;
const IS_CTE = RegExp(`^${CTE}`);
const COMMA_BEFORE_CTE = RegExp(String.raw`,\s+(?=${CTE}\s)`, 'g');

const QUOTED = /'[^']*'|--.*/g;
/** Parentheses, and where a long line may be broken: after a comma, and before these words. */
const BREAKS =
  /[()]|, | (?=(?:and|or|when|then|else|(?<!(?:distinct|epoch) )from|where|join|cross join|left join|order by|union|on conflict|returning) )/g;

interface OpenParenthesis {
  /** Of the line that opens it. */
  readonly indent: number;
  /** Whether it contains a list, whose lines are all indented alike. */
  isList: boolean;
}

/** Indents each line by the parentheses around it, and breaks long lines. Keeps the authors' line breaks. */
export function formatSql(source: string): string {
  const pending = source.replace(COMMA_BEFORE_CTE, ',\n').split('\n').toReversed();
  const lines: string[] = [];
  const open: OpenParenthesis[] = [];
  let isFirst = false;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const line = next.trim();
    if (line === '') continue;
    const isClause = CLAUSE.test(line) || IS_CTE.test(line);
    const outer = open.at(-1);
    if (isFirst && outer !== undefined) outer.isList = !isClause;
    const indent = line.startsWith(')') ? indentOfClosing(line, open) : indentInside(outer, isClause);
    const end = breakOf(line, WIDTH - 2 * indent);
    const shown = line.slice(0, end).trimEnd();
    lines.push('  '.repeat(indent) + shown);
    for (const [mark] of unquoted(shown).matchAll(/[()]/g)) {
      if (mark === '(') open.push({ indent, isList: false });
      else open.pop();
    }
    isFirst = shown.endsWith('(');
    pending.push(line.slice(end));
  }
  return lines.join('\n');
}

function indentInside(outer: OpenParenthesis | undefined, isClause: boolean): number {
  const indent = outer === undefined ? 0 : outer.indent + 1;
  return isClause || outer?.isList === true ? indent : indent + 1;
}

/** Returns the indent of the line that the last of the leading parentheses closes. */
function indentOfClosing(line: string, open: readonly OpenParenthesis[]): number {
  const closed = /^\)+/.exec(line)?.[0].length ?? 0;
  return open.at(-closed)?.indent ?? 0;
}

/** Returns where to break a long line: at the last outermost place that fits. */
function breakOf(line: string, width: number): number {
  if (line.length <= width || line.startsWith('--')) return line.length;
  let [best, lowest, depth]: [number | undefined, number, number] = [undefined, Number.POSITIVE_INFINITY, 0];
  for (const { 0: mark, index } of unquoted(line).matchAll(BREAKS)) {
    const end = mark === ', ' ? index + 1 : index;
    if (end > width && best !== undefined) break;
    if (mark === '(') depth += 1;
    else if (mark === ')') depth -= 1;
    else if (depth <= lowest) [best, lowest] = [end, depth];
  }
  return best ?? line.length;
}

/** Replaces string literals and comments with text of the same length. */
function unquoted(line: string): string {
  return line.replace(QUOTED, (quoted) => '_'.repeat(quoted.length));
}
