/**
 * Generates the file that `config generate` writes: every key with its description, the given values set, and all other
 * keys commented out with their defaults.
 */

import { Document, stringify, YAMLSeq } from 'yaml';
import { newId } from '#platform/base/ids.ts';
import { isObject } from '#platform/base/objects.ts';
import { randomAlphanumeric } from '#platform/base/random.ts';
import type { MappingShape, Shape } from '#platform/config/shape.ts';
import { generatePrivateKey, keyTypeAlgorithm } from '#protocol/jose/key-types.ts';
import { configShape } from '../config.ts';

const COLUMNS = 100;

/** Values by key, nested like the file. */
export type SampleValues = { readonly [key: string]: unknown };

/**
 * Returns the text of the sample file.
 * @param schemaPath path or URL of the JSON Schema for editors
 */
export function sampleConfig(values: SampleValues, schemaPath: string): string {
  const lines = [
    `# yaml-language-server: $schema=${schemaPath}`,
    '# Configuration of Latchkey. "# text" is a comment, "#key: value" is a setting with its default.',
    '# To set a key in a mapping that is commented out, uncomment the line of the mapping as well.',
    ...mappingLines(configShape(), values, ''),
  ];
  return `${lines.join('\n')}\n`;
}

function mappingLines(shape: MappingShape, values: SampleValues, indent: string): string[] {
  return [...shape.keys].flatMap(([key, keyShape]) => {
    // `_file` twins would double the size of the file.
    if (keyShape.hints.fileOf !== undefined) return [];
    const blank = indent === '' ? [''] : [];
    return [...blank, ...commentLines(keyShape, indent), ...settingLines(key, keyShape, values[key], indent)];
  });
}

function settingLines(key: string, shape: Shape, value: unknown, indent: string): string[] {
  if (shape.kind === 'mapping') {
    const head = `${indent}${value === undefined ? '#' : ''}${key}:`;
    return [head, ...mappingLines(shape, isObject(value) ? value : {}, `${indent}  `)];
  }
  if (value === undefined) return [`${indent}#${key}: ${defaultText(shape)}`.trimEnd()];
  const text = stringify({ [key]: value }, { lineWidth: 0 }).trimEnd();
  return text.split('\n').map((line) => `${indent}${line}`);
}

function defaultText({ defaultValue }: Shape): string {
  if (defaultValue === undefined) return '';
  return stringify(defaultValue, { collectionStyle: 'flow', lineWidth: 0 }).trim();
}

function commentLines({ description, hints, defaultValue }: Shape, indent: string): string[] {
  const isDerived = hints.defaultText !== undefined && defaultValue === undefined;
  const words = `${description ?? ''}${isDerived ? ` Default: ${hints.defaultText}.` : ''}`.split(' ');
  const lines: string[] = [];
  for (const word of words.filter((part) => part !== '')) {
    const last = lines.at(-1);
    if (last === undefined || indent.length + last.length + word.length + 1 > COLUMNS) lines.push(`# ${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.map((line) => indent + line);
}

const EXAMPLE_URI = 'https://app.example.org/callback';

/**
 * Returns the output of `config generate --client`: an entry for a confidential client.
 * @param now milliseconds since the epoch
 */
export function sampleClient(now: number, redirectUris: readonly string[]): string {
  const entry = {
    client_id: newId<'client'>(now),
    client_auth_method: 'client_secret_basic',
    client_secret: randomAlphanumeric(43),
    client_name: 'My application',
    redirect_uris: redirectUris.length === 0 ? [EXAMPLE_URI] : redirectUris,
  };
  const [first = '', ...others] = stringify(entry, { lineWidth: 0 }).trimEnd().split('\n');
  return [
    '# Add this to the configuration file. If it already has "clients:", paste only the lines below that.',
    '# Configure client_id, client_secret and the issuer in the application. For public clients (in a browser or on a',
    '# phone), set client_auth_method: none and remove client_secret. redirect_uris must match exactly.',
    'clients:',
    `  - ${first}`,
    ...others.map((line) => `    ${line}`),
    '',
  ].join('\n');
}

const UNCOMMON = ': remove it if an application cannot read the key set, since some do not support secp256k1';

/**
 * Generates entries of `secrets.keys`, in order of signing preference: RSA, P-256, P-384, Ed25519, secp256k1. Every key
 * is published. Some libraries reject a key set with an unknown curve, so the secp256k1 entry has a comment.
 */
export async function sampleKeys(): Promise<YAMLSeq> {
  const types = ['rsa2048', 'p256', 'p384', 'ed25519', 'k256'] as const;
  const keys = await Promise.all(types.map(generatePrivateKey));
  const list = new YAMLSeq();
  for (const [index, type] of types.entries()) {
    const entry = new Document({ key: keys[index] }).contents;
    if (entry === null) continue;
    entry.commentBefore = ` ${keyTypeAlgorithm(type)}${type === 'k256' ? UNCOMMON : ''}`;
    list.add(entry);
  }
  return list;
}
