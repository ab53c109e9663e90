/** Rules for operator translations: a text must use the arguments of the original and valid ICU formats. */
import { IntlMessageFormat } from 'intl-messageformat';

type Element = ReturnType<IntlMessageFormat['getAst']>[number];

/** Element types of the ICU message parser. */
const ARGUMENT = 1;
const NUMBER = 2;
const DATE = 3;
const TIME = 4;
const SELECT = 5;
const PLURAL = 6;
const TAKES_VALUE = new Set<number>([ARGUMENT, NUMBER, DATE, TIME, SELECT, PLURAL]);

const FORMS = new Set(['zero', 'one', 'two', 'few', 'many', 'other']);

/** Arguments of a text. `isNumber`: used as a number in some place, so the value is a number. */
type Arguments = ReadonlyMap<string, { readonly isNumber: boolean }>;

/**
 * Returns the problem of a translated text, if any.
 * @param english the English text that it translates
 */
export function messageProblem(language: string, text: string, english: string): string | undefined {
  let format: IntlMessageFormat;
  try {
    format = parse(language, text);
  } catch (error) {
    return `is not a valid message: ${reasonOf(error)}`;
  }
  const form = wrongForm(format.getAst());
  if (form !== undefined)
    return `unknown plural form "${form}"; available: ${[...FORMS].join(', ')}, and =0 for a number`;
  const has = argumentsOf(format.getAst());
  const needed = argumentsOf(parse('en', english).getAst());
  const names = [...needed.keys()].map((name) => `{${name}}`).join(', ');
  for (const [name, { isNumber }] of has) {
    const known = needed.get(name);
    if (known === undefined)
      return `unknown value {${name}}; ${names === '' ? 'the text has no values' : `available: ${names}`}`;
    if (isNumber && !known.isNumber) return `{${name}} is a string and cannot be used as a number or a choice`;
  }
  const missing = [...needed.keys()].find((name) => !has.has(name));
  if (missing !== undefined) return `must contain {${missing}}`;
  return fillingProblem(format, needed);
}

function parse(language: string, text: string): IntlMessageFormat {
  return new IntlMessageFormat(text, language, undefined, { ignoreTag: true });
}

/** Returns the first line of the error message; further lines repeat the text. */
function reasonOf(error: unknown): string {
  return (
    (error instanceof Error ? error.message : String(error)).split('\n')[0]?.toLowerCase().replaceAll('_', ' ') ?? ''
  );
}

function wrongForm(elements: readonly Element[]): string | undefined {
  for (const element of elements) {
    if (element.type !== PLURAL && element.type !== SELECT) continue;
    for (const [form, { value }] of Object.entries(element.options)) {
      if (element.type === PLURAL && !FORMS.has(form) && !/^=\d+$/.test(form)) return form;
      const below = wrongForm(value);
      if (below !== undefined) return below;
    }
  }
  return undefined;
}

function argumentsOf(elements: readonly Element[], found = new Map<string, { isNumber: boolean }>()): Arguments {
  for (const element of elements) {
    if (TAKES_VALUE.has(element.type) && 'value' in element) {
      const isNumber = element.type !== ARGUMENT || found.get(element.value)?.isNumber === true;
      found.set(element.value, { isNumber });
    }
    if (element.type === SELECT || element.type === PLURAL)
      for (const { value } of Object.values(element.options)) argumentsOf(value, found);
  }
  return found;
}

/** Formats with sample values, because number styles are validated only when a number is formatted. */
function fillingProblem(format: IntlMessageFormat, names: Arguments): string | undefined {
  try {
    format.formatToParts(Object.fromEntries([...names.keys()].map((name) => [name, 1])));
    return undefined;
  } catch (error) {
    return `cannot be formatted: ${reasonOf(error)}`;
  }
}
