/** Examples for the API description, generated from the existing schemas. */
import type { z } from 'zod';

export type JsonSchema = z.core.JSONSchema.JSONSchema;

const ID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const TIME = '2026-01-31T12:00:00.000000Z';
const FUTURE = '2036-01-31T12:00:00.000000Z';
const ADDRESS = 'https://chat.example/';

/** Values for members whose schema says only that they are strings. */
const TEXTS: Readonly<Record<string, string>> = {
  access_token: 'mpt_ExampleOfAToken',
  avatar_url: 'mxc://chat.example/MarenOfTheHarbour',
  client_name: 'Harbour Chat',
  cursor: ID,
  device_id: 'ABCDEFGHIJ',
  displayname: 'Maren of the Harbour',
  email: 'maren@mail.example',
  grant_types: 'authorization_code',
  id: ID,
  issuer: 'https://login.example/',
  last_active_ip: '192.0.2.7',
  password: 'seven purple walruses sing quietly',
  scope: 'openid',
  server_name: 'chat.example',
  user_agent: 'Mozilla/5.0',
  username: 'maren',
  version: '1.0.0',
};

/**
 * Returns an example value of a schema.
 * @param path of the operation, for links
 * @param name of the member that has the schema
 */
export function exampleOf(schema: JsonSchema, path: string, name = ''): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const choice = schema.anyOf?.find(({ type }) => type !== 'null');
  if (choice !== undefined) return exampleOf(choice, path, name);
  if (schema.type === 'object') return exampleObject(schema, path);
  if (schema.type === 'array') {
    return typeof schema.items === 'object' && !Array.isArray(schema.items)
      ? [exampleOf(schema.items, path, name)]
      : [];
  }
  if (schema.type === 'integer' || schema.type === 'number') return Math.max(1, schema.minimum ?? 1);
  if (schema.type === 'boolean') return schema.default === true;
  return schema.type === 'string' ? exampleText(schema, path, name) : null;
}

function exampleObject({ properties = {} }: JsonSchema, path: string): object {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, inner]) =>
      typeof inner === 'object' ? [[name, exampleOf(inner, path, name)]] : [],
    ),
  );
}

function exampleText({ format, pattern, minLength = 0 }: JsonSchema, path: string, name: string): string {
  if (format === 'date-time') return name === 'expires_at' ? FUTURE : TIME;
  const known = TEXTS[name];
  if (known !== undefined) return known;
  if (name.endsWith('_id') || pattern?.includes('HJKMNP') === true) return ID;
  if (name.endsWith('_uri') || name.endsWith('_uris')) return ADDRESS;
  if (['self', 'first', 'last', 'next', 'prev'].includes(name)) return path.replace('{id}', ID);
  return minLength > 4 ? 'x'.repeat(minLength) : 'text';
}
