/** Template filters and string methods. Each processes its input once, and pays for it first. */
import type { Meter } from './meter.ts';
import type { Operation } from './operation.ts';
import { Failure } from './problems.ts';
import { isList, isTrue, jsonOf, kindOf, Mapping, textOf, toValue, type Value } from './values.ts';

const MAX_PIECES = 10_000;
const SPACE = /\s/;

const lower = onText((meter, text) => {
  meter.spendText(text.length);
  return text.toLowerCase();
});

const upper = onText((meter, text) => {
  meter.spendText(text.length);
  return text.toUpperCase();
});

const strip: Operation = {
  parameters: ['chars'],
  required: 0,
  apply: (meter, target, [chars]) => {
    if (chars === undefined || chars === null) return paidText(meter, target).trim();
    const removed = new Set(charactersOf(meter, chars));
    const characters = charactersOf(meter, target);
    const start = characters.findIndex((character) => !removed.has(character));
    const end = characters.findLastIndex((character) => !removed.has(character));
    return start === -1 ? '' : characters.slice(start, end + 1).join('');
  },
};

const replace: Operation = {
  parameters: ['old', 'new'],
  required: 2,
  apply: (meter, target, [oldValue, newValue]) => {
    const [text, old, replacement] = [textOf(target, meter), textOf(oldValue, meter), textOf(newValue, meter)];
    if (old === '') throw new Failure('cannot replace an empty string');
    const pieces = piecesOf(meter, text, old);
    meter.spendText(text.length + pieces.length * replacement.length);
    return pieces.join(replacement);
  },
};

const split: Operation = {
  parameters: ['separator', 'maxsplit'],
  required: 0,
  apply: (meter, target, [separator, maxsplit]) => {
    const text = textOf(target, meter);
    const most = maxsplit === undefined || maxsplit === null ? -1 : integerOf(maxsplit, 'maxsplit');
    if (separator === undefined || separator === null) return wordsOf(meter, text, most);
    const between = textOf(separator, meter);
    if (between === '') throw new Failure('cannot split at an empty string');
    const pieces = piecesOf(meter, text, between);
    if (most < 0 || pieces.length <= most + 1) return pieces;
    return [...pieces.slice(0, most), pieces.slice(most).join(between)];
  },
};

const startsWith: Operation = {
  parameters: ['prefix'],
  required: 1,
  apply: (meter, target, [prefix]) => textOf(target, meter).startsWith(paidText(meter, prefix)),
};

const endsWith: Operation = {
  parameters: ['suffix'],
  required: 1,
  apply: (meter, target, [suffix]) => textOf(target, meter).endsWith(paidText(meter, suffix)),
};

const byDefault: Operation = {
  parameters: ['value', 'boolean'],
  required: 0,
  takesUndefined: true,
  apply: (_, target, [value = '', boolean = false]) => {
    // Providers send null for unknown values.
    const isMissing = target === undefined || target === null || (isTrue(boolean) && !isTrue(target));
    return isMissing ? value : target;
  },
};

const first: Operation = {
  parameters: [],
  required: 0,
  apply: (meter, target) => elementsOf(meter, target)[0],
};

const last: Operation = {
  parameters: [],
  required: 0,
  apply: (meter, target) => elementsOf(meter, target).at(-1),
};

const join: Operation = {
  parameters: ['separator'],
  required: 0,
  apply: (meter, target, [separator = '']) => {
    if (!isList(target)) throw new Failure(`expects a list, not ${kindOf(target)}`);
    const between = textOf(separator, meter);
    meter.spend(target.length);
    const texts = target.map((element) => textOf(element, meter));
    meter.spendText(texts.reduce((sum, text) => sum + text.length + between.length, 0));
    return texts.join(between);
  },
};

const length: Operation = {
  parameters: [],
  required: 0,
  apply: (meter, target) => {
    if (isList(target) || target instanceof Uint8Array) return target.length;
    if (target instanceof Mapping) return target.keys().length;
    return charactersOf(meter, target).length;
  },
};

/**
 * As in Jinja: a text that is only slightly too long stays complete, and words are not cut unless `killwords` is set.
 */
const truncate: Operation = {
  parameters: ['length', 'killwords', 'end', 'leeway'],
  required: 0,
  apply: (meter, target, [lengthValue = 255, killwords = false, endValue = '...', leeway = 5]) => {
    const text = textOf(target, meter);
    const end = textOf(endValue, meter);
    const most = integerOf(lengthValue, 'length');
    const characters = charactersOf(meter, text);
    const kept = most - charactersOf(meter, end).length;
    if (kept < 0) throw new Failure('expects "length" to be at least the length of "end"');
    if (characters.length <= most + integerOf(leeway, 'leeway')) return text;
    const cut = characters.slice(0, kept).join('');
    const space = isTrue(killwords) ? -1 : cut.lastIndexOf(' ');
    return (space === -1 ? cut : cut.slice(0, space)) + end;
  },
};

const string = onText((_, text) => text);

const INTEGER = /^[+-]?[0-9]{1,16}$/;

const int: Operation = {
  parameters: ['default'],
  required: 0,
  apply: (meter, target, [otherwise]) => {
    if (typeof target === 'boolean') return target ? 1 : 0;
    const text = typeof target === 'string' || target instanceof Uint8Array ? textOf(target, meter).trim() : '';
    const value = typeof target === 'number' ? Math.trunc(target) : INTEGER.test(text) ? Number(text) : Number.NaN;
    if (Number.isSafeInteger(value)) return value;
    // Jinja returns zero, which would be the same for all users whose claim is not a number.
    if (otherwise === undefined) throw new Failure('expects an integer');
    return otherwise;
  },
};

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** RFC 4648 4 and 5, with or without padding. */
const base64Decode: Operation = {
  parameters: [],
  required: 0,
  apply: (meter, target) => {
    const text = textOf(target, meter);
    meter.spendText(text.length);
    const digits = text.replace(/=+$/, '');
    if (!BASE64.test(text) || digits.length % 4 === 1) throw new Failure('expects base64');
    return new Uint8Array(Buffer.from(digits, 'base64'));
  },
};

const base64Encode: Operation = {
  parameters: [],
  required: 0,
  apply: (meter, target) => {
    if (target instanceof Uint8Array) {
      meter.spendText(target.length);
      return Buffer.from(target).toString('base64');
    }
    return Buffer.from(paidText(meter, target)).toString('base64');
  },
};

const fromJson: Operation = {
  parameters: [],
  required: 0,
  apply: (meter, target) => {
    const text = paidText(meter, target);
    // Parsing creates one object for every few characters.
    meter.spend(Math.ceil(text.length / 2));
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw new Failure('expects JSON');
    }
    return toValue(value);
  },
};

const toJson: Operation = {
  parameters: [],
  required: 0,
  apply: (meter, target) => JSON.stringify(jsonOf(target, meter)),
};

/**
 * Decodes length-delimited Protocol Buffers fields into a map from tag to bytes. Tag and length are variable-length
 * integers. Some providers build subjects this way, encoded as base64.
 */
const tlvDecode: Operation = {
  parameters: [],
  required: 0,
  apply: (meter, target) => {
    if (!(target instanceof Uint8Array)) throw new Failure(`expects bytes, not ${kindOf(target)}`);
    meter.spend(target.length);
    const members = new Map<string | number, Value>();
    let at = 0;
    const readNumber = (): number => {
      let value = 0;
      for (let factor = 1; factor <= 2 ** 28; factor *= 128) {
        const byte = target[at];
        if (byte === undefined) break;
        at += 1;
        value += (byte & 0x7f) * factor;
        if (byte < 0x80) return value;
      }
      throw new Failure('expects tags with lengths and values');
    };
    while (at < target.length) {
      const tag = readNumber();
      const size = readNumber();
      if (at + size > target.length) throw new Failure('expects tags with lengths and values');
      members.set(tag, target.subarray(at, at + size));
      at += size;
    }
    return Mapping.ofMembers(members);
  },
};

export const FILTERS: ReadonlyMap<string, Operation> = new Map([
  ['default', byDefault],
  ['lower', lower],
  ['upper', upper],
  ['trim', strip],
  ['replace', replace],
  ['split', split],
  ['first', first],
  ['last', last],
  ['join', join],
  ['length', length],
  ['truncate', truncate],
  ['string', string],
  ['int', int],
  ['b64decode', base64Decode],
  ['b64encode', base64Encode],
  ['from_json', fromJson],
  ['tojson', toJson],
  ['tlvdecode', tlvDecode],
]);

/** Methods that existing templates use, named as in Python. */
export const METHODS: ReadonlyMap<string, Operation> = new Map([
  ['split', split],
  ['strip', strip],
  ['lower', lower],
  ['upper', upper],
  ['replace', replace],
  ['startswith', startsWith],
  ['endswith', endsWith],
]);

function onText(apply: (meter: Meter, text: string) => Value): Operation {
  return { parameters: [], required: 0, apply: (meter, target) => apply(meter, textOf(target, meter)) };
}

function paidText(meter: Meter, value: Value): string {
  const text = textOf(value, meter);
  meter.spendText(text.length);
  return text;
}

function integerOf(value: Value, name: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw new Failure(`expects an integer as "${name}", not ${kindOf(value)}`);
}

/** Splits a text into code points, without unpaired surrogates. */
function charactersOf(meter: Meter, value: Value): readonly string[] {
  const text = textOf(value, meter);
  // Pays for an array of one-character texts.
  meter.spend(Math.ceil(text.length / 4));
  return [...text];
}

function elementsOf(meter: Meter, value: Value): readonly Value[] {
  return isList(value) ? value : charactersOf(meter, value);
}

function piecesOf(meter: Meter, text: string, separator: string): readonly string[] {
  meter.spendSearch(text, separator);
  const pieces = text.split(separator, MAX_PIECES + 1);
  if (pieces.length > MAX_PIECES) throw new Failure(`produces more than ${MAX_PIECES} parts`);
  meter.spend(pieces.length);
  return pieces;
}

/** Splits at whitespace and ignores it at both ends. */
function wordsOf(meter: Meter, text: string, most: number): readonly string[] {
  meter.spend(text.length);
  const words: string[] = [];
  let rest = text.trimStart();
  while (rest !== '') {
    const end = words.length === most ? -1 : rest.search(SPACE);
    words.push(end === -1 ? rest : rest.slice(0, end));
    rest = end === -1 ? '' : rest.slice(end).trimStart();
  }
  return words;
}
